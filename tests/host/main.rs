// SPDX-License-Identifier: GPL-2.0

//! Tests on the host of what needs no kernel: the policy (`src/filter/`, `src/limits.rs`,
//! `src/profile/spread.rs`, `src/sched/stamp.rs`, `src/watch/born.rs`), the words of compact records
//! (`src/ktrace/compact/word.rs`) and who reads them (`tools/traceevent/`), how long ago something was
//! (`src/ktrace/ago.rs`), what identifies hooks (`src/ktrace/fgraph/tag.rs`), names in
//! text (`src/ktrace/escape.rs`), and the text of trace events
//! and where their fields stand (`src/ktrace/event/`). `run` builds and runs them.

// Not all of what follows is needed here.
#[allow(dead_code)]
#[path = "../../src/filter/mod.rs"]
mod filter;

#[allow(dead_code)]
#[path = "../../src/limits.rs"]
mod limits;

#[allow(dead_code)]
#[path = "../../src/profile/spread.rs"]
mod spreads;

#[allow(dead_code)]
#[path = "../../src/sched/stamp.rs"]
mod stamps;

#[allow(dead_code)]
#[path = "../../src/watch/born.rs"]
mod borns;

#[path = "../../src/ktrace/ago.rs"]
mod agos;

#[path = "../../src/ktrace/fgraph/tag.rs"]
mod tags;

#[path = "../../src/ktrace/escape.rs"]
mod escapes;

#[allow(dead_code)]
#[path = "../../src/ktrace/compact/word.rs"]
mod words;

mod ktrace {
    pub mod once {
        //! A stand-in for `src/ktrace/once.rs`.

        use kernel::sync::atomic::{
            Atomic,
            Relaxed, //
        };

        /// As there.
        pub trait Once<T> {
            /// The value.
            fn read_once(&self) -> T;

            /// Another value.
            fn write_once(&self, value: T);
        }

        impl<T: Copy + PartialEq + core::ops::AddAssign> Once<T> for Atomic<T> {
            fn read_once(&self) -> T {
                self.load(Relaxed)
            }

            fn write_once(&self, value: T) {
                self.store(value, Relaxed);
            }
        }

        /// As there.
        pub trait AddHere<T> {
            /// Adds to it.
            fn add_here(&self, value: T);
        }

        impl<T: Copy + PartialEq + core::ops::AddAssign> AddHere<T> for Atomic<T> {
            fn add_here(&self, value: T) {
                self.add(value, Relaxed);
            }
        }
    }
}

mod ago;
#[allow(dead_code)]
mod born;
#[expect(dead_code, reason = "accounts need more of it")]
#[path = "../../src/word.rs"]
mod word;

mod escape;
#[allow(dead_code)]
mod event;
mod format;
mod glob;
mod ids;
mod input;
mod layout;
mod list;
mod pack_words;
mod plugin;
mod random;
mod spread;
mod stamp;
mod tag;
mod threshold;
mod tokens;
mod verdict;
