// SPDX-License-Identifier: GPL-2.0

//! The state of a task, and the time of its last transition.

use crate::transitions::Previous;
use crate::transitions::StateSince;
use crate::transitions::StateTracker;
use crate::transitions::TaskState;

const ALL: [TaskState; 5] = [
    TaskState::RUNNING,
    TaskState::WOKEN,
    TaskState::PREEMPTED,
    TaskState::BLOCKED,
    TaskState::ENDED,
];

/// The time from which on all transitions are observed.
const ALL_FROM: u64 = 100;

#[test]
fn nothing_is_known_at_first() {
    let current = StateTracker::default();
    assert_eq!(current.get().state, TaskState::UNKNOWN);
    assert!(!current.is_of(0));
}

#[test]
fn what_is_kept_is_what_was_set() {
    let current = StateTracker::default();
    for state in ALL {
        // Times of up to 36 years.
        for since_ns in [0, 1, 999_999_999, 1 << 40, (1 << 60) + 7] {
            current.reset(0);
            current.leave(state, 3, since_ns, ALL_FROM);
            assert_eq!(current.get(), StateSince { state, since_ns });
            assert!(current.is_of(3));
        }
    }
}

/// Makes the transition to `state`.
fn transition(
    current: &StateTracker,
    state: TaskState,
    switches: u32,
    now_ns: u64,
    all_from_ns: u64,
) -> Previous {
    match state {
        TaskState::RUNNING => current.arrive(switches, now_ns, all_from_ns),
        TaskState::WOKEN => current.wake(switches, now_ns, all_from_ns),
        state => current.leave(state, switches, now_ns, all_from_ns),
    }
}

/// Makes the transition and returns the duration of the previous state, which must be known.
fn elapsed(current: &StateTracker, state: TaskState, switches: u32, now_ns: u64) -> u64 {
    match transition(current, state, switches, now_ns, ALL_FROM) {
        Previous::Exact(since) => since.elapsed_ns(now_ns),
        other => panic!("{other:?}"),
    }
}

/// A task that is preempted and blocks, in turn.
const LIFE: [(TaskState, u32); 5] = [
    (TaskState::RUNNING, 0),
    (TaskState::PREEMPTED, 1),
    (TaskState::RUNNING, 0),
    (TaskState::BLOCKED, 1),
    (TaskState::WOKEN, 0),
];

#[test]
fn times_add_up_whatever_the_clock_does() {
    let current = StateTracker::default();
    current.begin(u32::MAX, 1000);
    // The clock goes back, stays the same, and advances again.
    let times = [1500, 1400, 1400, 1450, 1500, 1501, 2000, 1999, 3000];
    let (mut reported, mut switches) = (0, u32::MAX);
    for (time, (state, more)) in times.iter().zip(LIFE.iter().cycle()) {
        switches = switches.wrapping_add(*more);
        reported += elapsed(&current, *state, switches, *time);
    }
    assert_eq!(reported, 3000 - 1000);
    assert_eq!(current.get().since_ns, 3000);
}

#[test]
fn what_a_task_did_before_it_was_followed_is_left_out() {
    let current = StateTracker::default();
    // The task was already running before.
    let before = transition(&current, TaskState::BLOCKED, 8, 150, ALL_FROM);
    assert_eq!(before, Previous::AtLeast(ALL_FROM));
    assert_eq!(elapsed(&current, TaskState::WOKEN, 8, 170), 20);
    // Transitions are not observed: it gets a CPU and leaves it. Then they are observed again.
    let before = transition(&current, TaskState::WOKEN, 9, 250, 200);
    assert_eq!(before, Previous::AtLeast(200));
    assert_eq!(current.get().since_ns, 250);
    // The transition fits the stored state, but the number of switches does not.
    transition(&current, TaskState::RUNNING, 9, 260, 200);
    let before = transition(&current, TaskState::BLOCKED, 11, 350, 300);
    assert_eq!(before, Previous::AtLeast(300));
}

#[test]
fn a_stamp_stays_good_while_nothing_changes() {
    let current = StateTracker::default();
    current.begin(4, 110);
    transition(&current, TaskState::RUNNING, 4, 120, ALL_FROM);
    // Filters have changed since then, while the task was running all the time.
    let before = transition(&current, TaskState::PREEMPTED, 5, 500, 400);
    let since = StateSince {
        state: TaskState::RUNNING,
        since_ns: 120,
    };
    assert_eq!(before, Previous::Exact(since));
}

#[test]
fn what_should_have_been_seen_is_missed() {
    let current = StateTracker::default();
    current.begin(0, 110);
    transition(&current, TaskState::RUNNING, 0, 120, ALL_FROM);
    assert_eq!(
        transition(&current, TaskState::WOKEN, 1, 130, ALL_FROM),
        Previous::Missed
    );
    assert_eq!(elapsed(&current, TaskState::RUNNING, 1, 135), 5);
    // One more transition that was not observed.
    assert_eq!(
        transition(&current, TaskState::RUNNING, 2, 140, ALL_FROM),
        Previous::Missed
    );
}

#[test]
fn nothing_is_promised_while_it_changes_who_is_followed() {
    let current = StateTracker::default();
    assert_eq!(
        transition(&current, TaskState::RUNNING, 7, 150, u64::MAX),
        Previous::NotTracked
    );
    assert_eq!(elapsed(&current, TaskState::BLOCKED, 8, 160), 10);
    // A single task may be followed later than the others.
    current.follow_from(u64::MAX);
    assert_eq!(elapsed(&current, TaskState::WOKEN, 8, 170), 10);
    current.follow_from(u64::MAX);
    assert_eq!(
        transition(&current, TaskState::BLOCKED, 10, 180, ALL_FROM),
        Previous::NotTracked
    );
    current.follow_from(200);
    assert_eq!(
        transition(&current, TaskState::BLOCKED, 12, 220, ALL_FROM),
        Previous::AtLeast(200)
    );
}

#[test]
fn a_call_is_covered_if_all_was_seen_since_it_began() {
    let current = StateTracker::default();
    // The first observed transition: the task leaves its CPU for the fifth time.
    transition(&current, TaskState::BLOCKED, 5, 150, ALL_FROM);
    transition(&current, TaskState::WOKEN, 5, 160, ALL_FROM);
    transition(&current, TaskState::RUNNING, 5, 170, ALL_FROM);
    assert!(current.covers(4, 5));
    assert!(current.covers(5, 5));
    assert!(!current.covers(3, 5));
    // It has left its CPU again, and its return was not observed.
    assert!(!current.covers(4, 6));
    transition(&current, TaskState::RUNNING, 6, 190, ALL_FROM);
    assert!(!current.covers(4, 6));
    assert!(!current.covers(5, 6));
    assert!(current.covers(6, 6));
    // The transition was observed, but the task is off its CPU.
    transition(&current, TaskState::BLOCKED, 7, 200, ALL_FROM);
    assert!(!current.covers(6, 7));
    // The count wraps around.
    let wrapped = StateTracker::default();
    wrapped.begin(u32::MAX, 110);
    transition(&wrapped, TaskState::RUNNING, u32::MAX, 120, ALL_FROM);
    transition(&wrapped, TaskState::PREEMPTED, 0, 130, ALL_FROM);
    transition(&wrapped, TaskState::RUNNING, 0, 140, ALL_FROM);
    assert!(wrapped.covers(u32::MAX, 0));
    assert!(!wrapped.covers(u32::MAX - 1, 0));
}
