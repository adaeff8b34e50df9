//! What wasmtime makes of the world in `wit/`. Nothing else lives here.

#![allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "component",
});
