// SPDX-License-Identifier: GPL-2.0

//! The libtraceevent plugin: which items of a pack in a file are shown, and how.

use core::fmt::{
    self,
    Write, //
};

#[path = "../../tools/traceevent/columns.rs"]
mod columns;
#[path = "../../tools/traceevent/pack.rs"]
mod pack;
#[path = "../../tools/traceevent/text.rs"]
mod text;

use crate::{
    random::Random,
    words as word, //
};
use columns::{
    Columns,
    Text as Line128, //
};
use pack::{
    lines,
    Last,
    Layout,
    Line,
    Numbers,
    Pack, //
};
use word::{
    DecodedItem,
    Item,
    PackedCall,
    FUNC, //
};

const BASE: usize = 0xffff_ffff_8100_0000;

const LAYOUT: Layout = Layout {
    flags: 2,
    preempt_count: 3,
    start: 8,
    repeats: 9,
    taken: 10,
    site_shift: 11,
    serial: 12,
    mult: 16,
    text: 20,
};

/// The other byte order than that of this machine.
struct Swapped;

impl Numbers for Swapped {
    fn u32(&self, bytes: [u8; 4]) -> u32 {
        u32::from_ne_bytes(bytes).swap_bytes()
    }

    fn u64(&self, bytes: [u8; 8]) -> u64 {
        u64::from_ne_bytes(bytes).swap_bytes()
    }
}

/// Returns the bytes of a pack with these words, `repeats` and `taken`.
fn bytes(serial: u32, (repeats, taken): (u8, u8), words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0x14, 0x21, 0, 0, 0, 0, 24, repeats, taken, 2];
    for number in [serial, 2 << word::MULT_SHIFT, (BASE >> 16) as u32] {
        bytes.extend(number.swap_bytes().to_ne_bytes());
    }
    for word in words {
        bytes.extend(word.swap_bytes().to_ne_bytes());
    }
    bytes
}

fn pack(bytes: &[u8]) -> Option<Pack> {
    Pack::new(bytes, &LAYOUT, &Swapped)
}

/// Returns the word of a function; the call site is in units of four bytes.
fn function(offset: usize, site: u64) -> u64 {
    word::function(FUNC.near(BASE, BASE + offset).unwrap(), site, 1).unwrap()
}

#[test]
fn a_pack() {
    let bytes = bytes(7, (0, 0), &[function(0x40, 0x100), 0, 0]);
    let said = DecodedItem {
        item: Item::Function {
            ip: BASE + 0x40,
            parent_ip: BASE + 0x400,
        },
        time: 1002,
        flags: 0x14,
        preempt_count: 0x21,
    };
    assert!(pack(&bytes).unwrap().items(1000).eq([said]));
}

#[test]
fn what_is_cut_off() {
    let bytes = bytes(7, (0, 0), &[function(0x40, 0x100), function(0x44, 0x100)]);
    for len in 0..=bytes.len() {
        let nr = pack(&bytes[..len]).map(|pack| pack.items(0).count());
        let whole = (len >= 24).then(|| (len - 24) / 8);
        assert_eq!(nr, whole, "of {len} bytes");
    }
    // The words begin after the end.
    let mut bytes = bytes;
    bytes[LAYOUT.start] = 255;
    assert!(pack(&bytes).is_none());
}

#[test]
fn what_was_shown_before() {
    let last = Last::new();
    let mut serial = 9;
    let mut skip = |cpu, next, repeats, taken, nr| {
        serial = if next { serial + 1 } else { serial + 2 };
        let pack = pack(&bytes(serial, (repeats, taken), &[0])).unwrap();
        last.skip(cpu, &pack, nr)
    };
    assert_eq!(skip(1, true, 0, 0, 5), 0);
    // Its first item is the fifth of the previous pack, which was shown.
    assert_eq!(skip(1, true, 5, 0, 3), 1);
    // The fourth item of the previous pack does not exist.
    assert_eq!(skip(1, true, 4, 0, 3), 0);
    // The previous pack is missing, or belongs to another CPU.
    assert_eq!(skip(1, false, 1, 0, 3), 0);
    assert_eq!(skip(2, true, 1, 0, 3), 0);
    // A reader has consumed some of the items.
    assert_eq!(skip(2, true, 0, 2, 4), 2);
    assert_eq!(skip(2, true, 4, 2, 4), 2);
    // CPU numbers that no machine has.
    assert_eq!(skip(1 << 20, true, 0, 1, 4), 1);
}

struct Table;

impl text::Names for Table {
    fn write_name(&self, out: &mut dyn Write, address: usize) -> fmt::Result {
        write!(out, "f{}", address.wrapping_sub(BASE))
    }
}

fn call(func: usize, depth: i32, ns: u64) -> PackedCall {
    PackedCall {
        func: BASE + func,
        depth,
        ns,
    }
}

fn texts(items: &[Item]) -> Vec<String> {
    let said = |&item| DecodedItem {
        item,
        time: 0,
        flags: 0,
        preempt_count: 0,
    };
    let text = |line: Line| {
        let mut out = String::new();
        text::write_line(&mut out, &Table, &line).unwrap();
        out
    };
    lines(items.iter().map(said)).map(text).collect()
}

#[test]
fn functions() {
    let item = Item::Function {
        ip: BASE + 4,
        parent_ip: BASE + 8,
    };
    assert_eq!(texts(&[item]), ["f4 <-- f8"]);
}

#[test]
fn calls() {
    let shown = texts(&[
        Item::Begin(call(4, 0, 10)),
        Item::Leaf(call(8, 1, 1234)),
        Item::Begin(call(12, 1, 10)),
        Item::Return(call(12, 1, 12_345)),
        Item::Return(call(4, 0, 123_456)),
        Item::Begin(call(4, 0, 10)),
    ]);
    assert_eq!(
        shown,
        [
            "             |  f4() {",
            "  1.234 us   |    f8();",
            "+ 12.345 us  |    f12();",
            "! 123.456 us |  }",
            "             |  f4() {",
        ]
    );
}

#[test]
fn anything_can_be_shown() {
    // Any contents of a file are shown without a panic, which would end the program that reads it.
    let last = Last::new();
    let mut random = Random::new(5);
    let mut nr_lines = 0;
    for _ in 0..20_000 {
        let len = random.below(24 + 8 * word::MAX_WORDS + 40);
        let mut bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        if let Some(start) = bytes.get_mut(LAYOUT.start) {
            *start = 24 + random.below(16) as u8;
        }
        if let Some(taken) = bytes.get_mut(LAYOUT.taken) {
            *taken = random.below(4) as u8;
        }
        let Some(pack) = pack(&bytes) else {
            continue;
        };
        let time = random.below(1 << 62) as u64;
        let nr = pack.items(time).count();
        let skip = last.skip(random.below(8192), &pack, nr);
        for line in lines(pack.items(time).skip(skip)) {
            let mut out = String::new();
            text::write_line(&mut out, &Table, &line).unwrap();
            assert!(!out.contains('\n'));
            nr_lines += 1;
        }
    }
    assert!(nr_lines > 100_000);
}

#[test]
fn times() {
    let said = |item, time| DecodedItem {
        item,
        time,
        flags: 0,
        preempt_count: 0,
    };
    let items = [
        said(Item::Begin(call(4, 0, 900)), 2000),
        said(Item::Leaf(call(8, 1, 700)), 2500),
        said(Item::Return(call(4, 0, 2000)), 3100),
    ];
    // The line of a call has the time of its beginning, not that of its record.
    let times: Vec<_> = lines(items.into_iter()).map(|line| line.time()).collect();
    assert_eq!(times, [1100, 1800, 3100]);
}

#[test]
fn durations() {
    let shown = |ns| {
        let mut shown = texts(&[Item::Leaf(call(0, 0, ns))]);
        shown.remove(0)
    };
    assert_eq!(shown(0), "  0.000 us   |  f0();");
    assert_eq!(shown(10_000), "  10.000 us  |  f0();");
    assert_eq!(shown(1_234_567), "# 1234.567 us |  f0();");
    assert_eq!(shown(12_345_678), "* 12345.67 us |  f0();");
    assert_eq!(shown(123_456_789), "@ 123456.7 us |  f0();");
    assert_eq!(shown(1_234_567_890), "$ 1234567 us |  f0();");
    assert_eq!(shown(123_456_789_012), "$ 123456789 us |  f0();");
}

/// Returns the text in front of an item, derived from the line of its pack.
fn front(line: &str, flags: &str, time: &str, other: (&str, &str, i64)) -> Option<String> {
    let columns = Columns::new(
        line.as_bytes(),
        b"funcgraph_pack",
        flags.as_bytes(),
        time.as_bytes(),
    )?;
    let mut out: Line128<128> = Line128::new(b"");
    assert_eq!(
        columns.has_difference(),
        line.contains("(+") || line.contains(":          f")
    );
    columns.write(&mut out, other.0.as_bytes(), other.1.as_bytes(), other.2);
    Some(String::from_utf8(out.as_bytes().to_vec()).unwrap())
}

#[test]
fn columns_are_those_of_the_pack() {
    let other = ("d..2.", "38.126038", 34);
    for (line, expected) in [
        (
            "             cat-134   [001] .....    38.126004: funcgraph_pack:       ",
            "             cat-134   [001] d..2.    38.126038: ",
        ),
        // The format of `trace-cmd report -l`.
        (
            "     cat-134     1.....    38.126004: funcgraph_pack:       ",
            "     cat-134     1d..2.    38.126038: ",
        ),
        // The format of `--ts-diff`, and that of its first line.
        (
            "             cat-134   [001] .....    38.126004: (+17)    funcgraph_pack:       ",
            "             cat-134   [001] d..2.    38.126038: (+34)    ",
        ),
        (
            "             cat-134   [001] .....    38.126004:          funcgraph_pack:       ",
            "             cat-134   [001] d..2.    38.126038: (+34)    ",
        ),
        (
            "             cat-134   [001] .....    38.126004: (+12345678) funcgraph_pack:       ",
            "             cat-134   [001] d..2.    38.126038: (+34)    ",
        ),
        // Names of tasks may contain anything.
        (
            " (a) ..... 38.126004-134   [001] .....    38.126004: funcgraph_pack:       ",
            " (a) ..... 38.126004-134   [001] d..2.    38.126038: ",
        ),
    ] {
        let front = front(line, ".....", "38.126004", other);
        assert_eq!(front.as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn times_end_in_one_column() {
    let line = "cat-134 [001] .....     9.999999: funcgraph_pack: ";
    let front = front(line, ".....", "9.999999", (".....", "10.000001", 0));
    assert_eq!(front.as_deref(), Some("cat-134 [001] .....    10.000001: "));
}

#[test]
fn a_line_of_another_form_is_not_taken_apart() {
    let other = (".....", "1.000001", 0);
    // The time is missing, differs, or is longer.
    assert_eq!(front("", ".....", "1.000000", other), None);
    let line = "cat-134 [001] ..... 11.000000: funcgraph_pack: ";
    assert_eq!(front(line, ".....", "1.000000", other), None);
    assert_eq!(front(line, "", "11.000000", other), None);
    assert_eq!(front(line, "d....", "11.000000", other), None);
}
