// SPDX-License-Identifier: GPL-2.0

//! The words that name cgroups.

use kernel::alloc::limit_allocations;

use crate::filter::cgroups::parse_cgroup;
use crate::filter::cgroups::Name;

fn path(word: &[u8]) -> Vec<u8> {
    match parse_cgroup(word) {
        Ok(Some(Name::Path(path))) => path.to_vec(),
        _ => panic!("`{}` is not a path", word.escape_ascii()),
    }
}

#[test]
fn ids_are_decimal_numbers_other_than_0() {
    for (word, id) in [
        (b"1".as_slice(), 1),
        (b"0042", 42),
        (b"18446744073709551615", u64::MAX),
    ] {
        assert!(matches!(parse_cgroup(word), Ok(Some(Name::Id(found))) if found == id));
    }
    for word in [
        b"".as_slice(),
        b"0",
        b"000",
        b"-1",
        b"+1",
        b"1x",
        b"0x1",
        b"a",
        b"a/b",
        b"./a",
        b"18446744073709551616",
        b"99999999999999999999999",
    ] {
        assert!(matches!(parse_cgroup(word), Ok(None)));
    }
}

#[test]
fn only_before_white_space_a_backslash_is_no_part_of_a_path() {
    for (word, expected) in [
        (b"/".as_slice(), b"/".as_slice()),
        (b"/a/b", b"/a/b"),
        (b"/a\\ b", b"/a b"),
        (b"/a\\\tb\\ ", b"/a\tb "),
        (b"/a\\x2db", b"/a\\x2db"),
        (b"/a\\", b"/a\\"),
        (b"/a\\\\ b", b"/a\\ b"),
    ] {
        assert_eq!(path(word), expected);
    }
}

#[test]
fn without_memory_there_is_an_error() {
    limit_allocations(Some(0));
    let result = parse_cgroup(b"/a");
    limit_allocations(None);
    assert!(result.is_err());
}
