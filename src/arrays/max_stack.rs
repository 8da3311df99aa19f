// SPDX-License-Identifier: GPL-2.0

//! Stores the deepest stacks while the options of a trace array request it.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State, //
};
use crate::{
    max_stack::MaxStack, //
    option,
};

impl Array {
    /// Returns the deepest stacks, from when they were first stored until they are cleared.
    pub(crate) fn max_stack(&self) -> Option<&MaxStack> {
        self.max_stack.as_deref()
    }
}

impl State {
    /// Makes the array at `at`, which begins to record, store the deepest stacks if its options
    /// request it. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn open_max_stack(&mut self, at: usize, flags: u32) -> Result {
        if flags & option::MAX_STACK == 0 {
            return Ok(());
        }
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        let max_stack = match &array.max_stack {
            Some(max_stack) => Arc::clone(max_stack),
            None => Arc::new(MaxStack::new()?, GFP_KERNEL)?,
        };
        array.max_stack = Some(Arc::clone(&max_stack));
        array.has_max_stack = true;
        drop(array.recorder.set_max_stack(Some(max_stack)));
        Ok(())
    }

    /// Clears the deepest stacks of the trace array with this serial number, and frees their memory
    /// unless they are still stored.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array.
    pub(crate) fn clear_max_stack(&mut self, serial: usize) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        match &array.max_stack {
            Some(max_stack) if array.has_max_stack => max_stack.clear(),
            _ => array.max_stack = None,
        }
        self.clear_gone();
        Ok(())
    }
}
