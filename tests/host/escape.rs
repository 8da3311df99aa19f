// SPDX-License-Identifier: GPL-2.0

//! Escaped task names.

use crate::escapes::{
    Escaped,
    MAX_NAME, //
};

fn plain(name: &str) -> String {
    String::from_utf8(Escaped::new(name.as_bytes()).as_bytes().to_vec()).unwrap()
}

fn comment(name: &str) -> String {
    String::from_utf8(Escaped::in_comment(name.as_bytes()).as_bytes().to_vec()).unwrap()
}

#[test]
fn names_are_escaped_as_in_status() {
    assert_eq!(plain("kworker/0:1"), "kworker/0:1");
    assert_eq!(plain("q\n1 9.9 run"), "q\\n1 9.9 run");
    assert_eq!(plain("a\\nb\t\"x"), "a\\\\nb\t\"x");
    assert_eq!(plain("x-1/hardirq */"), "x-1/hardirq */");
    assert_eq!(plain(""), "");
}

#[test]
fn a_name_does_not_end_a_comment() {
    assert_eq!(comment("x-1/hardirq */"), "x-1/hardirq *\\/");
    assert_eq!(comment("*/*/"), "*\\/*\\/");
    assert_eq!(comment("a/b*c"), "a/b*c");
    // A `/` at the beginning is not escaped, and an escape does not cause another one.
    assert_eq!(comment("/"), "/");
    assert_eq!(comment("*\\/"), "*\\\\/");
}

/// Texts are unique, contain no newline and no comment end, and have the maximum length at most.
#[test]
fn texts_are_unambiguous() {
    const BYTES: &[u8] = b"*/\\n\n";
    let mut seen = std::collections::HashMap::new();
    for len in 0..=6u32 {
        for number in 0..5usize.pow(len) {
            let name: Vec<u8> = (0..len)
                .map(|n| BYTES[number / 5usize.pow(n) % 5])
                .collect();
            let text = Escaped::in_comment(&name).as_bytes().to_vec();
            assert!(!text.contains(&b'\n'), "{name:?}");
            assert!(!text.windows(2).any(|two| two == b"*/"), "{name:?}");
            if let Some(other) = seen.insert(text, name.clone()) {
                panic!("{name:?} and {other:?}");
            }
        }
    }
    for byte in [b'\n', b'\\'] {
        assert_eq!(Escaped::new(&[byte; 40]).as_bytes().len(), 2 * MAX_NAME);
    }
}

#[test]
fn no_prefix_ends_within_an_escape() {
    let escaped = Escaped::new(b"abcdef\ng\\");
    assert_eq!(escaped.prefix(5), b"abcde");
    assert_eq!(escaped.prefix(7), b"abcdef");
    assert_eq!(escaped.prefix(8), b"abcdef\\n");
    assert_eq!(escaped.prefix(10), b"abcdef\\ng");
    assert_eq!(escaped.prefix(99), b"abcdef\\ng\\\\");
}
