// SPDX-License-Identifier: GPL-2.0

//! A PID namespace and a hierarchy of cgroups, to which words in an input refer.

use kernel::prelude::ENOENT;

use crate::filter::list::Lookup;

/// The id of a task that does not exist.
pub(crate) const NO_TASK: i32 = 4_000_001;

/// The paths and ids of all cgroups.
pub(crate) const CGROUPS: [(&[u8], u64); 5] = [
    (b"/", 1),
    (b"/a", 101),
    (b"/a/b", 102),
    (b"/with space", 103),
    (b"/with\\x2descape", 104),
];

pub(crate) static NAMES: Lookup = Lookup {
    pid: |id| (id != NO_TASK).then_some(id),
    cgroup: |path| {
        let found = CGROUPS.iter().find(|(own, _)| *own == path);
        found.map(|(_, id)| *id).ok_or(ENOENT)
    },
};
