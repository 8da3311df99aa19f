// SPDX-License-Identifier: GPL-2.0

//! From the text that is written to a control file to the filter.

use std::collections::HashSet;

use kernel::alloc::limit_allocations;
use kernel::error::Error;

use crate::filter::decision::Filter;
use crate::filter::error::Fault;
use crate::filter::error::InputError;
use crate::filter::ids::MAX_IDS;
use crate::filter::input::parse_switch;
use crate::filter::input::Input;
use crate::filter::input::ListName;
use crate::filter::input::ListRef;
use crate::filter::list::MAX_GLOBS;
use crate::filter::tokens::MAX_TOKEN;
use crate::names::NAMES as NAMESPACES;
use crate::names::NO_TASK;
use crate::random::Random;

const NAMES: [ListName; 8] = [
    ListName::Pid,
    ListName::NotracePid,
    ListName::Tgid,
    ListName::NotraceTgid,
    ListName::Comm,
    ListName::NotraceComm,
    ListName::Cgroup,
    ListName::NotraceCgroup,
];

fn takes_ids(name: ListName) -> bool {
    !matches!(name, ListName::Comm | ListName::NotraceComm) && !takes_cgroups(name)
}

fn takes_cgroups(name: ListName) -> bool {
    matches!(name, ListName::Cgroup | ListName::NotraceCgroup)
}

/// Returns the text that a control file prints for a list.
fn print(filter: &Filter, name: ListName) -> Vec<u8> {
    let mut text = Vec::new();
    match filter.list(name) {
        ListRef::Ids(ids) => {
            for id in ids.iter() {
                text.extend(format!("{id}\n").bytes());
            }
        }
        ListRef::Globs(globs) => {
            for glob in globs.iter() {
                text.extend([glob.as_bytes(), b"\n"].concat());
            }
        }
        ListRef::Cgroups(ids) => {
            for id in ids.iter() {
                text.extend(format!("{id}\n").bytes());
            }
        }
    }
    text
}

/// Returns the whole contents of a filter.
fn snapshot(filter: &Filter) -> (Vec<Vec<u8>>, bool) {
    let texts = NAMES.iter().map(|name| print(filter, *name)).collect();
    (texts, filter.follow_fork)
}

/// Ends the input and returns the new filter.
fn finished(input: &mut Input, replace: bool, current: &Filter) -> Result<Filter, InputError> {
    input.finish()?;
    input.take(replace, current)
}

/// Writes a text in one piece.
fn write(
    name: ListName,
    text: &[u8],
    replace: bool,
    current: &Filter,
) -> Result<Filter, InputError> {
    let mut input = Input::new(name, &NAMESPACES);
    input.write(text)?;
    finished(&mut input, replace, current)
}

/// Returns a filter in which each list has different entries.
fn full() -> Filter {
    let mut filter = Filter {
        follow_fork: true,
        ..Filter::default()
    };
    for (i, name) in NAMES.into_iter().enumerate() {
        let text = if takes_ids(name) || takes_cgroups(name) {
            format!("{} {}", 10 + i, 20 + i)
        } else {
            format!("task{i} t*{i}")
        };
        filter = write(name, text.as_bytes(), true, &filter).unwrap();
    }
    filter
}

/// Asserts that a text is refused with the same error, in one piece and in smaller pieces, and that
/// the filter is unchanged.
fn assert_refused(name: ListName, text: &[u8], fault: Fault, token: &[u8], offset: usize) {
    let shown = text[..text.len().min(80)].escape_ascii();
    let current = full();
    let before = snapshot(&current);
    for replace in [false, true] {
        for size in [1, 7, text.len()] {
            let mut input = Input::new(name, &NAMESPACES);
            let result = text
                .chunks(size)
                .try_for_each(|piece| input.write(piece))
                .and_then(|()| finished(&mut input, replace, &current).map(|_| ()));
            let error = result.expect_err(&format!("`{shown}` is accepted"));
            assert_eq!(error.fault(), fault, "`{shown}`");
            assert_eq!(
                error.token(),
                token,
                "`{shown}`: `{}`",
                error.token().escape_ascii()
            );
            assert_eq!(error.offset(), offset, "`{shown}`");
            assert_eq!(snapshot(&current), before);
        }
    }
}

#[test]
fn each_name_stands_for_its_own_list() {
    let filter = full();
    assert_eq!(filter.pid.as_slice(), [10, 20]);
    assert_eq!(filter.notrace_pid.as_slice(), [11, 21]);
    assert_eq!(filter.tgid.as_slice(), [12, 22]);
    assert_eq!(filter.notrace_tgid.as_slice(), [13, 23]);
    assert_eq!(print(&filter, ListName::Comm), b"task4\nt*4\n");
    assert_eq!(print(&filter, ListName::NotraceComm), b"task5\nt*5\n");
    assert!(filter.comm.matches(b"task4") && !filter.comm.matches(b"task5"));
    assert!(filter.notrace_comm.matches(b"task5") && !filter.notrace_comm.matches(b"task4"));
    assert_eq!(filter.cgroup.as_slice(), [16, 26]);
    assert_eq!(filter.notrace_cgroup.as_slice(), [17, 27]);
}

#[test]
fn a_write_changes_its_own_list_only() {
    let current = full();
    let before = snapshot(&current);
    for (i, name) in NAMES.into_iter().enumerate() {
        let (text, new) = if takes_ids(name) || takes_cgroups(name) {
            (b"99".as_slice(), b"99\n".as_slice())
        } else {
            (b"new".as_slice(), b"new\n".as_slice())
        };
        let old = before.0[i].as_slice();
        let added = [old, new].concat();
        for (text, replace, expected) in [
            (text, true, new),
            (text, false, added.as_slice()),
            (b"".as_slice(), true, b"".as_slice()),
            (b"\n", true, b""),
            (b"# nothing\n", true, b""),
            (b"", false, old),
            (b" \n", false, old),
        ] {
            let filter = write(name, text, replace, &current).unwrap();
            let mut after = before.clone();
            after.0[i] = expected.to_vec();
            assert_eq!(snapshot(&filter), after);
            assert_eq!(snapshot(&current), before);
        }
    }
}

#[test]
fn what_is_printed_can_be_written_back() {
    let mut random = Random::new(0xb0b);
    for _ in 0..2_000 {
        let mut filter = Filter::default();
        for _ in 0..random.below(12) {
            // Most texts are refused; the others contain all kinds of special bytes.
            let text = random.text(b"ab##\\\\  *?[[]]!-", 10);
            if let Ok(changed) = write(ListName::Comm, &text, false, &filter) {
                filter = changed;
            }
        }
        let printed = print(&filter, ListName::Comm);
        for header in [b"".as_slice(), b"# tasks: 3\n#\n"] {
            let text = [header, &printed].concat();
            let again = write(ListName::Comm, &text, true, &Filter::default()).unwrap();
            assert_eq!(
                print(&again, ListName::Comm),
                printed,
                "{}",
                text.escape_ascii()
            );
        }
    }
    let filter = full();
    for name in NAMES {
        let again = write(name, &print(&filter, name), true, &filter).unwrap();
        assert_eq!(snapshot(&again), snapshot(&filter));
    }
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    for name in NAMES.into_iter().filter(|name| takes_ids(*name)) {
        let cases: &[(&[u8], Fault, &[u8], usize)] = &[
            (b"x", Fault::NotANumber, b"x", 0),
            (b"1 2 x 3", Fault::NotANumber, b"x", 4),
            (b"1\n2\n3x\n", Fault::NotANumber, b"3x", 4),
            (b"# head\n 0x7", Fault::NotANumber, b"0x7", 8),
            (b"1 #2", Fault::NotANumber, b"#2", 2),
            (b"1\\ 2", Fault::NotANumber, b"1\\ 2", 0),
            (b"1 -1", Fault::OutOfRange, b"-1", 2),
            (b"1 4000001 2", Fault::NoTask, b"4000001", 2),
            (b"4194305", Fault::OutOfRange, b"4194305", 0),
            (
                b"18446744073709551617 1",
                Fault::OutOfRange,
                b"18446744073709551617",
                0,
            ),
            (b"1 2\0", Fault::Nul, b"2", 3),
            (
                b"\x7fELF\x02\x01\x01\0\0",
                Fault::Nul,
                b"\x7fELF\x02\x01\x01",
                7,
            ),
            (b"1 \xff\xfe 2", Fault::NotANumber, b"\xff\xfe", 2),
        ];
        for (text, fault, token, offset) in cases {
            assert_refused(name, text, *fault, token, *offset);
        }
        let digits = [b'1'; 5000];
        let kept = &digits[..MAX_TOKEN];
        assert_refused(name, &digits, Fault::NotANumber, kept, 0);
    }
    for name in [ListName::Comm, ListName::NotraceComm] {
        let cases: &[(&[u8], Fault, &[u8], usize)] = &[
            (b"ok [a", Fault::UnterminatedClass, b"[a", 3),
            (b"[a b]", Fault::UnterminatedClass, b"[a", 0),
            (b"ok\n\\", Fault::TrailingBackslash, b"\\", 3),
            (b"a\x01b", Fault::ControlCharacter, b"a\x01b", 0),
            (b"a\\\tb", Fault::ControlCharacter, b"a\\\tb", 0),
            (b"a\0", Fault::Nul, b"a", 1),
            (b"# \0", Fault::Nul, b"", 2),
            (
                b"ok 0123456789abcdef",
                Fault::NameTooLong,
                b"0123456789abcdef",
                3,
            ),
        ];
        for (text, fault, token, offset) in cases {
            assert_refused(name, text, *fault, token, *offset);
        }
        let long = [b"ok ".as_slice(), &[b'*'; 5000]].concat();
        let kept = &long[3..3 + MAX_TOKEN];
        assert_refused(name, &long, Fault::NameTooLong, kept, 3);
    }
    for name in [ListName::Cgroup, ListName::NotraceCgroup] {
        let cases: &[(&[u8], Fault, &[u8], usize)] = &[
            (b"/a 0", Fault::NoCgroup, b"0", 3),
            (b"1x", Fault::NoCgroup, b"1x", 0),
            (b"1 /none 2", Fault::NoCgroup, b"/none", 2),
            (b"/a b", Fault::NoCgroup, b"b", 3),
            (b"/a\0", Fault::Nul, b"/a", 2),
        ];
        for (text, fault, token, offset) in cases {
            assert_refused(name, text, *fault, token, *offset);
        }
        let long = [b"/a /".as_slice(), &[b'b'; 5000]].concat();
        let kept = &long[3..3 + MAX_TOKEN];
        assert_refused(name, &long, Fault::NoCgroup, kept, 3);
    }
    assert_eq!(NO_TASK, 4_000_001);
}

#[test]
fn cgroups_are_kept_by_their_ids() {
    let current = Filter::default();
    let text = b"/a/b /with\\ space\n/with\\x2descape 77 102 /\n";
    for size in [1, 3, text.len()] {
        let mut input = Input::new(ListName::Cgroup, &NAMESPACES);
        text.chunks(size)
            .try_for_each(|piece| input.write(piece))
            .unwrap();
        let filter = finished(&mut input, true, &current).unwrap();
        assert_eq!(filter.cgroup.as_slice(), [1, 77, 102, 103, 104]);
        assert!(filter.needs_cgroups() && !filter.is_empty());
    }
}

#[test]
fn after_an_error_nothing_more_is_taken() {
    let current = full();
    let mut input = Input::new(ListName::Pid, &NAMESPACES);
    assert!(input.write(b"1 2").is_ok());
    let first = input.write(b"x 3").unwrap_err();
    assert_eq!((first.token(), first.offset()), (b"2x".as_slice(), 2));
    for error in [
        input.write(b"4 5 6\n").unwrap_err(),
        input.write(b"").unwrap_err(),
        input.finish().unwrap_err(),
        finished(&mut input, true, &current).err().unwrap(),
    ] {
        assert_eq!(error.fault(), Fault::NotANumber);
        assert_eq!(error.token(), b"2x");
        assert_eq!(error.offset(), 2);
    }
}

#[test]
fn a_word_goes_on_in_the_next_write_unless_it_is_finished() {
    let current = Filter::default();
    let mut input = Input::new(ListName::Tgid, &NAMESPACES);
    for piece in [b"1".as_slice(), b"2", b"", b" 3", b"4\n"] {
        input.write(piece).unwrap();
    }
    let filter = finished(&mut input, true, &current).unwrap();
    assert_eq!(filter.tgid.as_slice(), [12, 34]);

    let mut input = Input::new(ListName::Tgid, &NAMESPACES);
    for piece in [b"1", b"2", b"3"] {
        input.write(piece).unwrap();
        input.finish().unwrap();
    }
    let filter = finished(&mut input, true, &current).unwrap();
    assert_eq!(filter.tgid.as_slice(), [1, 2, 3]);
}

#[test]
fn what_was_taken_is_not_taken_again_and_a_half_word_stays() {
    let mut input = Input::new(ListName::Pid, &NAMESPACES);
    input.write(b"1 2 3").unwrap();
    assert!(input.has_entries());
    let filter = input.take(true, &Filter::default()).unwrap();
    assert_eq!(filter.pid.as_slice(), [1, 2]);
    assert!(!input.has_entries());
    input.write(b"4 5\n").unwrap();
    let filter = input.take(false, &filter).unwrap();
    assert_eq!(filter.pid.as_slice(), [1, 2, 5, 34]);
    assert!(!input.has_failed());
    input.write(b"x\n").unwrap_err();
    assert!(input.has_failed());
}

#[test]
fn huge_writes_are_taken_or_refused_in_full() {
    const MIB: usize = 1 << 20;
    let current = full();

    // Long texts with few entries.
    for (text, count) in [
        (b"1 ".repeat(MIB / 2), 1),
        (b"7\n8\n".repeat(MIB / 4), 2),
        (vec![b' '; MIB], 0),
        (b"#\n".repeat(MIB / 2), 0),
        ([b"#".as_slice(), &vec![b'x'; MIB], b"\n3"].concat(), 1),
    ] {
        let filter = write(ListName::Pid, &text, true, &current).unwrap();
        assert_eq!(filter.pid.len(), count);
    }

    // The maximum number of entries, in either order, and one more.
    let up: Vec<String> = (0..=MAX_IDS).map(|id| id.to_string()).collect();
    let down: Vec<String> = up.iter().rev().cloned().collect();
    for ids in [up, down] {
        let most = ids[..MAX_IDS].join("\n");
        let filter = write(ListName::Pid, most.as_bytes(), true, &current).unwrap();
        assert_eq!(filter.pid.len(), MAX_IDS);
        // Writing the same entries again adds none.
        let again = write(ListName::Pid, most.as_bytes(), false, &filter).unwrap();
        assert_eq!(again.pid.len(), MAX_IDS);

        let last = ids[MAX_IDS].as_bytes();
        let text = ids.join("\n");
        assert_refused(
            ListName::Pid,
            text.as_bytes(),
            Fault::TooMany,
            last,
            most.len() + 1,
        );
        let error = write(ListName::Pid, last, false, &filter).err().unwrap();
        assert_eq!(error.fault(), Fault::TooMany);
    }

    let patterns: Vec<String> = (0..=MAX_GLOBS).map(|i| format!("t{i}*")).collect();
    let most = patterns[..MAX_GLOBS].join(" ");
    let filter = write(ListName::Comm, most.as_bytes(), true, &current).unwrap();
    assert_eq!(filter.comm.len(), MAX_GLOBS);
    assert_refused(
        ListName::Comm,
        patterns.join(" ").as_bytes(),
        Fault::TooMany,
        patterns[MAX_GLOBS].as_bytes(),
        most.len() + 1,
    );
}

#[test]
fn whenever_memory_ends_nothing_changes() {
    for (name, text) in [
        (ListName::NotracePid, b"1 2 3 4 5 6 7 8 9".as_slice()),
        (ListName::Comm, b"a b c d e f g h i"),
        (ListName::Cgroup, b"/a /a/b /with\\ space 1 2 3 4 5"),
    ] {
        for replace in [false, true] {
            let current = full();
            let before = snapshot(&current);
            let mut left = 0;
            loop {
                limit_allocations(Some(left));
                let result = write(name, text, replace, &current);
                limit_allocations(None);
                assert_eq!(snapshot(&current), before);
                match result {
                    Ok(filter) => {
                        assert_ne!(snapshot(&filter), before);
                        break;
                    }
                    Err(error) => {
                        assert_eq!(error.fault(), Fault::NoMemory);
                        assert_eq!(error.errno().to_errno(), -12);
                    }
                }
                left += 1;
            }
            assert!(left > 5, "only {left} allocations were needed");
        }
    }
}

#[test]
fn switches_are_0_or_1() {
    for (text, on) in [
        (b"0".as_slice(), false),
        (b"1", true),
        (b"0\n", false),
        (b" 1 \n", true),
        (b"# follow_fork: 1 or 0\n0\n", false),
        (b"\n  # 0\n# 0\n\n 1\n# 0", true),
    ] {
        assert_eq!(parse_switch(text).ok(), Some(Some(on)));
    }
    for text in [b"#".as_slice(), b"# 1\n", b"\n #1\n\n#0\n"] {
        assert_eq!(parse_switch(text).ok(), Some(None));
    }
    for text in [
        b"".as_slice(),
        b"\n",
        b"2",
        b"-1",
        b"00",
        b"01",
        b"10",
        b"0 1",
        b"y",
        b"on",
        b"1\0",
        b"0x1",
        b"1 # 1",
        b"# 1\n2\n",
        b"0\n# between\n1\n",
        &[b'1'; 5000],
    ] {
        let error = parse_switch(text).unwrap_err();
        assert_eq!(error.fault(), Fault::NotASwitch);
        assert_eq!(error.errno().to_errno(), -22);
    }
}

#[test]
fn every_fault_has_its_message_and_errno() {
    let faults = [
        (Fault::NotANumber, 22, "number"),
        (Fault::OutOfRange, 34, "range"),
        (Fault::NameTooLong, 36, "long"),
        (Fault::Empty, 22, "mpty"),
        (Fault::UnterminatedClass, 22, "]"),
        (Fault::TrailingBackslash, 22, "ackslash"),
        (Fault::ControlCharacter, 22, "ontrol"),
        (Fault::Nul, 22, "NUL"),
        (Fault::TooMany, 28, "many"),
        (Fault::NotASwitch, 22, "1"),
        (Fault::NoMemory, 12, "memory"),
        (Fault::NotADepth, 22, "depth"),
        (Fault::NotAThreshold, 22, "threshold"),
        (Fault::NotPacked, 95, "persistent"),
        (Fault::NoPacks, 95, "this kernel"),
        (Fault::RuleTooLong, 22, "256"),
        (Fault::NotAMoment, 22, "moment"),
        (Fault::NotARule, 22, "WHEN"),
        (Fault::NotAFunction, 22, "Missing function"),
        (Fault::NoFunction, 22, "No such function"),
        (Fault::NotASignal, 22, "signal"),
        (Fault::TooManyParts, 22, "4"),
        (Fault::NotACondition, 22, "condition"),
        (Fault::NotKnown, 22, "Not known"),
        (Fault::NotATime, 22, "unit"),
        (Fault::NotAValue, 22, "Invalid number"),
        (Fault::NotAnAction, 22, "action"),
        (Fault::NoSnapshot, 95, "snapshot"),
        (Fault::NoDump, 95, "console"),
        (Fault::NotDelayed, 22, "delayed"),
        (Fault::MarkerTooLong, 36, "55"),
        (Fault::NotMicroseconds, 22, "microseconds"),
        (Fault::NoTask, 3, "PID namespace"),
        (Fault::NoCgroup, 2, "cgroup"),
    ];
    assert_eq!(faults.len(), Fault::MESSAGES.len());
    let mut messages = HashSet::new();
    for (i, (fault, errno, part)) in faults.into_iter().enumerate() {
        assert_eq!(usize::from(fault.index()), i);
        assert_eq!(fault.message(), Fault::MESSAGES[i]);
        assert!(messages.insert(fault.message()));
        let message = fault.message().to_str().unwrap();
        assert!(message.contains(part), "{message}");
        assert_eq!(fault.errno().to_errno(), -errno);
        let error = InputError::new(fault, b"word", 3);
        assert_eq!(error.errno(), fault.errno());
        assert_eq!(Error::from(error), fault.errno());
    }
}

#[test]
fn an_error_keeps_the_beginning_of_a_long_word() {
    for len in [0, 1, MAX_TOKEN - 1, MAX_TOKEN, MAX_TOKEN + 1, 1 << 16] {
        let word: Vec<u8> = (0..len).map(|i| b'a' + (i % 26) as u8).collect();
        let error = InputError::new(Fault::NotANumber, &word, usize::MAX);
        assert_eq!(error.token(), &word[..len.min(MAX_TOKEN)]);
        assert_eq!(error.offset(), usize::MAX);
    }
}
