// SPDX-License-Identifier: GPL-2.0

//! Inherited filter state of tasks, and the store in which it is kept until the task uses it.

use crate::borns::Born;
use crate::borns::Heirs;
use crate::borns::HEIRS;
use crate::filter::verdict::Forget;
use crate::filter::verdict::Lineage;

const TRACED: Lineage = Lineage {
    traced: true,
    excluded: false,
};
const EXCLUDED: Lineage = Lineage {
    traced: false,
    excluded: true,
};

fn born(slot: u32, lineage: Lineage) -> Born {
    let mut born = Born::default();
    born.add(slot, lineage);
    born
}

#[test]
fn each_slot_has_its_own() {
    let mut born = born(0, TRACED);
    born.add(31, EXCLUDED);
    assert!(!born.is_empty());
    assert_eq!(born.lineage(0), TRACED);
    assert_eq!(born.lineage(1), Lineage::default());
    assert_eq!(born.lineage(31), EXCLUDED);
}

#[test]
fn what_is_forgotten_is_of_one_slot_and_kind() {
    let mut both = born(3, TRACED);
    both.add(4, EXCLUDED);
    let traced = Forget {
        traced: true,
        excluded: false,
    };
    both.forget(1 << 4, traced);
    assert_eq!(both.lineage(4), EXCLUDED);
    both.forget(1 << 3, traced);
    assert_eq!(both.lineage(3), Lineage::default());
    both.forget(1 << 4, Forget::ALL);
    assert!(both.is_empty());
}

#[test]
fn an_heir_takes_it_once() {
    let mut heirs = Heirs::default();
    assert!(heirs.put(7, born(2, TRACED)));
    assert_eq!(heirs.get(8), None);
    assert_eq!(heirs.get(7), Some(born(2, TRACED)));
    assert_eq!(heirs.take(7), Some(born(2, TRACED)));
    assert_eq!(heirs.take(7), None);
}

#[test]
fn the_newest_of_a_tag_counts() {
    let mut heirs = Heirs::default();
    for slot in 0..HEIRS as u32 + 1 {
        assert!(heirs.put(7, born(slot, TRACED)));
    }
    assert_eq!(heirs.take(7), Some(born(HEIRS as u32, TRACED)));
    assert_eq!(heirs.take(7), None);
}

#[test]
fn without_room_one_goes_and_it_is_said() {
    let mut heirs = Heirs::default();
    let tags = 1..HEIRS as u32 + 1;
    for tag in tags.clone() {
        assert!(heirs.put(tag, born(1, TRACED)));
    }
    assert!(!heirs.put(100, born(2, EXCLUDED)));
    assert!(!heirs.put(101, born(2, EXCLUDED)));
    assert_eq!(heirs.get(100), Some(born(2, EXCLUDED)));
    assert_eq!(heirs.get(101), Some(born(2, EXCLUDED)));
    let left = tags.filter(|tag| heirs.get(*tag).is_some()).count();
    assert_eq!(left, HEIRS - 2);
}

#[test]
fn filters_that_change_are_forgotten_by_who_waits() {
    let mut heirs = Heirs::default();
    heirs.put(7, born(2, TRACED));
    heirs.forget(1 << 1, Forget::ALL);
    assert_eq!(heirs.get(7), Some(born(2, TRACED)));
    heirs.forget(1 << 2, Forget::ALL);
    assert_eq!(heirs.get(7), Some(Born::default()));
}
