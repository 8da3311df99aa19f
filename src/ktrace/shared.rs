// SPDX-License-Identifier: GPL-2.0

//! Layout checks of structs that C and Rust share and each define on their own.
//!
//! The build runs bindgen on the C definitions (`shared.h`, `Kbuild`) and records the layout of
//! each member as assertions. They are compiled here against the Rust type: the build fails if the
//! size of a struct differs, or if a member has a different offset or name or is missing in Rust.

/// Compares the layout of a struct of this module with that of C:
/// `same_as_c!(Ours, ktrace_theirs)`.
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
