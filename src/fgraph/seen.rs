// SPDX-License-Identifier: GPL-2.0

//! Passes calls and returns to what needs to see each of them, whether they are recorded or not.

use super::{
    is_initialized,
    Graph, //
};
use crate::{
    ktrace::{
        fgraph::{
            CurrentCall,
            Open,
            Return, //
        },
        hook::stack_depth::Stack, //
    },
    seen_call::{
        Place,
        SeenCall, //
    },
};

impl Graph {
    /// Handles a call of a traced task.
    #[cold]
    pub(super) fn see_call(&self, call: &CurrentCall<'_>) {
        self.see(call, call.func, true, call.stack());
    }

    /// Handles a return, if this hook has seen the call and the task is still traced.
    #[cold]
    pub(super) fn see_return(&self, ret: &Return<'_>) {
        if is_initialized(ret.task_word().get(), ret) && ret.is_task_traced() {
            self.see(ret, ret.func, false, None);
        }
    }

    fn see(&self, open: &Open<'_>, func: usize, is_call: bool, stack: Option<Stack<'_>>) {
        self.recorder.see(&SeenCall {
            tr: open.tr(),
            task: open.task(),
            context: open.context(),
            place: Place {
                func,
                caller: open.return_address(),
            },
            is_call,
            stack,
            preemption_off: open.preemption_off(),
        });
    }
}
