// SPDX-License-Identifier: GPL-2.0

//! What a task is doing and since when.

use crate::stamps::Before;
use crate::stamps::Current;
use crate::stamps::Doing;
use crate::stamps::Stamp;

const ALL: [Doing; 5] = [
    Doing::RUNNING,
    Doing::WOKEN,
    Doing::PREEMPTED,
    Doing::BLOCKED,
    Doing::ENDED,
];

/// From which moment on all is seen, in what follows.
const ALL_FROM: u64 = 100;

#[test]
fn nothing_is_known_at_first() {
    let current = Current::default();
    assert_eq!(current.get().doing, Doing::UNKNOWN);
    assert!(!current.is_of(0));
}

#[test]
fn what_is_kept_is_what_was_set() {
    let current = Current::default();
    for doing in ALL {
        // Up to 36 years.
        for since_ns in [0, 1, 999_999_999, 1 << 40, (1 << 60) + 7] {
            current.forget(0);
            current.leave(doing, 3, since_ns, ALL_FROM);
            assert_eq!(current.get(), Stamp { doing, since_ns });
            assert!(current.is_of(3));
        }
    }
}

/// The one change that leads to `doing`.
fn turn(current: &Current, doing: Doing, switches: u32, now_ns: u64, all_from_ns: u64) -> Before {
    match doing {
        Doing::RUNNING => current.arrive(switches, now_ns, all_from_ns),
        Doing::WOKEN => current.wake(switches, now_ns, all_from_ns),
        doing => current.leave(doing, switches, now_ns, all_from_ns),
    }
}

/// Turns it, and tells how long what is over took. The first change is of a task that ran.
fn elapsed(current: &Current, doing: Doing, switches: u32, now_ns: u64) -> u64 {
    match turn(current, doing, switches, now_ns, ALL_FROM) {
        Before::Known(stamp) => stamp.elapsed_ns(now_ns),
        other => panic!("{other:?}"),
    }
}

/// The life of a task that is preempted and blocks, in turn.
const LIFE: [(Doing, u32); 5] = [
    (Doing::RUNNING, 0),
    (Doing::PREEMPTED, 1),
    (Doing::RUNNING, 0),
    (Doing::BLOCKED, 1),
    (Doing::WOKEN, 0),
];

#[test]
fn times_add_up_whatever_the_clock_does() {
    let current = Current::default();
    current.begin(u32::MAX, 1000);
    // Behind, level, and ahead again.
    let moments = [1500, 1400, 1400, 1450, 1500, 1501, 2000, 1999, 3000];
    let (mut told, mut switches) = (0, u32::MAX);
    for (moment, (doing, more)) in moments.iter().zip(LIFE.iter().cycle()) {
        switches = switches.wrapping_add(*more);
        told += elapsed(&current, *doing, switches, *moment);
    }
    assert_eq!(told, 3000 - 1000);
    assert_eq!(current.get().since_ns, 3000);
}

#[test]
fn what_a_task_did_before_it_was_followed_is_left_out() {
    let current = Current::default();
    // It has run on for some time.
    let before = turn(&current, Doing::BLOCKED, 8, 150, ALL_FROM);
    assert_eq!(before, Before::Since(ALL_FROM));
    assert_eq!(elapsed(&current, Doing::WOKEN, 8, 170), 20);
    // Nobody looks any more; it gets a CPU, leaves it, and then somebody does again.
    let before = turn(&current, Doing::WOKEN, 9, 250, 200);
    assert_eq!(before, Before::Since(200));
    assert_eq!(current.get().since_ns, 250);
    // The same, but for the change in between.
    turn(&current, Doing::RUNNING, 9, 260, 200);
    let before = turn(&current, Doing::BLOCKED, 11, 350, 300);
    assert_eq!(before, Before::Since(300));
}

#[test]
fn a_stamp_stays_good_while_nothing_changes() {
    let current = Current::default();
    current.begin(4, 110);
    turn(&current, Doing::RUNNING, 4, 120, ALL_FROM);
    // Filters have changed since, and the task has run all along.
    let before = turn(&current, Doing::PREEMPTED, 5, 500, 400);
    let stamp = Stamp {
        doing: Doing::RUNNING,
        since_ns: 120,
    };
    assert_eq!(before, Before::Known(stamp));
}

#[test]
fn what_should_have_been_seen_is_missed() {
    let current = Current::default();
    current.begin(0, 110);
    turn(&current, Doing::RUNNING, 0, 120, ALL_FROM);
    assert_eq!(
        turn(&current, Doing::WOKEN, 1, 130, ALL_FROM),
        Before::Missed
    );
    assert_eq!(elapsed(&current, Doing::RUNNING, 1, 135), 5);
    // One more, unseen.
    assert_eq!(
        turn(&current, Doing::RUNNING, 2, 140, ALL_FROM),
        Before::Missed
    );
}

#[test]
fn nothing_is_promised_while_it_changes_who_is_followed() {
    let current = Current::default();
    assert_eq!(
        turn(&current, Doing::RUNNING, 7, 150, u64::MAX),
        Before::NotFollowed
    );
    assert_eq!(elapsed(&current, Doing::BLOCKED, 8, 160), 10);
    // One task may be followed later than all.
    current.follow_from(u64::MAX);
    assert_eq!(elapsed(&current, Doing::WOKEN, 8, 170), 10);
    current.follow_from(u64::MAX);
    assert_eq!(
        turn(&current, Doing::BLOCKED, 10, 180, ALL_FROM),
        Before::NotFollowed
    );
    current.follow_from(200);
    assert_eq!(
        turn(&current, Doing::BLOCKED, 12, 220, ALL_FROM),
        Before::Since(200)
    );
}

#[test]
fn a_call_is_covered_if_all_was_seen_since_it_began() {
    let current = Current::default();
    // Seen first as it leaves its CPU for the fifth time.
    turn(&current, Doing::BLOCKED, 5, 150, ALL_FROM);
    turn(&current, Doing::WOKEN, 5, 160, ALL_FROM);
    turn(&current, Doing::RUNNING, 5, 170, ALL_FROM);
    assert!(current.covers(4, 5));
    assert!(current.covers(5, 5));
    assert!(!current.covers(3, 5));
    // It has left again, and nobody knows how it came back.
    assert!(!current.covers(4, 6));
    turn(&current, Doing::RUNNING, 6, 190, ALL_FROM);
    assert!(!current.covers(4, 6));
    assert!(!current.covers(5, 6));
    assert!(current.covers(6, 6));
    // Nor now, while it was seen to leave.
    turn(&current, Doing::BLOCKED, 7, 200, ALL_FROM);
    assert!(!current.covers(6, 7));
    // The count starts over at some time.
    let wrapped = Current::default();
    wrapped.begin(u32::MAX, 110);
    turn(&wrapped, Doing::RUNNING, u32::MAX, 120, ALL_FROM);
    turn(&wrapped, Doing::PREEMPTED, 0, 130, ALL_FROM);
    turn(&wrapped, Doing::RUNNING, 0, 140, ALL_FROM);
    assert!(wrapped.covers(u32::MAX, 0));
    assert!(!wrapped.covers(u32::MAX - 1, 0));
}
