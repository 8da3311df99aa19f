// SPDX-License-Identifier: GPL-2.0

//! Host tests of the format of markers.

use crate::{
    marker_text::{
        MarkerKind,
        MarkerText, //
    },
    random::Random,
};

/// Checks what a text means.
fn check(text: &str, kind: MarkerKind, name: &str) {
    let found = MarkerText::parse(text.as_bytes());
    assert_eq!(found.kind, kind, "{text}");
    assert_eq!(found.name, name.as_bytes(), "{text}");
}

#[test]
fn sections() {
    check("B|12|load", MarkerKind::Begin, "load");
    check("B|12|", MarkerKind::Begin, "");
    check("B|12|a|b c", MarkerKind::Begin, "a|b c");
    for end in ["E", "E|", "E|12", "E|12|load", "E||"] {
        check(end, MarkerKind::End, "");
    }
    check("S|12|load|7", MarkerKind::AsyncBegin(7), "load");
    check("S|12|a|b|-7", MarkerKind::AsyncBegin(-7), "a|b");
    check("F|12|load| 7", MarkerKind::AsyncEnd(7), "load");
}

#[test]
fn others() {
    check("C|12|fps|60", MarkerKind::Counter(60), "fps");
    check(
        "C|1|x|-9223372036854775808",
        MarkerKind::Counter(i64::MIN),
        "x",
    );
    check("I|12|now", MarkerKind::Text, "now");
    for text in [
        "",
        "B",
        "B|",
        "B|12",
        "B||load",
        "B|x|load",
        "B|-1|load",
        "b|12|load",
        "End",
        "E12",
        "E|x",
        "E|12x",
        "S|12|load",
        "S|12|load|",
        "S|12|load|x",
        "S|12|load|7x",
        "F|12|7",
        "C|12|fps|1.5",
        "C|1|x|9223372036854775808",
        "I|12",
        "G|12|track|load|7",
        "hello B|12|load",
    ] {
        check(text, MarkerKind::Text, text);
    }
}

#[test]
fn any_bytes() {
    let mut random = Random::new(7);
    for _ in 0..100_000 {
        let count = random.below(12);
        let text: Vec<u8> = (0..count)
            .map(|_| b"BESFCI|19-x \xff"[random.below(13)])
            .collect();
        let found = MarkerText::parse(&text);
        // A name is a part of the text, and is all of it unless the text has a meaning.
        assert!(found.name.is_empty() || text.windows(found.name.len()).any(|w| w == found.name));
        if !text.contains(&b'|') && text != b"E" {
            assert_eq!((found.kind, found.name), (MarkerKind::Text, &*text));
        }
    }
}
