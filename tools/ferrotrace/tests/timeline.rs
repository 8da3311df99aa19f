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
    fs, //
};

use common::{
    ferrotrace,
    output,
    recording,
    temporary, //
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
    let path = recording("timeline", name);
    let out = temporary("timeline", &format!("{name}.pftrace"));
    let mut all = vec!["-o", out.to_str().expect("UTF-8")];
    all.extend(arguments);
    assert_eq!(output("timeline", &path, &all), "");
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
    for name in ["std-events", "compact-events"] {
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

#[test]
fn counters_that_do_not_exist_are_errors() {
    let path = recording("counters", "std-events");
    let out = temporary("counters", "x.pftrace");
    let out = out.to_str().expect("UTF-8");
    for (counter, message) in [
        ("task_run", "expected [GROUP:]EVENT:FIELD"),
        ("nothing:x", "has no event 'nothing'"),
        ("task_run:x", "no numeric field 'x'"),
        ("task_run:comm", "no numeric field 'comm'"),
    ] {
        let output = ferrotrace("timeline", &path, &["-o", out, "--counter", counter]);
        assert_eq!(output.status.code(), Some(1));
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
