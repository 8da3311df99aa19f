// SPDX-License-Identifier: GPL-2.0

//! The files with lists of tasks: the meaning of their words, and how they are printed.

use core::ffi::CStr;

use kernel::{
    prelude::*,
    seq_file::SeqFile,
    seq_print, //
};

use crate::{
    filter::{
        input::ListRef,
        list::{
            Lookup,
            MAX_PATH, //
        },
    },
    ktrace::{
        array::tracefs,
        task::{
            cgroups,
            pid_namespace::{
                from_namespace,
                to_namespace, //
            },
        },
    },
};

/// Finds the ids of tasks and cgroups in the namespaces of the current task.
pub(super) static NAMES: Lookup = Lookup {
    pid: from_namespace,
    cgroup: find_cgroup,
};

/// Returns the id of the cgroup with this path.
fn find_cgroup(path: &[u8]) -> Result<u64> {
    let mut with_nul = KVec::with_capacity(path.len().wrapping_add(1), GFP_KERNEL)?;
    with_nul.extend_from_slice(path, GFP_KERNEL)?;
    with_nul.push(0, GFP_KERNEL)?;
    let path = CStr::from_bytes_with_nul(&with_nul).map_err(|_| ENOENT)?;
    cgroups::find(path).ok_or(ENOENT)
}

/// Prints the path of a cgroup, or its id if it has no path in the namespace of the current task,
/// in the form in which it can be written back.
fn show_cgroup(out: &SeqFile, id: u64) -> Result {
    let mut buffer = KVec::from_elem(0, MAX_PATH.wrapping_add(1), GFP_KERNEL)?;
    let Some(path) = cgroups::path(id, &mut buffer) else {
        seq_print!(out, "{}\n", id);
        return Ok(());
    };
    for byte in path {
        if byte.is_ascii_whitespace() {
            seq_print!(out, "\\");
        }
        tracefs::write_bytes(out, core::slice::from_ref(byte));
    }
    seq_print!(out, "\n");
    Ok(())
}

/// Prints the entries of a list, one per line, in the form in which they can be written back.
pub(super) fn show(out: &SeqFile, list: ListRef<'_>) -> Result {
    match list {
        ListRef::Ids(ids) => ids
            .iter()
            .filter_map(to_namespace)
            .for_each(|id| seq_print!(out, "{}\n", id)),
        ListRef::Globs(globs) => globs.iter().for_each(|glob| {
            tracefs::write_bytes(out, glob.as_bytes());
            seq_print!(out, "\n");
        }),
        ListRef::Cgroups(ids) => return ids.iter().try_for_each(|id| show_cgroup(out, id)),
    }
    Ok(())
}
