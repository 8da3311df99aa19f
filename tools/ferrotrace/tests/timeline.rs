// SPDX-License-Identifier: MIT OR Apache-2.0

//! The packets of `ferrotrace timeline`. `scripts` of the project load timelines into Perfetto's
//! trace processor; this test needs no other program.

mod common;
#[allow(dead_code, missing_docs, reason = "shared with the program")]
#[path = "../src/timeline/messages.rs"]
mod messages;

use std::{
    collections::{
        HashMap,
        HashSet, //
    },
    fs,
    path::Path, //
};

use common::{
    data,
    ferrotrace,
    number,
    output,
    recording,
    temporary,
    word, //
    NAMES,
};
use messages::{
    Argument,
    Packet,
    TaskStateKind,
    TrackEvent,
    TrackEventKind, //
};
use prost::Message;

#[derive(Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}

fn timeline(name: &str, arguments: &[&str]) -> Vec<Packet> {
    timeline_of(&recording("timeline", name), arguments)
}

fn timeline_of(path: &Path, arguments: &[&str]) -> Vec<Packet> {
    let out = path.with_extension("pftrace");
    let mut all = vec!["-o", out.to_str().expect("UTF-8")];
    all.extend(arguments);
    assert_eq!(output("timeline", path, &all), "");
    let content = fs::read(&out).expect("a timeline");
    Trace::decode(content.as_slice()).expect("protobuf").packets
}

#[test]
fn slices_are_nested() {
    for name in NAMES {
        let mut events: Vec<_> = timeline(name, &[])
            .into_iter()
            .filter_map(|packet| Some((packet.timestamp?, packet.track_event?)))
            .collect();
        // As Perfetto does: packets of the same time keep their order.
        events.sort_by_key(|(time, _)| *time);
        let mut open: HashMap<u64, usize> = HashMap::new();
        let mut calls = 0;
        for (time, event) in &events {
            let depth = open.entry(event.track.expect("a track")).or_default();
            match TrackEventKind::try_from(event.kind.expect("a kind")) {
                Ok(TrackEventKind::Begin) => *depth += 1,
                Ok(TrackEventKind::End) => {
                    assert!(*depth > 0, "{name}: an end without a beginning at {time}");
                    *depth -= 1;
                    calls += u32::from(event.arguments.len() >= 3);
                }
                _ => {}
            }
        }
        assert!(open.values().all(|depth| *depth == 0), "{name}");
        assert!(calls > 900, "{name}: {calls} calls");
    }
}

#[test]
fn no_task_has_two_states_at_a_time() {
    for name in ["std-events", "compact-events", "arm64-events"] {
        let mut states: HashMap<i64, Vec<(u64, i32)>> = HashMap::new();
        for packet in timeline(name, &[]) {
            if let (Some(time), Some(state)) = (packet.timestamp, packet.state) {
                let tid = state.tid.expect("a task");
                let state = state.state.expect("a state");
                states.entry(tid).or_default().push((time, state));
            }
        }
        assert!(states.len() > 20, "{name}");
        for (tid, states) in &mut states {
            states.sort_unstable();
            for pair in states.windows(2) {
                assert_ne!(pair[0].0, pair[1].0, "{name}: task {tid}");
            }
            assert!(states
                .iter()
                .all(|(_, state)| *state != TaskStateKind::Unknown as i32));
        }
    }
}

/// Perfetto ignores an arrow that goes back in time.
#[test]
fn arrows_do_not_go_back_in_time() {
    for (name, wakeups) in [
        ("std-events", 58),
        ("compact-events", 58),
        ("arm64-events", 41),
    ] {
        let mut begins = HashMap::new();
        let mut arrows = 0;
        for packet in timeline(name, &[]) {
            let (Some(time), Some(event)) = (packet.timestamp, packet.track_event) else {
                continue;
            };
            begins.extend(event.flows.iter().map(|flow| (*flow, time)));
            for flow in &event.ending_flows {
                let begin = begins.remove(flow).expect("an arrow begins before it ends");
                assert!(begin <= time, "{name}: {begin} {time}");
                arrows += 1;
            }
        }
        assert_eq!(arrows, wakeups, "{name}");
    }
}

#[test]
fn fields_are_counters() {
    let packets = timeline("std-events", &["--counter", "task_run:run_ns"]);
    let values: Vec<_> = packets
        .iter()
        .filter_map(|packet| packet.track_event.as_ref()?.counter_value)
        .collect();
    assert!(values.len() > 100);
    assert!(
        values.contains(&21_988_588),
        "the first event of the kernel's text"
    );
}

/// Returns the values of each counter, by the name of its track.
fn counters(packets: &[Packet]) -> HashMap<&str, Vec<i64>> {
    let mut names = HashMap::new();
    let mut values: HashMap<_, Vec<_>> = HashMap::new();
    for packet in packets {
        if let Some(track) = packet
            .track
            .as_ref()
            .filter(|track| track.counter.is_some())
        {
            let name = track.name.as_deref().expect("a name");
            assert!(names.insert(track.uuid, name).is_none(), "{name}");
        }
        let event = packet.track_event.as_ref();
        if let Some((track, value)) =
            event.and_then(|event| Some((event.track, event.counter_value?)))
        {
            values.entry(names[&track]).or_default().push(value);
        }
    }
    assert_eq!(values.len(), names.len());
    values
}

#[test]
fn counters_have_a_track_for_each_value_of_a_key() {
    let text = String::from_utf8(data("std-events.txt")).expect("UTF-8");
    for (field, event) in [("pid", "task_run"), ("comm", "ferrotrace:task_run")] {
        let mut expected: HashMap<_, Vec<_>> = HashMap::new();
        for line in text.lines().filter(|line| line.contains(" task_run: ")) {
            let run = i64::try_from(number(line, "run").expect(line)).expect(line);
            let name = format!("{event}:run_ns {field}={}", word(line, field));
            expected.entry(name).or_default().push(run);
        }
        assert!(expected.len() > 5, "{expected:?}");
        let counter = format!("{event}:run_ns:{field}");
        let wait = "task_wait:wait_ns";
        let packets = timeline("std-events", &["--counter", wait, "--counter", &counter]);
        let mut found = counters(&packets);
        assert!(found.remove(wait).expect("a counter without a key").len() > 100);
        assert_eq!(found.len(), expected.len());
        for (name, values) in found {
            assert_eq!(values, expected[name], "{name}");
        }
    }
}

#[test]
fn counters_that_do_not_exist_are_errors() {
    let path = recording("counters", "arm64-events");
    let out = temporary("counters", "x.pftrace");
    let out = out.to_str().expect("UTF-8");
    for (counter, status, message) in [
        ("task_run", 2, "expected [GROUP:]EVENT:FIELD[:KEY]"),
        ("task_run:", 2, "expected [GROUP:]EVENT:FIELD[:KEY]"),
        ("a:b:c:d:e", 2, "expected [GROUP:]EVENT:FIELD[:KEY]"),
        ("a:task_run:run_ns:pid", 1, "has no event 'task_run'"),
        (
            "task_run:pid:x",
            1,
            "'task_run' has no number or text 'x' (it has ",
        ),
        ("ferrotrace:task_run:pid:x", 1, "no number or text 'x'"),
        (
            "funcgraph_exit:depth:calltime",
            1,
            "'calltime' has more than 1000 values",
        ),
        ("nothing:x", 1, "has no event 'nothing'"),
        ("ferrotrace:nothing:x", 1, "has no event 'nothing'"),
        ("task_run:x", 1, "no numeric field 'x'"),
        (
            "task_run:comm",
            1,
            "no numeric field 'comm' (it has pid, prio, state, run_ns)",
        ),
    ] {
        let output = ferrotrace("timeline", &path, &["-o", out, "--counter", counter]);
        assert_eq!(output.status.code(), Some(status), "{counter}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(message), "{errors}");
    }
}

/// Returns the beginning, the end and the arguments of each slice on the tracks of this name, by
/// the names of the slices.
fn slices(packets: &[Packet], track: &str) -> Vec<(String, u64, u64, Vec<i128>)> {
    let tracks: HashSet<_> = packets
        .iter()
        .filter_map(|packet| packet.track.as_ref())
        .filter(|descriptor| descriptor.name.as_deref() == Some(track))
        .filter_map(|descriptor| descriptor.uuid)
        .collect();
    let mut events: Vec<_> = packets
        .iter()
        .filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
        .filter(|(_, event)| event.track.is_some_and(|track| tracks.contains(&track)))
        .collect();
    events.sort_by_key(|(time, _)| *time);
    let mut open: HashMap<u64, Vec<(String, u64)>> = HashMap::new();
    let mut slices = Vec::new();
    for (time, event) in events {
        let open = open.entry(event.track.expect("a track")).or_default();
        if event.kind == Some(TrackEventKind::Begin.into()) {
            open.push((event.name.clone().expect("a name"), time));
            continue;
        }
        let (name, begin) = open.pop().expect("an end has a beginning");
        slices.push((name, begin, time, arguments(event)));
    }
    assert!(open.values().all(Vec::is_empty));
    slices
}

fn arguments(event: &TrackEvent) -> Vec<i128> {
    let number = |argument: &Argument| {
        let number = argument.number.map(i128::from);
        number
            .or(argument.signed.map(i128::from))
            .expect("a number")
    };
    event.arguments.iter().map(number).collect()
}

#[test]
fn sections_are_slices_if_there_are_no_marks() {
    let packets = timeline("sections", &[]);
    // The task `late` marked them; its marks are not in the recording.
    let found = slices(&packets, "sections");
    let expected: [(&str, u64, [i128; 3]); 3] = [
        ("inner", 37_238_411, [2_646_433, 3_996_525, 30_595_453]),
        ("inner", 56_825, [56_825, 0, 0]),
        ("outer one", 38_189_516, [3_597_538, 3_996_525, 30_595_453]),
    ];
    assert_eq!(found.len(), expected.len());
    for ((name, begin, end, times), expected) in found.iter().zip(expected) {
        assert_eq!(
            (name.as_str(), end - begin, &times[..]),
            (expected.0, expected.1, &expected.2[..])
        );
    }
    // These two overlap.
    let found = slices(&packets, "async sections");
    let found: Vec<_> = found
        .iter()
        .map(|(name, begin, end, cookie)| (name.as_str(), end - begin, &cookie[..]))
        .collect();
    assert_eq!(
        found,
        [
            ("fetch", 37_863_487, &[1][..]),
            ("fetch", 961_039, &[-2][..])
        ]
    );
    // Perfetto makes those of `app` from its marks.
    let marks: Vec<_> = packets
        .iter()
        .flat_map(|packet| {
            packet
                .ftrace_events
                .iter()
                .flat_map(|bundle| &bundle.events)
        })
        .filter_map(|event| event.print.as_ref()?.buf.as_deref())
        .collect();
    assert_eq!(marks.len(), 9, "{marks:?}");
    assert!(marks.contains(&"B|130|frame\n") && marks.contains(&"F|130|request|7\n"));
}

#[test]
fn triggers_are_instants_of_their_tasks() {
    let packets = timeline("sections", &[]);
    let task = packets
        .iter()
        .filter_map(|packet| packet.track.as_ref())
        .find(|track| {
            track
                .thread
                .as_ref()
                .is_some_and(|thread| thread.tid == Some(130))
        })
        .and_then(|track| track.uuid);
    let instants: Vec<_> = packets
        .iter()
        .filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
        .filter(|(_, event)| event.kind == Some(TrackEventKind::Instant.into()))
        .filter(|(_, event)| event.track == task)
        .map(|(time, event)| {
            let name = event.name.as_deref().expect("a name");
            (time / 1000, name, arguments(event))
        })
        .collect();
    assert_eq!(
        instants,
        [
            (
                3_611_079,
                "trigger: counter queue if value > 2 do start",
                vec![2, 3]
            ),
            (
                3_722_686,
                "trigger: section load if total > 50ms do start",
                vec![1, 110_697_600]
            ),
            (3_723_564, "a text", vec![]),
        ]
    );
}

/// Returns the track of a task, and the track of the reasons why it was off the CPU.
fn tracks_of(packets: &[Packet], tid: i32) -> (u64, u64) {
    let tracks = || packets.iter().filter_map(|packet| packet.track.as_ref());
    let task = tracks().find(|track| {
        let thread = track.thread.as_ref();
        thread.is_some_and(|thread| thread.tid == Some(tid))
    });
    let task = task.and_then(|track| track.uuid).expect("a track");
    let reasons = tracks()
        .find(|track| track.parent == Some(task) && track.name.as_deref() == Some("why off CPU"));
    (task, reasons.and_then(|track| track.uuid).expect("a track"))
}

/// Returns the events of a track that have arguments with texts only, with their times.
fn texts(packets: &[Packet], track: u64, kind: TrackEventKind) -> Vec<(u64, Vec<&str>)> {
    packets
        .iter()
        .filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
        .filter(|(_, event)| event.track == Some(track) && event.kind == Some(kind.into()))
        .filter(|(_, event)| !event.arguments.is_empty())
        .map(|(time, event)| {
            let arguments = event.arguments.iter();
            let texts = arguments.map(|argument| argument.text.as_deref().expect("a text"));
            (time, texts.collect())
        })
        .collect()
}

/// The chain of the task 135, and its parts.
const CHAIN: [&str; 5] = [
    "chain-b (poll_schedule_timeout.constprop.0) <- chain-c (do_wait) <- sleep \
     (hrtimer_nanosleep) <- hardirq",
    "chain-b-136: blocked for 242.332 ms in poll_schedule_timeout.constprop.0 (S)",
    "chain-c-137: blocked for 214.660 ms in do_wait (S)",
    "sleep-138: blocked for 200.607 ms in hrtimer_nanosleep (S)",
    "hardirq",
];

#[test]
fn slices_of_long_waits_have_chains() {
    let packets = timeline("chains", &[]);
    let (task, reasons) = tracks_of(&packets, 135);
    let ends = texts(&packets, reasons, TrackEventKind::End);
    let [(end, arguments)] = &ends[..] else {
        panic!("{ends:?}");
    };
    assert_eq!(arguments[..], CHAIN);
    // The slice before this end is the blocked interval; the next one begins at its end.
    let mut begins: Vec<_> = packets
        .iter()
        .filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
        .filter(|(_, event)| event.track == Some(reasons))
        .filter(|(_, event)| event.kind == Some(TrackEventKind::Begin.into()))
        .map(|(time, event)| (time, event.name.as_deref().expect("a name")))
        .collect();
    begins.sort_unstable();
    let next = begins.iter().position(|(time, _)| time >= end);
    let next = next.expect("the task waits for a CPU then");
    assert_eq!(
        begins[next - 1],
        (end - 243_467_460, "poll_schedule_timeout.constprop.0 (S)")
    );
    assert_eq!(begins[next], (*end, "waiting for an idle CPU"));
    // No chain is shown twice, and each of them is shown.
    assert!(texts(&packets, task, TrackEventKind::Instant).is_empty());
    for (tid, parts) in [(136, 3), (137, 2), (139, 4), (140, 3), (141, 2)] {
        let (_, reasons) = tracks_of(&packets, tid);
        let ends = texts(&packets, reasons, TrackEventKind::End);
        let counts: Vec<_> = ends.iter().map(|(_, texts)| texts.len()).collect();
        assert_eq!(counts, [1 + parts], "{tid}: {ends:?}");
    }
}

#[test]
fn chains_without_a_slice_are_instants() {
    let mut content = data("chains.dat");
    // The program does not know this event.
    let name = b"name: task_block\n";
    let at = content.windows(name.len()).position(|bytes| bytes == name);
    content[at.expect("a format") + name.len() - 2] = b'x';
    let path = temporary("timeline", "no-blocks.dat");
    fs::write(&path, content).expect("a recording");
    let packets = timeline_of(&path, &[]);
    let (task, reasons) = tracks_of(&packets, 135);
    assert!(texts(&packets, reasons, TrackEventKind::End).is_empty());
    let instants = texts(&packets, task, TrackEventKind::Instant);
    assert_eq!(instants, [(5_640_116_765, CHAIN.to_vec())]);
}

/// Replaces each occurrence of some bytes by as many others. Returns their number.
fn replace(content: &mut [u8], from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len());
    let places: Vec<_> = (0..content.len() - from.len())
        .filter(|at| content[*at..].starts_with(from))
        .collect();
    for at in &places {
        content[*at..*at + to.len()].copy_from_slice(to);
    }
    places.len()
}

#[test]
fn a_chain_without_an_end_is_not_that_of_the_next_slice() {
    let mut content = data("chains.dat");
    let task = |pid: u8| [&b"chain-a\0\0\0\0\0\0\0\0\0"[..], &[pid, 0, 0, 0]].concat();
    // The last part of the chain of the task 135 is lost, and the task 139 has its id.
    let part = |hop: u8| [&task(135)[..], &[hop]].concat();
    assert_eq!(replace(&mut content, &part(4), &part(6)), 1);
    assert!(replace(&mut content, &task(139), &task(135)) > 4);
    let path = temporary("timeline", "without-end.dat");
    fs::write(&path, content).expect("a recording");
    let packets = timeline_of(&path, &[]);
    let (task, reasons) = tracks_of(&packets, 135);
    let instants = texts(&packets, task, TrackEventKind::Instant);
    let first = CHAIN[0].replace("hardirq", "...");
    let [(5_640_116_765, arguments)] = &instants[..] else {
        panic!("{instants:?}");
    };
    assert_eq!(arguments[0], first);
    assert_eq!(arguments[1..], CHAIN[1..4]);
    let ends = texts(&packets, reasons, TrackEventKind::End);
    let [(_, arguments)] = &ends[..] else {
        panic!("{ends:?}");
    };
    let waker = "chain-b-140: blocked for 325.477 ms in poll_schedule_timeout.constprop.0 (S)";
    assert_eq!(arguments[..2], [CHAIN[0], waker]);
}

#[test]
fn calls_and_blocked_intervals_have_the_same_word_for_the_waker() {
    let packets = timeline("std-events", &[]);
    let interned = packets.iter().filter_map(|packet| packet.interned.as_ref());
    let names: HashMap<_, _> = interned
        .flat_map(|interned| &interned.argument_names)
        .filter_map(|name| Some((name.id?, name.name.as_deref()?)))
        .collect();
    let mut calls = 0;
    let mut intervals = 0;
    for event in packets
        .iter()
        .filter_map(|packet| packet.track_event.as_ref())
    {
        let words: Vec<_> = event
            .arguments
            .iter()
            .map(|argument| names[&argument.name_id.expect("a name")])
            .collect();
        assert!(!words.contains(&"by"), "{words:?}");
        if words.contains(&"waker") {
            let is_call = words.contains(&"block_ns");
            calls += u32::from(is_call);
            intervals += u32::from(!is_call);
        }
    }
    assert!(calls > 10 && intervals > 10, "{calls} {intervals}");
}
