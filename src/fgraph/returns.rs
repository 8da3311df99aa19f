// SPDX-License-Identifier: GPL-2.0

//! Writes the records of a call when it returns: its times and its exit, and those entries that are
//! still missing.

use super::Graph;
use crate::{
    events,
    function_trace::Count,
    ktrace::{
        compact::encoding::{
            self as compact,
            Item, //
        },
        fgraph::Return,
        record::{
            self,
            context::Context,
            GraphEntry,
            GraphReturn, //
        },
        time::clock, //
    },
    option,
    task_times::types::{
        Blocked,
        CallTimes, //
    },
    time_split::Split, //
};

impl Graph {
    /// Writes the return of a call to a packed record, as the item that `item` creates. Returns
    /// false if it cannot be packed.
    #[inline(never)]
    fn pack_return(
        &self,
        ret: &Return<'_>,
        context: Context,
        total_ns: u64,
        item: impl FnOnce(compact::PackedCall) -> Item,
    ) -> bool {
        const OTHER: u32 = option::RETVAL;
        if ret.overrun != 0 || self.recorder.flags() & (option::COMPACT | OTHER) != option::COMPACT
        {
            return false;
        }
        let item = item(compact::PackedCall {
            func: ret.func,
            depth: ret.depth(),
            ns: total_ns,
        });
        self.pack(ret, context, &item, Count::Returns).is_some()
    }

    /// Writes all records of a call whose entry is not written, when it returns: the missing
    /// entries of its callers, its own entry, its times and its exit.
    pub(super) fn write_whole(&self, ret: &Return<'_>, split: &Split, switches: u32) {
        let context = ret.context();
        self.write_open(ret, context, 1);
        if switches == 0 && split.irq == 0 {
            return self.write_leaf(ret, context, split.total);
        }
        if self.write_entry_of(ret, context, split.total) {
            self.write_divided(ret, context, split, switches);
        }
    }

    /// Writes the entry and the exit of a call that returns, within which nothing was recorded.
    #[inline]
    pub(super) fn write_leaf(&self, ret: &Return<'_>, context: Context, total_ns: u64) {
        if self.pack_return(&ret.reborrow(), context, total_ns, Item::Leaf) {
            return;
        }
        if self.write_entry_of(ret, context, total_ns) {
            self.write_return(ret, context, total_ns);
        }
    }

    /// Writes the exit of a call, and its times if it lost the CPU or was interrupted.
    #[cold]
    pub(super) fn write_divided(
        &self,
        ret: &Return<'_>,
        context: Context,
        split: &Split,
        switches: u32,
    ) {
        let lost_cpu = switches != 0 && self.recorder.flags() & option::TIMES != 0;
        if lost_cpu || split.irq != 0 {
            self.write_times(ret, context, split, switches);
        }
        self.write_return(ret, context, split.total);
    }

    /// Writes the exit of a call.
    #[inline(always)]
    pub(super) fn write_return(&self, ret: &Return<'_>, context: Context, total_ns: u64) {
        let flags = self.recorder.flags();
        if flags & option::COMPACT != 0
            && self.pack_return(&ret.reborrow(), context, total_ns, Item::Return)
        {
            return;
        }
        let rettime_ns = clock::local_ns();
        let record = GraphReturn {
            call: GraphEntry {
                func: ret.func,
                depth: ret.depth(),
            },
            overrun: ret.overrun,
            value: match record::HAS_VALUE || flags & option::RETVAL != 0 {
                true => Some(ret.value()),
                false => None,
            },
            calltime_ns: rettime_ns.saturating_sub(total_ns),
            rettime_ns,
        };
        let written = record::graph_return(ret.tr(), context, &record);
        self.count(ret, Count::Returns, written);
    }

    #[cold]
    fn write_times(&self, ret: &Return<'_>, context: Context, split: &Split, switches: u32) {
        let times = CallTimes {
            func: ret.func,
            depth: ret.depth(),
            run_ns: split.run,
            irq_ns: split.irq,
            wait_ns: split.wait,
            block_ns: split.block,
            switches,
            blocked: match split.block {
                0 => Blocked::default(),
                _ => self.accounting.last_block(ret.task()),
            },
        };
        let written = events::funcgraph_times::write(ret.tr(), context, &times);
        self.count(ret, Count::Times, written);
    }
}
