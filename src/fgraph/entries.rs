// SPDX-License-Identifier: GPL-2.0

//! Writes the entries of calls: when a call begins, when it returns, or before a record that must
//! follow the entry.

use super::{
    task_word,
    Graph,
    EXCLUDED,
    LOST,
    WRITTEN, //
};
use crate::{
    function_trace::Count,
    ktrace::{
        compact::encoding::{
            self as compact,
            Item, //
        },
        fgraph::{
            Caller,
            CurrentCall,
            Open,
            Return, //
        },
        record::{
            self,
            context::{
                Context,
                MAX_ARGS, //
            },
            GraphEntry,
            MAX_GRAPH_WORDS, //
        },
    },
    option,
};

impl Graph {
    /// Writes the entry of a call. Returns false if the ring buffer did not accept it.
    #[inline]
    fn write_entry(
        &self,
        open: &Open<'_>,
        context: Context,
        entry: GraphEntry,
        words: &[usize],
        late_ns: Option<u64>,
    ) -> bool {
        if words.is_empty() && self.recorder.flags() & option::COMPACT != 0 {
            let item = Item::Begin(compact::PackedCall {
                func: entry.func,
                depth: entry.depth,
                ns: late_ns.unwrap_or(0),
            });
            if let Some(written) = self.pack(open, context, &item, Count::Entries) {
                return written;
            }
        }
        let written = record::graph_entry(open.tr(), context, entry, words, late_ns);
        self.count(open, Count::Entries, written)
    }

    /// Writes the missing entries of the open calls that are at least `innermost` levels above the
    /// innermost call, which is level 0. The outermost entry is written first.
    #[inline(never)]
    pub(super) fn write_open(&self, open: &Open<'_>, context: Context, innermost: i32) {
        let mut up = innermost.wrapping_sub(1);
        for level in innermost..=open.depth() {
            match open.caller(level) {
                Some(caller) if caller.frame.is_set(WRITTEN) => break,
                Some(caller) if !caller.frame.is_set(EXCLUDED) => up = level,
                // Or a call that only another hook traces.
                _ => {}
            }
        }
        for level in (innermost..=up).rev() {
            if let Some(caller) = open.caller(level) {
                self.write_late(open, context, &caller);
            }
        }
    }

    /// Writes the entry of an open call, if it is missing.
    fn write_late(&self, open: &Open<'_>, context: Context, caller: &Caller<'_>) {
        if caller.frame.is_set(EXCLUDED) || !caller.frame.set(WRITTEN) {
            return;
        }
        let late_ns = caller.frame.elapsed_ns();
        let entry = GraphEntry {
            func: caller.func,
            depth: caller.depth,
        };
        if !self.write_entry(open, context, entry, &[], Some(late_ns)) {
            caller.frame.set(LOST);
        }
    }

    /// Writes the entry of a call when it begins. Returns false if the ring buffer did not accept
    /// it.
    #[inline(always)]
    pub(super) fn write_now(&self, call: &CurrentCall<'_>) -> bool {
        let flags = self.recorder.flags();
        if flags & (option::MORE_AT_CALL | option::COMPACT) != 0 {
            return self.write_more(&call.reborrow(), flags);
        }
        let entry = GraphEntry {
            func: call.func,
            depth: call.depth(),
        };
        let written = record::graph_entry(call.tr(), call.context(), entry, &[], None);
        self.count(call, Count::Entries, written)
    }

    /// Writes the entry of a call when it begins, if it is packed or has data that is known only
    /// then. Returns false if the ring buffer did not accept it.
    #[inline(never)]
    fn write_more(&self, call: &CurrentCall<'_>, flags: u32) -> bool {
        let mut words = [0; MAX_GRAPH_WORDS];
        let mut n = 0;
        if flags & option::ARGS != 0 {
            for (i, word) in words.iter_mut().take(MAX_ARGS).enumerate() {
                *word = call.argument(i);
            }
            n = MAX_ARGS;
        }
        if flags & option::RETADDR != 0 {
            if let Some(word) = words.get_mut(n) {
                *word = call.return_address();
            }
            n = n.wrapping_add(1);
        }
        let entry = GraphEntry {
            func: call.func,
            depth: call.depth(),
        };
        let words = words.get(..n).unwrap_or(&[]);
        self.write_entry(call, call.context(), entry, words, None)
    }

    /// Writes the entry of a call that returns. Returns false if the ring buffer did not accept it.
    pub(super) fn write_entry_of(&self, ret: &Return<'_>, context: Context, total_ns: u64) -> bool {
        let entry = GraphEntry {
            func: ret.func,
            depth: ret.depth(),
        };
        self.write_entry(ret, context, entry, &[], Some(total_ns))
    }

    /// Writes the missing entries of all open calls of the current task, if the task is still
    /// traced.
    #[cold]
    pub(super) fn write_open_of(&self, open: &Open<'_>, context: Context, state: u32) {
        if self.is_still_traced(open, state) {
            self.write_open(open, context, 0);
            let notes = open.task_word();
            notes.set(notes.get() & !task_word::ANY_UNWRITTEN);
        }
    }
}
