//! A core module to a component, and what a component of this workspace must keep to: it imports nothing, and it is small.
//!
//! Tests: below, on modules that break a rule.

use wit_component::{ComponentEncoder, DecodedWasm};

/// Largest component that is accepted.
pub const COMPONENT_BYTES_MAX: usize = 160 * 1024;

/// A module that makes no component, or one that is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum EncodeFault {
    /// It cannot be made a component, or read as one.
    #[error("the module makes no component: {0}")]
    Malformed(String),
    /// Somebody would have to provide something.
    #[error("the component imports {0}; a decision needs nothing from outside, so find out what pulled that in")]
    Imports(String),
    /// Hosts carry it, so it stays small.
    #[error("the component has {bytes} bytes, and at most {COMPONENT_BYTES_MAX} are allowed")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
}

/// Makes a module a component.
///
/// # Errors
/// The module does not fit the world that it says it implements, or it imports something.
pub fn component(module: &[u8]) -> Result<Vec<u8>, EncodeFault> {
    let encode = || ComponentEncoder::default().validate(true).module(module)?.encode();
    let component = encode().map_err(|fault| EncodeFault::Malformed(format!("{fault:#}")))?;
    let imports = imports(&component)?;
    if imports.is_empty() { Ok(component) } else { Err(EncodeFault::Imports(imports.join(", "))) }
}

/// Refuses a component that is larger than [`COMPONENT_BYTES_MAX`].
///
/// # Errors
/// It is.
pub fn check_size(component: &[u8]) -> Result<(), EncodeFault> {
    let bytes = component.len();
    if bytes > COMPONENT_BYTES_MAX { Err(EncodeFault::TooLarge { bytes }) } else { Ok(()) }
}

/// What a component imports, by name.
///
/// # Errors
/// It is no component.
pub fn imports(component: &[u8]) -> Result<Vec<String>, EncodeFault> {
    match wit_component::decode(component).map_err(|fault| EncodeFault::Malformed(format!("{fault:#}")))? {
        DecodedWasm::WitPackage(..) => Err(EncodeFault::Malformed("it is a package of interfaces".to_owned())),
        DecodedWasm::Component(resolve, world) => {
            let imports = resolve.worlds.get(world).into_iter().flat_map(|world| world.imports.keys());
            Ok(imports.map(|name| resolve.name_world_key(name)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_refused() {
        let fault = component(b"no wasm at all").unwrap_err();
        assert!(matches!(fault, EncodeFault::Malformed(_)), "{fault}");
    }

    #[test]
    fn an_import_is_found_by_its_name() {
        // A component with one type, an instance that exports nothing, and one import of that type.
        let bytes = b"\0asm\x0d\0\x01\0\x07\x03\x01\x42\0\x0a\x0a\x01\0\x05a:b/c\x05\0";
        assert_eq!(imports(bytes).unwrap(), ["a:b/c"]);
    }

    #[test]
    fn the_limit_is_inclusive() {
        assert!(check_size(&vec![0; COMPONENT_BYTES_MAX]).is_ok());
        assert!(matches!(check_size(&vec![0; COMPONENT_BYTES_MAX + 1]), Err(EncodeFault::TooLarge { bytes: 163_841 })));
    }
}
