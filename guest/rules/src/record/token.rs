//! Tokens: 32 bytes that are only ever compared. Knows nothing of what they name; `keys::name` of `leasehold-decision` packs texts into them.
//! Tests: below.

/// 32 bytes that are only ever compared: an owner, a fingerprint, a digest, or a packed name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Token([u64; 4]);

impl Token {
    /// From four big-endian words.
    #[must_use]
    pub const fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// The four big-endian words.
    #[must_use]
    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// From 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut words = [0u64; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = chunk.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte));
        }
        Self(words)
    }

    /// From 64 lowercase hex digits; anything else is no token.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut words = [0u64; 4];
        for (word, chunk) in words.iter_mut().zip(digits.chunks_exact(16)) {
            for digit in chunk {
                let value = match digit {
                    b'0'..=b'9' => digit.wrapping_sub(b'0'),
                    b'a'..=b'f' => digit.wrapping_sub(b'a').wrapping_add(10),
                    _ => return None,
                };
                *word = (*word << 4) | u64::from(value);
            }
        }
        Some(Self(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_64_lowercase_hex_digits() {
        let hex = "00112233445566778899aabbccddeeff0123456789abcdef0f1e2d3c4b5a6978";
        let token = Token::from_hex(hex).unwrap();
        assert_eq!(token.words(), [0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff, 0x0123_4567_89ab_cdef, 0x0f1e_2d3c_4b5a_6978]);
        assert_eq!(Token::from_hex(&hex.to_uppercase()), None);
        assert_eq!(Token::from_hex(&hex[1..]), None);
        assert_eq!(Token::from_hex(&hex.replace('0', "é")), None);
        let mut bytes = [0u8; 32];
        bytes[7] = 1;
        bytes[31] = 2;
        assert_eq!(Token::from_bytes(bytes).words(), [1, 0, 0, 2]);
    }

    #[test]
    fn one_bit_anywhere_makes_another_token() {
        let token = Token::from_words([1, 2, 3, 4]);
        assert_eq!(token, Token::from_words([1, 2, 3, 4]));
        for (word, bit) in (0..4).flat_map(|word| (0..64).map(move |bit| (word, bit))) {
            let mut words = token.words();
            words[word] ^= 1 << bit;
            assert_ne!(token, Token::from_words(words));
        }
    }
}
