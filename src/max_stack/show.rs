// SPDX-License-Identifier: GPL-2.0

//! Prints the deepest stack of each task as the kernel's `stack_trace` does, the deepest first.

use core::cmp::Reverse;

use kernel::{
    prelude::*,
    rbtree::RBTree,
    seq_file::SeqFile,
    seq_print,
    sync::atomic::Relaxed, //
};

use super::{
    word,
    MaxStack, //
};
use crate::{
    ktrace::{
        array::tracefs,
        hook::stack_depth::{
            stack_size,
            MAX_DEPTH, //
        },
        task::Comm, //
    },
    profile::{
        gone::Gone,
        show::show_function,
        PID_SHIFT, //
    },
};

impl MaxStack {
    /// Prints the stacks. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn show(&self, out: &SeqFile, gone: &Gone) -> Result {
        let table = self.table();
        let lost = table.lost().saturating_add(self.lost.load(Relaxed));
        seq_print!(out, "# dropped: {} calls\n", lost);
        let mut order = RBTree::new();
        table.for_each(|key, stack| {
            let used = stack.get(word::USED);
            if used != 0 {
                order.try_create_and_insert((Reverse(used), key), stack, GFP_KERNEL)?;
            }
            Ok(())
        })?;
        for ((_, key), stack) in order.iter() {
            let words = KBox::new(stack.read(), GFP_KERNEL)?;
            show_stack(out, key >> PID_SHIFT, &words, gone)?;
        }
        Ok(())
    }
}

fn show_stack(out: &SeqFile, pid: u64, words: &[u64; word::COUNT], gone: &Gone) -> Result {
    let get = |index: usize| words.get(index).copied().unwrap_or(0);
    let comm = Comm::from_words(word::COMM.map(get));
    tracefs::write_bytes(out, comm.escaped().as_bytes());
    let depth = get(word::USED);
    seq_print!(out, "-{pid} {depth} of {} bytes\n", stack_size());
    seq_print!(out, "      depth    size  function\n");
    for n in 0..MAX_DEPTH {
        let used = get(word::USED + n);
        if used == 0 {
            break;
        }
        // There was no room for the callers of the last one.
        let is_last = n + 1 == MAX_DEPTH;
        let callers = if is_last { 0 } else { get(word::USED + n + 1) };
        seq_print!(out, "{n:3}) {used:6} {:7}  ", used.saturating_sub(callers));
        match get(word::FUNCTION + n) {
            function if function != 0 && !is_last => drop(show_function(out, function, gone)?),
            _ => seq_print!(out, "..."),
        }
        seq_print!(out, "\n");
    }
    Ok(())
}
