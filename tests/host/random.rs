// SPDX-License-Identifier: GPL-2.0

//! Pseudo-random numbers. Each run uses the same ones.

/// A xorshift64 generator.
pub(crate) struct Random(u64);

impl Random {
    /// Starts a series. The seed must not be 0.
    pub(crate) fn new(seed: u64) -> Self {
        assert_ne!(seed, 0);
        Self(seed)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % limit as u64) as usize
    }

    /// Returns up to `max` bytes of an alphabet.
    pub(crate) fn text(&mut self, alphabet: &[u8], max: usize) -> Vec<u8> {
        let len = self.below(max + 1);
        (0..len)
            .map(|_| alphabet[self.below(alphabet.len())])
            .collect()
    }
}

/// Returns all texts of up to `max` bytes of an alphabet, shorter ones first.
pub(crate) fn all_texts(alphabet: &[u8], max: usize) -> Vec<Vec<u8>> {
    let mut texts = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..max {
        let to = texts.len();
        for i in from..to {
            for byte in alphabet {
                let mut text = texts[i].clone();
                text.push(*byte);
                texts.push(text);
            }
        }
        from = to;
    }
    texts
}
