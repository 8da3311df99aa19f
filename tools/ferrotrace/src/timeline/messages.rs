// SPDX-License-Identifier: MIT OR Apache-2.0

//! The messages of Perfetto's trace format that a timeline needs, with the field numbers of
//! `protos/perfetto/trace/` in Perfetto. A trace is a sequence of packets.

use prost::Message;

/// The number of the field `packet` of a trace.
pub const PACKET: u8 = 1;

/// `sequence_flags`: earlier interned data is not valid.
pub const CLEARED: u32 = 1;
/// `sequence_flags`: the packet needs interned data of earlier packets.
pub const NEEDS: u32 = 2;

#[derive(Clone, PartialEq, Message)]
pub struct Packet {
    #[prost(message, optional, tag = "1")]
    pub ftrace_events: Option<FtraceBundle>,
    #[prost(message, optional, tag = "2")]
    pub process_tree: Option<ProcessTree>,
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub interned: Option<Interned>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub track: Option<TrackDescriptor>,
    #[prost(message, optional, tag = "117")]
    pub state: Option<TaskState>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Interned {
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<Name>,
    #[prost(message, repeated, tag = "3")]
    pub argument_names: Vec<Name>,
    #[prost(message, repeated, tag = "26")]
    pub kernel_symbols: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Name {
    #[prost(uint64, optional, tag = "1")]
    pub id: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ProcessTree {
    #[prost(message, repeated, tag = "1")]
    pub processes: Vec<Process>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Process {
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    #[prost(string, repeated, tag = "3")]
    pub cmdline: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct FtraceBundle {
    #[prost(uint32, optional, tag = "1")]
    pub cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub events: Vec<FtraceEvent>,
}

#[derive(Clone, PartialEq, Message)]
pub struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub pid: Option<u32>,
    #[prost(message, optional, tag = "3")]
    pub print: Option<Print>,
    /// The flags of ftrace's record header.
    #[prost(uint32, optional, tag = "5")]
    pub common_flags: Option<u32>,
    #[prost(message, optional, tag = "18")]
    pub blocked_reason: Option<BlockedReason>,
    #[prost(message, optional, tag = "20")]
    pub waking: Option<Waking>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Print {
    #[prost(string, optional, tag = "2")]
    pub buf: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BlockedReason {
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// The id of a kernel symbol.
    #[prost(uint64, optional, tag = "2")]
    pub caller: Option<u64>,
    #[prost(uint32, optional, tag = "3")]
    pub io_wait: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Waking {
    #[prost(string, optional, tag = "1")]
    pub comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prio: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub success: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub target_cpu: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskState {
    #[prost(int32, optional, tag = "1")]
    pub cpu: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub comm: Option<String>,
    #[prost(int64, optional, tag = "3")]
    pub tid: Option<i64>,
    #[prost(enumeration = "TaskStateKind", optional, tag = "4")]
    pub state: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub prio: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum TaskStateKind {
    Unknown = 0,
    Created = 1,
    Runnable = 2,
    Running = 3,
    InterruptibleSleep = 4,
    UninterruptibleSleep = 5,
    Stopped = 6,
    Dead = 7,
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub thread: Option<Thread>,
    #[prost(uint64, optional, tag = "5")]
    pub parent: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<Counter>,
    /// How the children are sorted: 3 by their rank.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Counter {}

#[derive(Clone, PartialEq, Message)]
pub struct Thread {
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    pub tid: Option<i32>,
    #[prost(string, optional, tag = "5")]
    pub name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub arguments: Vec<Argument>,
    #[prost(enumeration = "TrackEventKind", optional, tag = "9")]
    pub kind: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub name_id: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub track: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flows: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub ending_flows: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum TrackEventKind {
    Unspecified = 0,
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

#[derive(Clone, PartialEq, Message)]
pub struct Argument {
    #[prost(uint64, optional, tag = "1")]
    pub name_id: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub number: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    pub signed: Option<i64>,
    #[prost(string, optional, tag = "6")]
    pub text: Option<String>,
}
