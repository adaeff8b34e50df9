//! Replaces the body of an exported function, in place: the component's size and types stay what they are.

/// A position in the bytes of a component.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    /// LEB128.
    fn number(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }

    fn text(&mut self) -> String {
        let length = self.number();
        self.at += length;
        String::from_utf8(self.bytes[self.at - length..self.at].to_vec()).unwrap()
    }

    /// Where the content of the section with that id begins, up to `end`.
    fn section(&mut self, id: u8, end: usize) -> Option<usize> {
        while self.at < end {
            let found = self.byte();
            let length = self.number();
            if found == id {
                return Some(self.at);
            }
            self.at += length;
        }
        None
    }
}

const MODULE_HEADER_BYTES: usize = 8;
const MODULE: u8 = 1;
const IMPORTS: u8 = 2;
const EXPORTS: u8 = 7;
const CODE: u8 = 10;
const NOP: u8 = 0x01;
const END: u8 = 0x0b;

/// The component with another body for the function that its first module exports under that name. The module imports nothing.
pub fn with_body(component: &[u8], export: &str, body: &[u8]) -> Vec<u8> {
    let end = component.len();
    let reader = |at| Reader { bytes: component, at };
    let module = reader(MODULE_HEADER_BYTES).section(MODULE, end).expect("a module") + MODULE_HEADER_BYTES;
    assert_eq!(
        reader(module).section(IMPORTS, reader(module).section(EXPORTS, end).unwrap()),
        None,
        "functions are counted from 0"
    );

    let mut exports = reader(reader(module).section(EXPORTS, end).expect("exports"));
    let function = (0..exports.number())
        .find_map(|_| {
            let (name, kind, index) = (exports.text(), exports.byte(), exports.number());
            (name == export && kind == 0).then_some(index)
        })
        .unwrap_or_else(|| panic!("{export} is not exported"));

    let mut code = reader(reader(module).section(CODE, end).expect("code"));
    assert!(code.number() > function);
    for _ in 0..function {
        let length = code.number();
        code.at += length;
    }
    let length = code.number();
    let last = code.at + length - 1;
    for _ in 0..code.number() {
        code.number();
        code.byte();
    }
    let mut patched = component.to_vec();
    patched[code.at..last].fill(NOP);
    patched[code.at..code.at + body.len()].copy_from_slice(body);
    assert_eq!((code.at + body.len() <= last, patched[last]), (true, END));
    patched
}
