//! A public key in DER (SubjectPublicKeyInfo, RFC 5280, 4.1.2.7): which kind it is, so that its algorithms are pinned.
//!
//! Knows no files and no tokens. Tests: below, and `tests/tests/principal.rs`.

/// What is known of a key from its DER.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spki<'a> {
    /// PKCS #1 of the key, and the size of its modulus in bits.
    Rsa { pkcs_1: &'a [u8], bits: usize },
    /// A point on P-256.
    P256(&'a [u8]),
    /// A point on P-384.
    P384(&'a [u8]),
    /// The 32 bytes of a key.
    Ed25519(&'a [u8]),
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

// The contents of AlgorithmIdentifier, which are the same in every key of a kind.
const RSA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
const P256: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const P384: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22";
const ED25519: &[u8] = b"\x06\x03\x2b\x65\x70";

/// `None` where it is no key, or of another kind.
pub(super) fn read(der: &[u8]) -> Option<Spki<'_>> {
    let (spki, []) = element(SEQUENCE, der)? else { return None };
    let (algorithm, rest) = element(SEQUENCE, spki)?;
    let (bits, []) = element(BIT_STRING, rest)? else { return None };
    let [0, key @ ..] = bits else { return None };
    match algorithm {
        RSA => {
            let (numbers, []) = element(SEQUENCE, key)? else { return None };
            let (modulus, _) = element(INTEGER, numbers)?;
            Some(Spki::Rsa { pkcs_1: key, bits: bits_of(modulus) })
        }
        P256 if key.len() == 65 => Some(Spki::P256(key)),
        P384 if key.len() == 97 => Some(Spki::P384(key)),
        ED25519 if key.len() == 32 => Some(Spki::Ed25519(key)),
        _ => None,
    }
}

/// The size of an unsigned number in big-endian bytes.
pub(super) fn bits_of(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let significant = number.get(zeros..).unwrap_or_default();
    let leading = significant.first().map_or(0, |byte| byte.leading_zeros() as usize);
    significant.len().saturating_mul(8).saturating_sub(leading)
}

/// The content of an element with this tag, and what follows it.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    if *found != tag {
        return None;
    }
    let (length, rest) = match rest.split_first()? {
        (short @ 0..=0x7f, rest) => (usize::from(*short), rest),
        (0x81, rest) => rest.split_first().map(|(length, rest)| (usize::from(*length), rest))?,
        (0x82, rest) => rest.split_first_chunk().map(|(length, rest)| (usize::from(u16::from_be_bytes(*length)), rest))?,
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ed25519() -> Vec<u8> {
        [b"\x30\x2a\x30\x05".as_slice(), ED25519, b"\x03\x21\x00", &[7; 32]].concat()
    }

    #[test]
    fn a_key_is_known_by_its_kind() {
        assert_eq!(read(&ed25519()), Some(Spki::Ed25519(&[7; 32])));
    }

    #[test]
    fn no_bytes_are_too_odd() {
        let der = ed25519();
        for end in 0..der.len() {
            assert_eq!(read(&der[..end]), None, "{end}");
        }
        for at in 0..12 {
            let mut other = der.clone();
            other[at] ^= 0xff;
            assert_eq!(read(&other), None, "{at}");
        }
        assert_eq!(read(&[der.as_slice(), b"\0"].concat()), None);
        assert_eq!(read(b"\x30\x84\xff\xff\xff\xff"), None);
    }

    #[test]
    fn numbers_have_a_size() {
        let check = |number: &[u8], bits| assert_eq!(bits_of(number), bits);
        check(b"", 0);
        check(b"\0\0", 0);
        check(b"\x01", 1);
        check(b"\0\x80\0", 16);
        check(&[0xff; 256], 2_048);
    }
}
