//! Refuses to build a host around a stale component: the sources that are present must be those that it was made from. Where
//! they are not present (a packaged host), the component is taken as it is.

use std::env;
use std::path::PathBuf;

// The tool that builds the component includes the same file, so that both compute one digest.
#[path = "../../component/sources.rs"]
mod sources;

fn main() {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let root = here.join("../..");
    if !sources::are_present(&root) {
        println!("cargo::rerun-if-changed=build.rs");
        return;
    }
    for part in sources::WATCHED {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
    }
    match sources::staleness(&root) {
        Ok(None) => {}
        Ok(Some(stale)) => println!("cargo::error={stale}"),
        Err(fault) => println!("cargo::error=whether the component is stale could not be found out: {fault}"),
    }
}
