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
    let named = encode().map_err(|fault| EncodeFault::Malformed(format!("{fault:#}")))?;
    let component =
        without_names(&named).ok_or_else(|| EncodeFault::Malformed("its sections do not end where they say".to_owned()))?;
    let imports = imports(&component)?;
    if imports.is_empty() { Ok(component) } else { Err(EncodeFault::Imports(imports.join(", "))) }
}

/// Leaves out the section that names a component's parts for debuggers: 2 % of the size, and nothing runs differently. `None`: the
/// sections do not end where they say.
fn without_names(component: &[u8]) -> Option<Vec<u8>> {
    const CUSTOM: u8 = 0;
    let (head, mut rest) = component.split_at_checked(8)?;
    let mut kept = head.to_vec();
    while let Some((id, sized)) = rest.split_first() {
        let (size, behind) = leb128(sized)?;
        let (body, next) = behind.split_at_checked(size)?;
        let is_named = |(length, name): (usize, &[u8])| name.get(..length) == Some(b"component-name");
        if *id != CUSTOM || !leb128(body).is_some_and(is_named) {
            kept.extend_from_slice(rest.strip_suffix(next)?);
        }
        rest = next;
    }
    Some(kept)
}

/// An unsigned number as WebAssembly writes it (LEB128), and what stands behind it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let (number, behind) = bytes.split_at_checked(end + 1)?;
    let mut digits = number.iter().rev();
    let value = digits.try_fold(0usize, |value, byte| value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f)))?;
    Some((value, behind))
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
    fn only_the_names_of_parts_are_left_out() {
        let head = b"\0asm\x0d\0\x01\0";
        let (names, other) = (b"\0\x10\x0ecomponent-name\x07", b"\0\x06\x05other");
        let whole = [&head[..], other, names, other].concat();
        assert_eq!(without_names(&whole), Some([&head[..], other, other].concat()));
        assert_eq!(without_names(&whole[..whole.len() - 1]), None);
        assert_eq!(leb128(b"\xe5\x8e\x26!"), Some((624_485, &b"!"[..])));
    }

    #[test]
    fn the_limit_is_inclusive() {
        assert!(check_size(&vec![0; COMPONENT_BYTES_MAX]).is_ok());
        assert!(matches!(check_size(&vec![0; COMPONENT_BYTES_MAX + 1]), Err(EncodeFault::TooLarge { bytes: 163_841 })));
    }
}
