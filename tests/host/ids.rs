// SPDX-License-Identifier: GPL-2.0

//! IDs and sets of IDs.

use std::collections::BTreeSet;

use kernel::alloc::limit_allocations;
use kernel::prelude::ENOMEM;
use kernel::prelude::ENOSPC;

use crate::filter::ids::parse_id;
use crate::filter::ids::IdError;
use crate::filter::ids::IdSet;
use crate::filter::ids::MAX_ID;
use crate::filter::ids::MAX_IDS;
use crate::random::Random;

fn set(ids: &[i32]) -> IdSet {
    IdSet::default().merge(ids).unwrap()
}

#[test]
fn ids_are_decimal() {
    let cases: &[(&[u8], Result<i32, IdError>)] = &[
        (b"0", Ok(0)),
        (b"1", Ok(1)),
        (b"9", Ok(9)),
        (b"10", Ok(10)),
        (b"4194303", Ok(4194303)),
        (b"4194304", Ok(MAX_ID)),
        (b"00", Ok(0)),
        (b"010", Ok(10)),
        (
            b"0000000000000000000000000000000000000000000000000000001",
            Ok(1),
        ),
        (b"4194305", Err(IdError::OutOfRange)),
        (b"99999999", Err(IdError::OutOfRange)),
        // The limits of 31, 32, 63 and 64 bits, and numbers that would wrap around to a valid ID.
        (b"2147483647", Err(IdError::OutOfRange)),
        (b"2147483648", Err(IdError::OutOfRange)),
        (b"4294967295", Err(IdError::OutOfRange)),
        (b"4294967297", Err(IdError::OutOfRange)),
        (b"9223372036854775807", Err(IdError::OutOfRange)),
        (b"9223372036854775808", Err(IdError::OutOfRange)),
        (b"18446744073709551615", Err(IdError::OutOfRange)),
        (b"18446744073709551617", Err(IdError::OutOfRange)),
        (
            b"340282366920938463463374607431768211457",
            Err(IdError::OutOfRange),
        ),
        (b"-1", Err(IdError::OutOfRange)),
        (b"-0", Err(IdError::OutOfRange)),
        (b"-99999999999999999999999", Err(IdError::OutOfRange)),
        (b"", Err(IdError::NotANumber)),
        (b"-", Err(IdError::NotANumber)),
        (b"--1", Err(IdError::NotANumber)),
        (b"+1", Err(IdError::NotANumber)),
        (b"0x10", Err(IdError::NotANumber)),
        (b"1x", Err(IdError::NotANumber)),
        (b"x1", Err(IdError::NotANumber)),
        (b"-1x", Err(IdError::NotANumber)),
        (b"99999999999999999999x", Err(IdError::NotANumber)),
        (b"1.0", Err(IdError::NotANumber)),
        (b"1e3", Err(IdError::NotANumber)),
        (b"1,2", Err(IdError::NotANumber)),
        (b" 1", Err(IdError::NotANumber)),
        (b"1 ", Err(IdError::NotANumber)),
        (b"1\\", Err(IdError::NotANumber)),
        (b"1\0", Err(IdError::NotANumber)),
        (b"\xd9\xa1", Err(IdError::NotANumber)),
        (b"/", Err(IdError::NotANumber)),
        (b":", Err(IdError::NotANumber)),
    ];
    for (word, expected) in cases {
        assert_eq!(parse_id(word), *expected, "`{}`", word.escape_ascii());
    }
    for id in (0..=MAX_ID).step_by(37) {
        assert_eq!(parse_id(id.to_string().as_bytes()), Ok(id));
    }
}

#[test]
fn an_empty_set_has_nothing() {
    let empty = IdSet::default();
    assert!(empty.is_empty());
    assert_eq!(empty.len(), 0);
    assert_eq!(empty.iter().next(), None);
    for id in [i32::MIN, -1, 0, 1, i32::MAX] {
        assert!(!empty.contains(id));
    }
}

#[test]
fn sets_are_sorted_and_have_each_id_once() {
    let ids = set(&[5, 3, 5, 9, 0, 3, MAX_ID, 4]);
    assert_eq!(ids.as_slice(), [0, 3, 4, 5, 9, MAX_ID]);
    assert!(ids.iter().eq([0, 3, 4, 5, 9, MAX_ID]));
    assert_eq!(ids.len(), 6);
    assert!(!ids.is_empty());
    for id in -2..20 {
        assert_eq!(ids.contains(id), [0, 3, 4, 5, 9].contains(&id), "{id}");
    }
    assert!(ids.contains(MAX_ID));
    assert!(!ids.contains(MAX_ID - 1));
    assert!(!ids.contains(i32::MAX));
    assert!(!ids.contains(i32::MIN));
}

#[test]
fn sets_behave_as_those_of_the_standard_library() {
    let mut random = Random::new(0x1d5);
    for round in 0..600 {
        let limit = 1 + round;
        let mut ids = IdSet::default();
        let mut model = BTreeSet::new();
        for _ in 0..random.below(60) {
            let id = random.below(limit) as i32;
            ids.insert(id).unwrap();
            model.insert(id);
        }
        assert!(ids.iter().eq(model.iter().copied()));

        let more: Vec<i32> = (0..random.below(60))
            .map(|_| random.below(limit) as i32)
            .collect();
        let merged = ids.merge(&more).unwrap();
        // The original set is unchanged.
        assert!(ids.iter().eq(model.iter().copied()));
        assert!(ids.try_clone().unwrap().iter().eq(ids.iter()));

        model.extend(&more);
        assert!(merged.iter().eq(model.iter().copied()));
        for id in -1..=limit as i32 {
            assert_eq!(merged.contains(id), model.contains(&id));
        }
    }
}

#[test]
fn a_set_holds_so_many_and_no_more() {
    let most = MAX_IDS as i32;
    // Ascending, descending, and from both ends.
    for order in 0..3 {
        let mut ids = IdSet::default();
        for i in 0..most {
            let id = match (order, i % 2) {
                (0, _) | (2, 0) => i,
                (1, _) => most - 1 - i,
                _ => MAX_ID - i,
            };
            ids.insert(id).unwrap();
        }
        assert_eq!(ids.len(), MAX_IDS);
        assert!(ids.as_slice().is_sorted());

        assert_eq!(ids.insert(MAX_ID), Err(ENOSPC));
        assert_eq!(ids.insert(-1), Err(ENOSPC));
        assert_eq!(ids.merge(&[7, MAX_ID]).err(), Some(ENOSPC));
        // An ID that is in the set needs no space.
        let here = ids.as_slice()[ids.len() / 2];
        assert_eq!(ids.insert(here), Ok(()));
        assert_eq!(ids.merge(&[here, here]).unwrap().len(), MAX_IDS);
        let all = ids.as_slice().to_vec();
        assert_eq!(ids.merge(&all).unwrap().as_slice(), all);
        assert_eq!(ids.as_slice(), all);
    }

    let half: Vec<i32> = (0..most / 2).collect();
    let other: Vec<i32> = (most / 2..most).collect();
    assert_eq!(set(&half).merge(&other).unwrap().len(), MAX_IDS);
    let other: Vec<i32> = (most / 2..=most).collect();
    assert_eq!(set(&half).merge(&other).err(), Some(ENOSPC));
}

#[test]
fn without_memory_a_set_stays_as_it_is() {
    let mut ids = set(&[1, 2, 3, 4]);
    limit_allocations(Some(0));
    let results = (
        ids.insert(9),
        ids.merge(&[7]).map(|_| ()),
        ids.try_clone().map(|_| ()),
        ids.insert(2),
    );
    limit_allocations(None);
    assert_eq!(results, (Err(ENOMEM), Err(ENOMEM), Err(ENOMEM), Ok(())));
    assert_eq!(ids.as_slice(), [1, 2, 3, 4]);
    ids.insert(9).unwrap();
    assert_eq!(ids.as_slice(), [1, 2, 3, 4, 9]);
}
