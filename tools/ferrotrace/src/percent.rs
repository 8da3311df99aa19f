// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parts of a time. All texts, screens and pages round them in the same way.

/// Returns a part of a whole in units of `1 / scale`, rounded to the nearest: 100 is percent, 1000
/// has one digit more. Returns 0 if the whole is 0.
pub fn rounded(part: u64, whole: u64, scale: u64) -> u128 {
    let whole = u128::from(whole.max(1));
    (u128::from(part) * u128::from(scale) + whole / 2) / whole
}

/// Returns a part of a whole in percent, with one digit after the point.
pub fn text(part: u64, whole: u64) -> String {
    let per_mille = rounded(part, whole, 1000);
    format!("{}.{}", per_mille / 10, per_mille % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_rounded() {
        for (part, whole, percent) in [
            (0, 0, "0.0"),
            (1, 3, "33.3"),
            (2, 3, "66.7"),
            (1, 2000, "0.1"),
            (1, 2001, "0.0"),
            (9995, 10_000, "100.0"),
            (u64::MAX, u64::MAX, "100.0"),
        ] {
            assert_eq!(text(part, whole), percent, "{part} of {whole}");
        }
        assert_eq!(rounded(1, 200, 100), 1);
        assert_eq!(rounded(u64::MAX, 1, 1000), u128::from(u64::MAX) * 1000);
    }
}
