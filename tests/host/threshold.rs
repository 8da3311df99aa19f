// SPDX-License-Identifier: GPL-2.0

//! Limits for the depth and the duration of calls.

use crate::{
    filter::error::Fault,
    random::Random, //
    thresholds::{
        parse_depth,
        parse_thresholds,
        Limits,
        Thresholds, //
        TimeKind,
    },
    time_split::Split, //
};

fn parsed(text: &str) -> Result<Thresholds, Fault> {
    let mut thresholds = Thresholds::default();
    let result = parse_thresholds(text.as_bytes(), &mut thresholds);
    result.map(|()| thresholds).map_err(|error| error.fault())
}

fn all_of(thresholds: &Thresholds) -> [u64; 4] {
    TimeKind::ALL.map(|kind| thresholds.get(kind))
}

#[test]
fn thresholds_are_in_us_and_of_the_total_unless_named() {
    for (text, expected) in [
        ("", [0, 0, 0, 0]),
        (" \n\t", [0, 0, 0, 0]),
        ("5", [5000, 0, 0, 0]),
        ("total 5", [5000, 0, 0, 0]),
        ("run 1 wait 2 block 3", [0, 1000, 2000, 3000]),
        ("block 3\nwait\n2\n", [0, 0, 2000, 3000]),
        ("wait 2 wait 0", [0, 0, 0, 0]),
        ("# run 5\nrun 6\n  # 7\n", [0, 6000, 0, 0]),
        ("18446744073709551", [18446744073709551000, 0, 0, 0]),
    ] {
        assert_eq!(all_of(&parsed(text).unwrap()), expected, "{text:?}");
    }
}

#[test]
fn a_bad_threshold_changes_nothing_and_is_named() {
    for (text, word) in [
        ("x", "x"),
        ("run", "run"),
        ("1 run", "run"),
        ("run run 1", "run"),
        ("run 1x", "1x"),
        ("-1", "-1"),
        ("+1", "+1"),
        ("18446744073709552", "18446744073709552"),
        ("99999999999999999999999", "99999999999999999999999"),
        ("RUN 1", "RUN"),
        ("run=1", "run=1"),
    ] {
        let mut thresholds = parsed("run 7 block 9").unwrap();
        let error = parse_thresholds(text.as_bytes(), &mut thresholds).unwrap_err();
        assert_eq!(error.fault(), Fault::NotAThreshold, "{text:?}");
        assert_eq!(error.token(), word.as_bytes(), "{text:?}");
        assert_eq!(all_of(&thresholds), [0, 7000, 0, 9000], "{text:?}");
    }
}

#[test]
fn a_call_is_kept_if_it_reaches_any_threshold() {
    let split = Split {
        total: 100_000,
        run: 50_000,
        irq: 0,
        wait: 30_000,
        block: 20_000,
    };
    for (text, kept) in [
        ("total 100", true),
        ("total 101", false),
        ("run 50", true),
        ("run 51", false),
        ("wait 30", true),
        ("wait 31", false),
        ("block 20", true),
        ("block 21", false),
        ("run 51 block 20", true),
        ("run 51 block 21 total 101 wait 31", false),
        ("", false),
    ] {
        assert_eq!(parsed(text).unwrap().reached_by(&split), kept, "{text:?}");
    }
}

#[test]
fn depths_are_decimal_numbers() {
    for (text, depth) in [
        ("", 0),
        ("\n", 0),
        ("0", 0),
        (" 7\n", 7),
        ("4294967295", u32::MAX),
        ("# max_graph_depth: 0 is all\n3\n", 3),
        ("\n\t# 1\n4\n # 5", 4),
    ] {
        assert_eq!(parse_depth(text.as_bytes(), true).unwrap(), Some(depth));
    }
    for text in ["#", "# 3\n", "\n #3\n# 4"] {
        assert_eq!(parse_depth(text.as_bytes(), true).unwrap(), None);
    }
    for text in ["", " ", "\t\n"] {
        let error = parse_depth(text.as_bytes(), false).unwrap_err();
        assert_eq!(error.fault(), Fault::NotADepth, "{text:?}");
    }
    for text in [
        "x",
        "-1",
        "1 2",
        "4294967296",
        "0x1",
        "1.0",
        "99999999999999999999",
        "1 # 1",
        "1\n# between\n2",
    ] {
        let error = parse_depth(text.as_bytes(), true).unwrap_err();
        assert_eq!(error.fault(), Fault::NotADepth, "{text:?}");
    }
}

#[test]
fn limits_are_what_was_set() {
    let limits = Limits::default();
    assert_eq!(limits.least_ns(), 0);
    assert_eq!(limits.max_depth(), 0);
    limits.set_thresholds(parsed("wait 5").unwrap());
    limits.set_max_depth(3);
    assert_eq!(limits.least_ns(), 5000);
    assert_eq!(all_of(&limits.thresholds()), [0, 0, 5000, 0]);
    limits.set_thresholds(parsed("total 9 run 4 block 7").unwrap());
    assert_eq!(limits.least_ns(), 4000);
    assert_eq!(limits.max_depth(), 3);
    limits.set_thresholds(Thresholds::default());
    assert_eq!(limits.least_ns(), 0);
}

#[test]
fn the_kernels_threshold_counts_where_there_is_none_for_the_total() {
    let limits = Limits::default();
    limits.set_tracing_thresh(6000);
    assert_eq!(limits.least_ns(), 6000);
    assert_eq!(all_of(&limits.all_thresholds()), [6000, 0, 0, 0]);
    // It is not among the thresholds that were set here.
    assert_eq!(all_of(&limits.thresholds()), [0; 4]);
    limits.set_thresholds(parsed("total 9 block 7").unwrap());
    assert_eq!(all_of(&limits.all_thresholds()), [9000, 0, 0, 7000]);
    assert_eq!(limits.least_ns(), 7000);
    limits.set_thresholds(parsed("wait 2").unwrap());
    assert_eq!(limits.least_ns(), 2000);
    limits.set_tracing_thresh(1000);
    assert_eq!(limits.least_ns(), 1000);
    limits.set_tracing_thresh(0);
    assert_eq!(limits.least_ns(), 2000);
}

#[test]
fn random_bytes_are_taken_or_refused() {
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let words = [
            "run", "wait", "total", "block", "1", "20", "x", "#", "\n", " ", "\t", "-",
        ];
        let mut text = String::new();
        for _ in 0..random.below(8) {
            text.push_str(words[random.below(words.len())]);
            text.push_str([" ", "", "\n"][random.below(3)]);
        }
        // Writing an accepted text back leads to equal thresholds.
        if let Ok(thresholds) = parsed(&text) {
            let shown: String = TimeKind::ALL
                .iter()
                .filter(|kind| thresholds.get(**kind) != 0)
                .map(|kind| format!("{} {}\n", kind.name(), thresholds.get(*kind) / 1000))
                .collect();
            assert_eq!(parsed(&shown).unwrap(), thresholds);
        }
    }
}

#[test]
fn parts_add_up_to_the_duration() {
    for (total, wait, block) in [(0, 0, 0), (10, 3, 4), (10, 7, 7), (10, 20, 1), (10, 0, 11)] {
        let split = Split::new(total, wait, block);
        assert_eq!(split.run + split.wait + split.block, total, "{split:?}");
        assert!(split.wait <= wait && split.block <= block, "{split:?}");
    }
    assert_eq!(Split::new(9, 0, 0), Split::undivided(9));
}
