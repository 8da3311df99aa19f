// SPDX-License-Identifier: MIT OR Apache-2.0

//! The packets of `ferrotrace timeline`. `scripts` of the project load timelines into Perfetto's
//! trace processor; this test needs no other program.

mod common;
#[allow(dead_code, missing_docs, reason = "shared with the program")]
#[path = "../src/timeline/messages.rs"]
mod messages;

use std::{
    collections::HashMap,
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
    Packet,
    TaskStateKind,
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
