// SPDX-License-Identifier: GPL-2.0

//! Structs that C and Rust share, each of which has its own definition of them.
//!
//! The build has bindgen find out where C has each member (`shared.h`, `Kbuild`), and writes that down
//! as assertions. They are compiled here with the type that Rust has: a struct of another size, or a
//! member that has another offset, another name, or that Rust does not have, fails the build.

/// Compares a struct of this module with that of C: `same_as_c!(Ours, ktrace_theirs)`.
macro_rules! same_as_c {
    ($ours:ident, $theirs:ident) => {
        #[allow(
            clippy::all,
            clippy::undocumented_unsafe_blocks,
            non_camel_case_types,
            path_statements,
            unused_must_use
        )]
        mod $theirs {
            use super::$ours as $theirs;
            include!(concat!(
                env!("KTRACE_GENERATED"),
                "/shared/",
                stringify!($theirs),
                ".rs"
            ));
        }
    };
}

pub(super) use same_as_c;
