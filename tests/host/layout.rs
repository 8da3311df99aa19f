// SPDX-License-Identifier: GPL-2.0

//! The positions of the fields of a record, and the truncation of fields.

use crate::event::layout::{
    DynSize,
    Layout,
    MAX_RECORD, //
};

fn array(len: usize, piece: usize) -> DynSize {
    DynSize {
        len,
        piece,
        never_empty: false,
    }
}

fn string(len: usize) -> DynSize {
    DynSize {
        len,
        piece: 1,
        never_empty: true,
    }
}

/// Returns offsets and lengths of the fields, and the size of the record, for a fixed part of
/// `WORDS` words.
fn laid_out<const WORDS: usize>(sizes: &[DynSize]) -> (Vec<(usize, usize)>, usize) {
    assert!(sizes.len() <= WORDS);
    let mut layout = Layout::new::<[u32; WORDS]>();
    let spans = sizes.iter().map(|size| {
        let span = layout.add(*size);
        (span.offset(), span.size())
    });
    let spans = spans.collect();
    (spans, layout.size())
}

#[test]
fn fields_with_room_get_their_size() {
    let sizes = [array(0, 8), string(6), array(16, 8), array(3, 1)];
    let (spans, size) = laid_out::<4>(&sizes);
    assert_eq!(spans, [(16, 0), (16, 6), (22, 16), (38, 3)]);
    assert_eq!(size, 41);
}

#[test]
fn arrays_are_cut_off_between_elements() {
    for (len, left) in [
        (0, 32),
        (1, 24),
        (7, 24),
        (8, 24),
        (9, 16),
        (31, 0),
        (32, 0),
    ] {
        // Leave 32 bytes, besides the four that are reserved for the strings.
        let filled = MAX_RECORD - 16 - 4 - 32;
        let sizes = [string(filled), array(len, 1), array(4000, 8)];
        let (spans, size) = laid_out::<4>(&sizes);
        assert_eq!(spans[1].1, len);
        assert_eq!(spans[2].1, left, "{len}");
        assert_eq!(size, 16 + filled + len + left);
    }
}

#[test]
fn a_string_has_a_byte_even_where_there_is_no_room() {
    let sizes = [
        array(5000, 1),
        string(8),
        array(8, 8),
        string(1),
        array(0, 1),
        string(5000),
    ];
    let (spans, size) = laid_out::<6>(&sizes);
    let end = MAX_RECORD - 6;
    assert_eq!(
        spans,
        [
            (24, end - 24),
            (end, 1),
            (end + 1, 0),
            (end + 1, 1),
            (end + 2, 0),
            (end + 2, 1)
        ]
    );
    assert_eq!(size, end + 3);
}

#[test]
fn no_record_is_longer_than_records_may_be() {
    // The longest possible fixed part, with strings only.
    const WORDS: usize = 768;
    let (spans, size) = laid_out::<WORDS>(&[string(9); WORDS]);
    assert!(spans.iter().all(|(_, len)| *len >= 1));
    assert_eq!(size, MAX_RECORD);
    for first in 3700..3900 {
        let (_, size) = laid_out::<4>(&[string(first), string(99), array(99, 4), string(1)]);
        assert!(size <= MAX_RECORD);
    }
}
