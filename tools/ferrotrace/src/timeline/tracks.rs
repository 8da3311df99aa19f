// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tracks of a timeline. Each task has a track with two children: its calls, and why it was not
//! on a CPU. Some have more, for the sections that they marked.

use std::io::Write;

use rustc_hash::{
    FxHashMap,
    FxHashSet, //
};

use super::{
    messages::{
        Counter,
        Packet,
        Process,
        ProcessTree,
        Thread,
        TrackDescriptor, //
    },
    writer::Writer, //
};
use crate::{
    model::TaskId,
    recording::Comm, //
};

/// The track of losses, and the number of the first counter.
const LOSSES: u64 = 1;
const LOST_RECORDS: u64 = 2;
const COUNTERS: u64 = 1 << 60;

/// The order of the tracks of a task.
const BY_RANK: i32 = 3;

/// The number of the first track of asynchronous sections.
const LANES: u64 = 1 << 61;

/// The tracks that were described, and what is known about processes.
#[derive(Default)]
pub struct Tracks {
    tasks: FxHashMap<TaskId, bool>,
    processes: FxHashSet<i32>,
    /// The processes of threads, where they are known.
    tgids: FxHashMap<i32, i32>,
    has_losses: bool,
    with_sections: FxHashSet<TaskId>,
    /// The tracks of asynchronous sections, and the number of all of them.
    lanes: FxHashMap<TaskId, Vec<u64>>,
    nr_lanes: u64,
}

/// The tracks of a task.
#[derive(Clone, Copy)]
pub struct TaskTracks(u64);

impl TaskTracks {
    fn new(id: TaskId) -> Self {
        let number = match id.idle_cpu() {
            Some(cpu) => (1 << 40) | cpu as u64,
            None => u64::from(id.pid().unsigned_abs()),
        };
        Self((number + 1) << 3)
    }

    /// Returns the track of the task itself.
    pub fn task(self) -> u64 {
        self.0
    }

    /// Returns the track of its calls.
    pub fn calls(self) -> u64 {
        self.0 + 1
    }

    /// Returns the track of the reasons why it was not on a CPU.
    pub fn off_cpu(self) -> u64 {
        self.0 + 2
    }

    /// Returns the track of the sections that it marked.
    fn sections(self) -> u64 {
        self.0 + 3
    }
}

impl Tracks {
    /// Records the process of a thread.
    pub fn set_tgid(&mut self, pid: i32, tgid: i32) {
        self.tgids.insert(pid, tgid);
    }

    /// Returns whether a task has tracks.
    pub fn has(&self, id: TaskId) -> bool {
        self.tasks.contains_key(&id)
    }

    /// Returns the tracks of a task, and describes them if they are new.
    pub fn task<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        id: TaskId,
        comm: impl FnOnce() -> Comm,
    ) -> TaskTracks {
        let tracks = TaskTracks::new(id);
        if self.tasks.insert(id, true).is_some() {
            return tracks;
        }
        let name = comm().to_string();
        let mut track = TrackDescriptor {
            uuid: Some(tracks.task()),
            child_ordering: Some(BY_RANK),
            ..TrackDescriptor::default()
        };
        match id.idle_cpu() {
            Some(cpu) => track.name = Some(format!("idle task of CPU {cpu}")),
            None => {
                let pid = id.pid();
                let tgid = self.tgids.get(&pid).copied().unwrap_or(pid);
                track.thread = Some(Thread {
                    pid: Some(tgid),
                    tid: Some(pid),
                    name: Some(name.clone()),
                });
                if tgid == pid && self.processes.insert(tgid) {
                    let process = Process {
                        pid: Some(tgid),
                        cmdline: vec![name],
                    };
                    let tree = ProcessTree {
                        processes: vec![process],
                    };
                    let packet = Packet {
                        process_tree: Some(tree),
                        ..Packet::default()
                    };
                    writer.packet(Some(0), packet);
                }
            }
        }
        writer.track(track);
        let children = [
            (tracks.calls(), "kernel calls"),
            (tracks.off_cpu(), "why off CPU"),
        ];
        for (rank, (uuid, name)) in (1..).zip(children) {
            child(writer, tracks, uuid, name, rank);
        }
        tracks
    }

    /// Returns the track of the sections of a task, and describes it if it is new.
    pub fn sections<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        id: TaskId,
        tracks: TaskTracks,
    ) -> u64 {
        if self.with_sections.insert(id) {
            child(writer, tracks, tracks.sections(), "sections", 3);
        }
        tracks.sections()
    }

    /// Returns the track with the number `lane` of the asynchronous sections of a task, and
    /// describes all up to it that are new. They have one name, so that Perfetto shows them as one
    /// track.
    pub fn lane<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        id: TaskId,
        tracks: TaskTracks,
        lane: usize,
    ) -> u64 {
        let lanes = self.lanes.entry(id).or_default();
        while lanes.len() <= lane {
            let uuid = LANES + self.nr_lanes;
            self.nr_lanes += 1;
            child(writer, tracks, uuid, "async sections", 4);
            lanes.push(uuid);
        }
        lanes[lane]
    }

    /// Returns the tracks of losses: one of instants, and a counter.
    pub fn losses<W: Write>(&mut self, writer: &mut Writer<W>) -> (u64, u64) {
        if !std::mem::replace(&mut self.has_losses, true) {
            writer.track(TrackDescriptor {
                uuid: Some(LOSSES),
                name: Some("losses".to_owned()),
                ..TrackDescriptor::default()
            });
            writer.track(TrackDescriptor {
                uuid: Some(LOST_RECORDS),
                name: Some("records lost".to_owned()),
                counter: Some(Counter {}),
                ..TrackDescriptor::default()
            });
        }
        (LOSSES, LOST_RECORDS)
    }
}

/// Describes the track of a counter, and returns it.
pub fn counter<W: Write>(writer: &mut Writer<W>, number: usize, name: &str) -> u64 {
    let uuid = COUNTERS + number as u64;
    writer.track(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name.to_owned()),
        counter: Some(Counter {}),
        ..TrackDescriptor::default()
    });
    uuid
}

/// Describes a child of the track of a task.
fn child<W: Write>(writer: &mut Writer<W>, tracks: TaskTracks, uuid: u64, name: &str, rank: i32) {
    writer.track(TrackDescriptor {
        uuid: Some(uuid),
        parent: Some(tracks.task()),
        name: Some(name.to_owned()),
        sibling_order_rank: Some(rank),
        ..TrackDescriptor::default()
    });
}
