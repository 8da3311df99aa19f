// SPDX-License-Identifier: GPL-2.0

//! The contents of a control file, and changes that take effect completely or not at all.

use kernel::alloc::limit_allocations;
use kernel::prelude::ENOMEM;
use kernel::prelude::ENOSPC;

use crate::filter::error::Fault;
use crate::filter::glob::Glob;
use crate::filter::ids::IdSet;
use crate::filter::list::GlobSet;
use crate::filter::list::NewList;
use crate::filter::list::MAX_GLOBS;
use crate::names::NAMES;

fn glob(pattern: &str) -> Glob {
    Glob::new(pattern.as_bytes()).unwrap()
}

fn globs(patterns: &[&str]) -> GlobSet {
    let patterns: Vec<Glob> = patterns.iter().map(|pattern| glob(pattern)).collect();
    GlobSet::default().merge(&patterns).unwrap()
}

fn texts(set: &GlobSet) -> Vec<&str> {
    set.iter()
        .map(|glob| core::str::from_utf8(glob.as_bytes()).unwrap())
        .collect()
}

#[test]
fn globs_are_kept_once_in_the_order_written() {
    let empty = GlobSet::default();
    assert!(empty.is_empty());
    assert_eq!(empty.len(), 0);
    assert!(!empty.matches(b"a") && !empty.matches(b""));

    let set = globs(&["b*", "a", "b*", "#c", "a", "\\#c", "?"]);
    assert_eq!(texts(&set), ["b*", "a", "\\#c", "?"]);
    assert_eq!(set.len(), 4);
    assert_eq!(set.as_slice().len(), 4);
    assert_eq!(texts(&set.try_clone().unwrap()), texts(&set));
}

#[test]
fn one_glob_that_matches_is_enough() {
    let set = globs(&["bash", "*sh", "[x-z]?"]);
    for name in [b"bash".as_slice(), b"zsh", b"sh", b"x1", b"bash\0junk"] {
        assert!(set.matches(name), "{}", name.escape_ascii());
    }
    for name in [b"".as_slice(), b"sha", b"a1", b"x12"] {
        assert!(!set.matches(name), "{}", name.escape_ascii());
    }
}

#[test]
fn a_set_of_globs_holds_so_many_and_no_more() {
    let mut set = GlobSet::default();
    for i in 0..MAX_GLOBS {
        set.insert(glob(&format!("t{i}"))).unwrap();
    }
    assert_eq!(set.len(), MAX_GLOBS);
    assert_eq!(set.insert(glob("more")), Err(ENOSPC));
    assert_eq!(set.merge(&[glob("more")]).err(), Some(ENOSPC));
    assert_eq!(set.insert(glob("t7")), Ok(()));
    assert_eq!(set.merge(&[glob("t7")]).unwrap().len(), MAX_GLOBS);
    assert_eq!(set.len(), MAX_GLOBS);
    assert!(set.matches(b"t255") && !set.matches(b"t256"));
}

#[test]
fn without_memory_a_set_of_globs_stays_as_it_is() {
    let mut set = globs(&["a", "b"]);
    set = set.try_clone().unwrap();
    limit_allocations(Some(0));
    let results = (
        set.insert(glob("c")),
        set.merge(&[]).map(|_| ()),
        set.try_clone().map(|_| ()),
        set.insert(glob("a")),
    );
    limit_allocations(None);
    assert_eq!(results, (Err(ENOMEM), Err(ENOMEM), Err(ENOMEM), Ok(())));
    assert_eq!(texts(&set), ["a", "b"]);
}

#[test]
fn pending_ids_replace_or_add() {
    let current = IdSet::default().merge(&[5, 7]).unwrap();
    let pending = || {
        let mut pending = NewList::<IdSet>::default();
        for (offset, word) in [b"9", b"7", b"1", b"9"].into_iter().enumerate() {
            pending.push(word, offset, &NAMES).unwrap();
        }
        pending
    };
    let replaced = pending().commit(true, &current).unwrap();
    assert_eq!(replaced.as_slice(), [1, 7, 9]);
    let added = pending().commit(false, &current).unwrap();
    assert_eq!(added.as_slice(), [1, 5, 7, 9]);

    let nothing = NewList::<IdSet>::default();
    assert_eq!(nothing.commit(false, &current).unwrap().as_slice(), [5, 7]);
    let nothing = NewList::<IdSet>::default();
    assert!(nothing.commit(true, &current).unwrap().is_empty());
    assert_eq!(current.as_slice(), [5, 7]);
}

#[test]
fn pending_globs_replace_or_add() {
    let current = globs(&["b", "a"]);
    let pending = || {
        let mut pending = NewList::<GlobSet>::default();
        for word in [b"z*", b"a\0"] {
            // The second word is invalid and must have no effect.
            let _ = pending.push(word, 0, &NAMES);
        }
        pending.push(b"b", 9, &NAMES).unwrap();
        pending
    };
    let replaced = pending().commit(true, &current).unwrap();
    assert_eq!(texts(&replaced), ["z*", "b"]);
    let added = pending().commit(false, &current).unwrap();
    assert_eq!(texts(&added), ["b", "a", "z*"]);

    let nothing = NewList::<GlobSet>::default();
    assert!(nothing.commit(true, &current).unwrap().is_empty());
    assert_eq!(texts(&current), ["b", "a"]);
}

#[test]
fn pending_says_what_is_wrong_with_which_word() {
    let mut ids = NewList::<IdSet>::default();
    for (word, fault) in [
        (b"x".as_slice(), Fault::NotANumber),
        (b"-1", Fault::OutOfRange),
        (b"4194305", Fault::OutOfRange),
    ] {
        let error = ids.push(word, 42, &NAMES).unwrap_err();
        assert_eq!(error.fault(), fault);
        assert_eq!(error.token(), word);
        assert_eq!(error.offset(), 42);
    }
    let mut globs = NewList::<GlobSet>::default();
    for (word, fault) in [
        (b"".as_slice(), Fault::Empty),
        (b"[a", Fault::UnterminatedClass),
        (b"a\\", Fault::TrailingBackslash),
        (b"a\\\n", Fault::ControlCharacter),
        (b"0123456789abcdef", Fault::NameTooLong),
    ] {
        let error = globs.push(word, 7, &NAMES).unwrap_err();
        assert_eq!(error.fault(), fault);
        assert_eq!(error.token(), word);
        assert_eq!(error.offset(), 7);
    }
}

#[test]
fn too_many_together_are_refused_at_the_commit() {
    let full: Vec<i32> = (0..crate::filter::ids::MAX_IDS as i32).collect();
    let full = IdSet::default().merge(&full).unwrap();
    let mut pending = NewList::<IdSet>::default();
    pending.push(b"4000000", 0, &NAMES).unwrap();
    let error = pending.commit(false, &full).err().unwrap();
    assert_eq!(error.fault(), Fault::TooMany);
    assert_eq!(error.errno(), ENOSPC);
    assert_eq!(error.token(), b"");
}
