// SPDX-License-Identifier: GPL-2.0

//! What a task is doing and since when.

use crate::stamps::Current;
use crate::stamps::Doing;
use crate::stamps::Stamp;

const ALL: [Doing; 5] = [
    Doing::Running,
    Doing::Woken,
    Doing::Preempted,
    Doing::Blocked,
    Doing::Ended,
];

#[test]
fn nothing_is_known_at_first() {
    let current = Current::default();
    assert_eq!(current.get().doing, Doing::Unknown);
}

#[test]
fn what_is_kept_is_what_was_set() {
    let current = Current::default();
    for doing in ALL {
        // Up to 36 years.
        for since_ns in [0, 1, 999_999_999, 1 << 40, (1 << 60) + 7] {
            current.forget();
            current.turn(doing, since_ns);
            assert_eq!(current.get(), Stamp { doing, since_ns });
        }
    }
}

#[test]
fn times_add_up_whatever_the_clock_does() {
    let current = Current::default();
    current.turn(Doing::Running, 1000);
    // Behind, level, and ahead again.
    let moments = [1500, 1400, 1400, 1450, 1500, 1501, 2000, 1999, 3000];
    let mut told = 0;
    for (moment, doing) in moments.iter().zip(ALL.iter().cycle()) {
        told += current.turn(*doing, *moment).elapsed_ns(*moment);
    }
    assert_eq!(told, 3000 - 1000);
    assert_eq!(current.get().since_ns, 3000);
}

#[test]
fn a_guess_gives_way() {
    let current = Current::default();
    assert!(current.guess(Doing::Blocked, 5));
    assert!(!current.guess(Doing::Running, 6));
    assert_eq!(current.get().doing, Doing::Blocked);
    let before = current.turn(Doing::Woken, 9);
    assert_eq!((before.doing, before.elapsed_ns(9)), (Doing::Blocked, 4));
    assert!(!current.guess(Doing::Running, 10));
    current.forget();
    assert!(current.guess(Doing::Running, 11));
}
