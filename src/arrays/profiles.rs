// SPDX-License-Identifier: GPL-2.0

//! Creates and clears the profiles of trace arrays, and keeps the names of their functions when a
//! module is unloaded.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State,
    STATE, //
};
use crate::{
    ktrace::private::modules::{
        LeavingText,
        TextLeaves, //
    },
    option,
    profile::{
        gone::Gone,
        paths::Paths,
        Profile, //
    },
};

impl State {
    /// Returns the names of functions that are in profiles and whose modules were unloaded.
    pub(crate) fn gone(&self) -> &Gone {
        &self.gone
    }

    /// Returns the profile of the array at `at`, which is created if there is none.
    pub(super) fn open_profile(&mut self, at: usize) -> Result<Arc<Profile>> {
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        if let Some(profile) = &array.profile {
            return Ok(Arc::clone(profile));
        }
        let profile = Arc::new(Profile::new()?, GFP_KERNEL)?;
        array.profile = Some(Arc::clone(&profile));
        Ok(profile)
    }

    /// Returns the paths of the array at `at`, which are created if there are none.
    pub(super) fn open_paths(&mut self, at: usize) -> Result<Arc<Paths>> {
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        if let Some(paths) = &array.paths {
            return Ok(Arc::clone(paths));
        }
        let paths = Arc::new(Paths::new()?, GFP_KERNEL)?;
        array.paths = Some(Arc::clone(&paths));
        Ok(paths)
    }

    /// Clears the profile of the trace array with this serial number, and frees its memory unless
    /// profiling continues.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array.
    pub(crate) fn clear_profile(&mut self, serial: usize) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        let wanted = option::GRAPH | option::PROFILE;
        if array.hook.is_none() || array.recorder.flags() & wanted != wanted {
            array.profile = None;
        } else if let Some(profile) = &array.profile {
            profile.clear();
        }
        self.clear_gone();
        Ok(())
    }

    /// Clears the paths of the trace array with this serial number, and frees their memory unless
    /// they are still added to.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array.
    pub(crate) fn clear_paths(&mut self, serial: usize) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        let wanted = option::GRAPH | option::PROFILE | option::PATHS;
        if array.hook.is_none() || array.recorder.flags() & wanted != wanted {
            array.paths = None;
        } else if let Some(paths) = &array.paths {
            paths.clear();
        }
        self.clear_gone();
        Ok(())
    }

    /// Forgets the names of functions that were unloaded, if nothing can refer to them.
    pub(super) fn clear_gone(&mut self) {
        let has_names = |array: &Array| {
            let has_profile = array.profile.is_some() || array.paths.is_some();
            has_profile || array.latency.is_some() || array.max_stack.is_some()
        };
        if !self.arrays.iter().any(has_names) {
            self.gone.clear();
        }
    }
}

/// Handles module text that is about to be freed.
pub(crate) struct Unloads;

impl TextLeaves for Unloads {
    fn leaves(text: &LeavingText<'_>) {
        if let Some(state) = STATE.lock().as_mut() {
            for array in &state.arrays {
                if let Some(profile) = array.profile() {
                    profile.text_leaves(text, &mut state.gone);
                }
                if let Some(paths) = array.paths() {
                    paths.text_leaves(text, &mut state.gone);
                }
                if let Some(latency) = array.latency() {
                    latency.text_leaves(text, &mut state.gone);
                }
                if let Some(max_stack) = array.max_stack() {
                    max_stack.text_leaves(text, &mut state.gone);
                }
            }
        }
    }
}
