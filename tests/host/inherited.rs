// SPDX-License-Identifier: GPL-2.0

//! Inherited filter state of tasks, and the store in which it is kept until the task uses it.

use crate::filter::decision::ClearInherited;
use crate::filter::decision::Inherited;
use crate::inheriteds::InheritedFlags;
use crate::inheriteds::PendingExecs;
use crate::inheriteds::MAX_PENDING_EXECS;

const TRACED: Inherited = Inherited {
    traced: true,
    excluded: false,
};
const EXCLUDED: Inherited = Inherited {
    traced: false,
    excluded: true,
};

fn flags(slot: u32, inherited: Inherited) -> InheritedFlags {
    let mut flags = InheritedFlags::default();
    flags.add(slot, inherited);
    flags
}

#[test]
fn each_slot_has_its_own() {
    let mut flags = flags(0, TRACED);
    flags.add(31, EXCLUDED);
    assert!(!flags.is_empty());
    assert_eq!(flags.inherited(0), TRACED);
    assert_eq!(flags.inherited(1), Inherited::default());
    assert_eq!(flags.inherited(31), EXCLUDED);
}

#[test]
fn what_is_forgotten_is_of_one_slot_and_kind() {
    let mut both = flags(3, TRACED);
    both.add(4, EXCLUDED);
    let traced = ClearInherited {
        traced: true,
        excluded: false,
    };
    both.clear(1 << 4, traced);
    assert_eq!(both.inherited(4), EXCLUDED);
    both.clear(1 << 3, traced);
    assert_eq!(both.inherited(3), Inherited::default());
    both.clear(1 << 4, ClearInherited::ALL);
    assert!(both.is_empty());
}

#[test]
fn an_heir_takes_it_once() {
    let mut pending_execs = PendingExecs::default();
    assert!(pending_execs.insert(7, flags(2, TRACED)));
    assert_eq!(pending_execs.get(8), None);
    assert_eq!(pending_execs.get(7), Some(flags(2, TRACED)));
    assert_eq!(pending_execs.take(7), Some(flags(2, TRACED)));
    assert_eq!(pending_execs.take(7), None);
}

#[test]
fn the_newest_of_a_tag_counts() {
    let mut pending_execs = PendingExecs::default();
    for slot in 0..MAX_PENDING_EXECS as u32 + 1 {
        assert!(pending_execs.insert(7, flags(slot, TRACED)));
    }
    assert_eq!(
        pending_execs.take(7),
        Some(flags(MAX_PENDING_EXECS as u32, TRACED))
    );
    assert_eq!(pending_execs.take(7), None);
}

#[test]
fn without_room_one_goes_and_it_is_said() {
    let mut pending_execs = PendingExecs::default();
    let tags = 1..MAX_PENDING_EXECS as u32 + 1;
    for tag in tags.clone() {
        assert!(pending_execs.insert(tag, flags(1, TRACED)));
    }
    assert!(!pending_execs.insert(100, flags(2, EXCLUDED)));
    assert!(!pending_execs.insert(101, flags(2, EXCLUDED)));
    assert_eq!(pending_execs.get(100), Some(flags(2, EXCLUDED)));
    assert_eq!(pending_execs.get(101), Some(flags(2, EXCLUDED)));
    let left = tags.filter(|tag| pending_execs.get(*tag).is_some()).count();
    assert_eq!(left, MAX_PENDING_EXECS - 2);
}

#[test]
fn filters_that_change_are_forgotten_by_who_waits() {
    let mut pending_execs = PendingExecs::default();
    pending_execs.insert(7, flags(2, TRACED));
    pending_execs.clear(1 << 1, ClearInherited::ALL);
    assert_eq!(pending_execs.get(7), Some(flags(2, TRACED)));
    pending_execs.clear(1 << 2, ClearInherited::ALL);
    assert_eq!(pending_execs.get(7), Some(InheritedFlags::default()));
}
