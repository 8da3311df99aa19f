// SPDX-License-Identifier: GPL-2.0

//! Trigger rules: what is accepted, what is refused and why, and when a rule holds.

use crate::{
    filter::error::Fault,
    trigger_rule::{
        Action,
        Facts,
        Moment,
        Quantity,
        Rule,
        MAX_RULE, //
    },
};

fn parse(text: &str) -> Rule {
    match Rule::parse(text.as_bytes(), 0, Some) {
        Ok(rule) => rule,
        Err(error) => panic!("{text}: {:?}", error.fault()),
    }
}

#[track_caller]
fn refused(text: &str, fault: Fault, word: &str) {
    let error = Rule::parse(text.as_bytes(), 100, Some).err();
    let error = error.unwrap_or_else(|| panic!("'{text}' was accepted"));
    assert_eq!(error.fault(), fault, "{text}");
    assert_eq!(
        error.token(),
        &word.as_bytes()[..word.len().min(64)],
        "{text}"
    );
    let at = error.offset() - 100;
    assert!(text[at..].starts_with(word), "{text}: {at}");
}

fn facts() -> Facts<'static> {
    Facts::new(42, b"camera-7")
}

#[test]
fn parts_of_a_rule() {
    let rule = parse("exit vfs_read if block > 20ms && comm ~ cam* do snapshot, stop:3");
    assert_eq!(rule.moment(), Moment::Exit);
    assert_eq!(rule.function(), b"vfs_read");
    assert!(rule.does(Action::Snapshot) && rule.does(Action::Stop));
    assert!(!rule.does(Action::Start) && !rule.does(Action::StackTrace));
    assert_eq!(rule.limit(), 3);
    assert_eq!(rule.text().as_bytes().len(), 64);

    let rule = parse("entry  vfs_* do start");
    assert_eq!(
        (rule.moment(), rule.function()),
        (Moment::Entry, b"vfs_*".as_slice())
    );
    assert_eq!(rule.limit(), u64::MAX);
    assert_eq!(parse("block do stop").function(), b"");
    let rule = parse("irqs-off if total > 1ms do dump, stop after 1s");
    assert_eq!(rule.moment(), Moment::IrqsOff);
    assert!(rule.has(Action::Dump) && !rule.holds(&facts()));
    assert!(rule.holds(&facts().with_ns(Quantity::Total, 1_000_001)));
    assert_eq!(facts().with_ns(Quantity::Total, 7).value(&rule), 7);
    let rule = parse("preempt-off do stop");
    assert!(rule.moment() == Moment::PreemptOff && rule.holds(&facts()));
    assert!(parse("block do stacktrace , stop : 1").does(Action::Stop));
    assert!(parse("signal 9 do stop").moment().bit() != Moment::Exec.bit());
}

#[test]
fn delays() {
    let rule = parse("block do stacktrace, snapshot after 100ms, stop after 2s, start:5");
    let all: Vec<_> = rule.actions().collect();
    let ms = 1_000_000;
    assert_eq!(
        all,
        [
            (Action::StackTrace, 0),
            (Action::Snapshot, 100 * ms),
            (Action::Stop, 2000 * ms),
            (Action::Start, 0),
        ]
    );
    assert!(rule.has(Action::Stop) && !rule.does(Action::Stop) && rule.does(Action::Start));
    refused(
        "block do stacktrace after 1ms",
        Fault::NotDelayed,
        "stacktrace",
    );
    refused("block do stop after", Fault::NotATime, "");
    refused("block do stop after 2", Fault::NotATime, "2");
    refused("block do stop after 2s start", Fault::NotARule, "start");
    refused(
        "block do stop, stop, stop, stop, stop",
        Fault::TooManyParts,
        "stop",
    );
}

#[test]
fn time_since_the_rule_was_written() {
    let rule = parse("after 30s do snapshot after 2s, stop:3");
    assert_eq!(rule.moment(), Moment::After);
    assert_eq!(rule.after_ns(), 30_000_000_000);
    assert_eq!(rule.limit(), 1);
    let facts = Facts::new(0, b"").with_ns(Quantity::Total, 31_000_000_000);
    assert!(rule.holds(&facts));
    assert_eq!(facts.value(&rule), 31_000_000_000);
}

#[test]
fn ids_of_a_namespace() {
    let global_pid = |id| (id < 10).then_some(id + 1000);
    let text = b"block if pid != 7 && block > 1ms && pid == 3 do stop";
    let rule = Rule::parse(text, 0, global_pid).ok().unwrap();
    let facts = |pid| Facts::new(pid, b"x").with_ns(Quantity::Block, 2_000_000);
    assert!(rule.holds(&facts(1003)));
    assert!(!rule.holds(&facts(1007)) && !rule.holds(&facts(3)));
    let mut shown = String::new();
    rule.write_text(|text, id| {
        shown += core::str::from_utf8(text).unwrap();
        shown += &id.map_or(String::new(), |id| id.to_string());
    });
    assert_eq!(
        shown,
        "block if pid != 1007 && block > 1ms && pid == 1003 do stop"
    );
    let error = Rule::parse(b"block if pid == 10 do stop", 5, global_pid);
    let error = error.err().unwrap();
    assert_eq!((error.fault(), error.offset()), (Fault::NoTask, 21));
}

#[test]
fn conditions() {
    let rule = parse("exit f if block > 20ms do stop");
    let blocked = |ns| facts().with_ns(Quantity::Block, ns);
    assert!(!rule.holds(&blocked(20_000_000)));
    assert!(rule.holds(&blocked(20_000_001)));
    assert!(rule.holds(&blocked(u64::MAX)));

    for (text, holds) in [
        ("retval < 0", true),
        ("retval<0", true),
        ("retval <= -5", true),
        ("retval == -5", true),
        ("retval != -5", false),
        ("retval >= -4", false),
        ("retval > -6", true),
        ("pid == 42", true),
        ("pid == 43", false),
        ("comm ~ camera-?", true),
        ("comm ~ camera", false),
        (
            "retval < 0 && pid == 42 && total >= 7us && total < 8us",
            true,
        ),
        ("retval < 0 && pid == 41", false),
        ("total > 0ns && run == 0s", true),
    ] {
        let facts = facts().with(Quantity::Retval, -5);
        let facts = facts.with_ns(Quantity::Total, 7_000);
        let rule = parse(&format!("exit f if {text} do stop"));
        assert_eq!(rule.holds(&facts), holds, "{text}");
    }
}

#[test]
fn return_values() {
    let negative = parse("exit f if retval < 0 do stop");
    let retval = |value| facts().with_retval(value);
    for value in [
        -1i64 as u64,
        -4095i64 as u64,
        i64::MIN as u64,
        0xffff_ffff,
        0xffff_f001,
    ] {
        assert!(negative.holds(&retval(value)), "{value:#x}");
    }
    for value in [
        0,
        1,
        0xffff_f000,
        0x8000_0000,
        0x1_ffff_ffff,
        i64::MAX as u64,
    ] {
        assert!(!negative.holds(&retval(value)), "{value:#x}");
    }
    assert!(parse("exit f if retval == -2 do stop").holds(&retval(0xffff_fffe)));
}

#[test]
fn names_and_signals() {
    assert!(parse("exec cam* do stop").holds(&facts()));
    assert!(!parse("exec cat* do stop").holds(&facts()));

    let sig = |number| facts().with_signal(number, false);
    for (text, number) in [
        ("SEGV", 11),
        ("SIGSEGV", 11),
        ("11", 11),
        ("HUP", 1),
        ("SYS", 31),
        ("64", 64),
    ] {
        let rule = parse(&format!("signal {text} do stop"));
        for other in 0..=65 {
            assert_eq!(rule.holds(&sig(other)), other == number, "{text} {other}");
        }
    }
    let fatal = parse("signal fatal if sig != 9 do stop");
    for (number, is_fatal, holds) in [(11, true, true), (11, false, false), (9, true, false)] {
        assert_eq!(
            fatal.holds(&facts().with_signal(number, is_fatal)),
            holds,
            "{number}"
        );
    }
}

#[test]
fn reported_number() {
    let facts = facts()
        .with_ns(Quantity::Total, 70)
        .with_ns(Quantity::Block, 30);
    assert_eq!(facts.value(&parse("exit f do stop")), 70);
    assert_eq!(
        facts.value(&parse(
            "exit f if comm ~ * && block > 1ns && total > 1ns do stop"
        )),
        30
    );
    assert_eq!(facts.value(&parse("entry f do stop")), 42);
}

#[test]
fn refused_rules() {
    refused("", Fault::NotAMoment, "");
    refused("leave f do stop", Fault::NotAMoment, "leave");
    refused("exit", Fault::NotAFunction, "");
    refused("exit if block > 1ms do stop", Fault::NotAFunction, "if");
    refused("exit f", Fault::NotARule, "");
    refused("exit f block > 1ms do stop", Fault::NotARule, "block");
    refused("exit f if block > 1ms", Fault::NotARule, "");
    refused("exit f if block > 1ms stop", Fault::NotARule, "stop");
    refused(
        "exit f if blocked > 1ms do stop",
        Fault::NotACondition,
        "blocked",
    );
    refused("exit f if block => 1ms do stop", Fault::NotACondition, "=>");
    refused("exit f if block 1ms do stop", Fault::NotACondition, "");
    refused("exit f if block > 1 do stop", Fault::NotATime, "1");
    refused("exit f if block > 1min do stop", Fault::NotATime, "1min");
    refused("exit f if block > -1ms do stop", Fault::NotATime, "-1ms");
    refused(
        "exit f if block > 10000000000s do stop",
        Fault::NotATime,
        "10000000000s",
    );
    refused("exit f if retval < zero do stop", Fault::NotAValue, "zero");
    refused("entry f if block > 1ms do stop", Fault::NotKnown, "block");
    refused("wait if run > 1ms do stop", Fault::NotKnown, "run");
    refused("block if sig == 1 do stop", Fault::NotKnown, "sig");
    refused("exit f if comm = a do stop", Fault::NotACondition, "=");
    refused(
        "exit f if comm ~ [a do stop",
        Fault::UnterminatedClass,
        "[a",
    );
    refused(
        "exec a-name-of-17-byt do stop",
        Fault::NameTooLong,
        "a-name-of-17-byt",
    );
    let long = "m".repeat(56);
    refused(
        &format!("section {long} do stop"),
        Fault::MarkerTooLong,
        &long,
    );
    refused("marker do stop", Fault::NotARule, "stop");
    refused("marker x if total > 1s do stop", Fault::NotKnown, "total");
    refused("counter x if run > 1s do stop", Fault::NotKnown, "run");
    refused("section x if value > 1 do stop", Fault::NotKnown, "value");
    refused("signal SIGFOO do stop", Fault::NotASignal, "SIGFOO");
    refused("signal 65 do stop", Fault::NotASignal, "65");
    refused("signal 0 do stop", Fault::NotASignal, "0");
    refused("irqs-off if run > 1ms do stop", Fault::NotKnown, "run");
    refused("irqs-off f do stop", Fault::NotARule, "f");
    refused("after do stop", Fault::NotATime, "do");
    refused("after 30 do stop", Fault::NotATime, "30");
    refused("after 1s if pid == 1 do stop", Fault::NotKnown, "pid");
    refused("after 1s if comm ~ x do stop", Fault::NotKnown, "comm");
    refused("after 1s if total > 1s do stop", Fault::NotKnown, "total");
    refused("after 1s do stacktrace", Fault::NotKnown, "stacktrace");
    refused("block if pid > 1 do stop", Fault::NotACondition, ">");
    refused("block if pid == -1 do stop", Fault::NoTask, "-1");
    refused(
        "block if pid == 4294967338 do stop",
        Fault::NoTask,
        "4294967338",
    );
    refused("block do", Fault::NotAnAction, "");
    refused("block do halt", Fault::NotAnAction, "halt");
    refused("block do stop,", Fault::NotAnAction, "");
    refused("block do stop; start", Fault::NotARule, ";");
    refused("block do stop start", Fault::NotARule, "start");
    refused("block do stop:0", Fault::NotAValue, "0");
    refused("block do stop:x", Fault::NotAValue, "x");
    refused("block do stop:1 2", Fault::NotARule, "2");
    let five = "exit f if pid != 1 && pid != 2 && pid != 3 && pid != 4 && pid != 5 do stop";
    refused(five, Fault::TooManyParts, "pid");
    let long = format!("exit {} do stop", "f".repeat(129));
    refused(&long, Fault::NotAFunction, &"f".repeat(129));
    let long = format!("exit {} do stop", "f".repeat(MAX_RULE));
    refused(&long, Fault::RuleTooLong, &long.clone());
}

#[test]
fn names_of_markers() {
    let named = |name: &'static [u8]| facts().with_name(name);
    let rule = parse("section load?file*5 if total > 50ms && wait > 1ms do stop");
    assert_eq!(rule.moment(), Moment::Section);
    let long = |facts: Facts<'static>| {
        facts
            .with_ns(Quantity::Total, 50_000_001)
            .with_ns(Quantity::Wait, 1_000_001)
    };
    assert!(rule.holds(&long(named(b"load file number 15"))));
    assert!(!rule.holds(&long(named(b"load file number 16"))));
    assert!(!rule.holds(&named(b"load file number 15")));
    // It is not matched with the name of the task.
    assert!(!parse("marker cam* do stop").holds(&named(b"x")));
    assert!(parse("marker x if comm ~ cam* do stop").holds(&named(b"x")));
    // The first 55 bytes are compared.
    let name = [b'n'; 80];
    let rule = parse(&format!("marker {} do stop", "n".repeat(55)));
    assert!(rule.holds(&facts().with_name(&name)));
    assert!(!rule.holds(&facts().with_name(&name[..54])));

    let rule = parse("counter fps if value <= -5 do start");
    let counted = |value| named(b"fps").with(Quantity::Value, value);
    assert!(rule.holds(&counted(-5)) && !rule.holds(&counted(-4)));
    assert_eq!(counted(-7).value(&rule), -7);
}

#[test]
fn any_bytes_are_read() {
    let mut random = crate::random::Random::new(7);
    let words = [
        "entry", "exit", "block", "signal", "exec", "after", "vfs_*", "if", "do", "stop",
        "snapshot", ",", ":1", "&&", ">", "20ms", "retval", "comm", "~", "fatal", "-1", "\u{7f}",
        "", " ", "#",
    ];
    let mut accepted = 0;
    for _ in 0..200_000 {
        let count = random.below(9);
        let text: Vec<_> = (0..count)
            .map(|_| words[random.below(words.len())])
            .collect();
        if let Ok(rule) = Rule::parse(text.join(" ").as_bytes(), 0, Some) {
            accepted += 1;
            assert!(Rule::parse(rule.text().as_bytes(), 0, Some).is_ok());
            rule.holds(&facts());
        }
    }
    assert!(accepted > 10, "{accepted}");
}
