// SPDX-License-Identifier: GPL-2.0

//! The words that name cgroups: paths and ids.

use kernel::prelude::*;

/// A cgroup as it is written to a control file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// An id: the inode number of the cgroup's directory.
    Id(u64),
    /// A path below the root of the cgroup file system, as in `/proc/PID/cgroup`. It begins with
    /// `/`.
    Path(KVec<u8>),
}

/// Parses a word that names a cgroup. Returns `None` if it is neither a path nor an id. May sleep.
///
/// In a path, a `\` before white space is removed, so that a name can contain it. Every other `\`
/// is part of the name, because systemd uses it in names (`\x2d`).
///
/// # Errors
///
/// [`ENOMEM`]
pub(crate) fn parse_cgroup(word: &[u8]) -> Result<Option<Name>> {
    if word.first() != Some(&b'/') {
        return Ok(parse_cgroup_id(word).map(Name::Id));
    }
    let mut path = KVec::with_capacity(word.len(), GFP_KERNEL)?;
    for (i, byte) in word.iter().enumerate() {
        let next = word.get(i.wrapping_add(1));
        if *byte != b'\\' || !next.is_some_and(u8::is_ascii_whitespace) {
            path.push(*byte, GFP_KERNEL)?;
        }
    }
    Ok(Some(Name::Path(path)))
}

/// Parses an id of a cgroup: a decimal number other than 0.
fn parse_cgroup_id(word: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte & 0xf));
    let add = |id: u64, byte| id.checked_mul(10)?.checked_add(digit(byte)?);
    word.iter().try_fold(0, add).filter(|id| *id != 0)
}
