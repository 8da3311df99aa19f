// SPDX-License-Identifier: GPL-2.0

//! The state of a task, and the time of its last transition.

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

/// The time from which on all transitions are observed.
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
        // Times of up to 36 years.
        for since_ns in [0, 1, 999_999_999, 1 << 40, (1 << 60) + 7] {
            current.forget(0);
            current.leave(doing, 3, since_ns, ALL_FROM);
            assert_eq!(current.get(), Stamp { doing, since_ns });
            assert!(current.is_of(3));
        }
    }
}

/// Makes the transition to `doing`.
fn turn(current: &Current, doing: Doing, switches: u32, now_ns: u64, all_from_ns: u64) -> Before {
    match doing {
        Doing::RUNNING => current.arrive(switches, now_ns, all_from_ns),
        Doing::WOKEN => current.wake(switches, now_ns, all_from_ns),
        doing => current.leave(doing, switches, now_ns, all_from_ns),
    }
}

/// Makes the transition and returns the duration of the previous state, which must be known.
fn elapsed(current: &Current, doing: Doing, switches: u32, now_ns: u64) -> u64 {
    match turn(current, doing, switches, now_ns, ALL_FROM) {
        Before::Known(stamp) => stamp.elapsed_ns(now_ns),
        other => panic!("{other:?}"),
    }
}

/// A task that is preempted and blocks, in turn.
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
    // The clock goes back, stays the same, and advances again.
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
    // The task was already running before.
    let before = turn(&current, Doing::BLOCKED, 8, 150, ALL_FROM);
    assert_eq!(before, Before::Since(ALL_FROM));
    assert_eq!(elapsed(&current, Doing::WOKEN, 8, 170), 20);
    // Transitions are not observed: it gets a CPU and leaves it. Then they are observed again.
    let before = turn(&current, Doing::WOKEN, 9, 250, 200);
    assert_eq!(before, Before::Since(200));
    assert_eq!(current.get().since_ns, 250);
    // The transition fits the stored state, but the number of switches does not.
    turn(&current, Doing::RUNNING, 9, 260, 200);
    let before = turn(&current, Doing::BLOCKED, 11, 350, 300);
    assert_eq!(before, Before::Since(300));
}

#[test]
fn a_stamp_stays_good_while_nothing_changes() {
    let current = Current::default();
    current.begin(4, 110);
    turn(&current, Doing::RUNNING, 4, 120, ALL_FROM);
    // Filters have changed since then, while the task was running all the time.
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
    // One more transition that was not observed.
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
    // A single task may be followed later than the others.
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
    // The first observed transition: the task leaves its CPU for the fifth time.
    turn(&current, Doing::BLOCKED, 5, 150, ALL_FROM);
    turn(&current, Doing::WOKEN, 5, 160, ALL_FROM);
    turn(&current, Doing::RUNNING, 5, 170, ALL_FROM);
    assert!(current.covers(4, 5));
    assert!(current.covers(5, 5));
    assert!(!current.covers(3, 5));
    // It has left its CPU again, and its return was not observed.
    assert!(!current.covers(4, 6));
    turn(&current, Doing::RUNNING, 6, 190, ALL_FROM);
    assert!(!current.covers(4, 6));
    assert!(!current.covers(5, 6));
    assert!(current.covers(6, 6));
    // The transition was observed, but the task is off its CPU.
    turn(&current, Doing::BLOCKED, 7, 200, ALL_FROM);
    assert!(!current.covers(6, 7));
    // The count wraps around.
    let wrapped = Current::default();
    wrapped.begin(u32::MAX, 110);
    turn(&wrapped, Doing::RUNNING, u32::MAX, 120, ALL_FROM);
    turn(&wrapped, Doing::PREEMPTED, 0, 130, ALL_FROM);
    turn(&wrapped, Doing::RUNNING, 0, 140, ALL_FROM);
    assert!(wrapped.covers(u32::MAX, 0));
    assert!(!wrapped.covers(u32::MAX - 1, 0));
}
