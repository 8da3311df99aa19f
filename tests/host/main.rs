// SPDX-License-Identifier: GPL-2.0

//! Host tests of code that needs no kernel: filters, rules and limits (`src/filter/`,
//! `src/trigger_rule/`, `src/marker_text.rs`, `src/thresholds.rs`, `src/time_split.rs`,
//! `src/profile/histogram.rs`, `src/task_times/transition.rs`, `src/task_filter/inherited.rs`),
//! words of compact records (`src/ktrace/compact/encoding.rs`) and the plugin that reads them
//! (`tools/traceevent/`), past times (`src/ktrace/record/compressed_delta.rs`), the tags of hooks
//! (`src/ktrace/fgraph/tag.rs`), task names in text (`src/ktrace/escape.rs`), and the formats and
//! record layout of trace events (`src/ktrace/event/`). `run` builds and runs them.

// The tests do not use all of these modules.
#[allow(dead_code)]
#[path = "../../src/filter/mod.rs"]
mod filter;

#[path = "../../src/marker_text.rs"]
mod marker_text;

#[path = "../../src/trigger_rule/mod.rs"]
mod trigger_rule;

#[allow(dead_code)]
#[path = "../../src/thresholds.rs"]
mod thresholds;

#[allow(dead_code)]
#[path = "../../src/time_split.rs"]
mod time_split;

#[allow(dead_code)]
#[path = "../../src/profile/histogram.rs"]
mod histograms;

#[allow(dead_code)]
#[path = "../../src/task_times/transition.rs"]
mod transitions;

#[allow(dead_code)]
#[path = "../../src/task_filter/inherited.rs"]
mod inheriteds;

#[path = "../../src/ktrace/record/compressed_delta.rs"]
mod deltas;

#[path = "../../src/ktrace/fgraph/tag.rs"]
mod tags;

#[path = "../../src/ktrace/escape.rs"]
mod escapes;

#[allow(dead_code)]
#[path = "../../src/ktrace/compact/encoding.rs"]
mod words;

#[path = "../../src/ktrace/value_names.rs"]
pub(crate) mod names_of_values;

mod ktrace {
    pub(crate) use super::names_of_values as value_names;

    pub mod sync {
        pub mod read_once {
            //! A substitute for `src/ktrace/sync/read_once.rs`.

            use kernel::sync::atomic::{
                Atomic,
                Relaxed, //
            };

            /// Accesses a value like `READ_ONCE()` and `WRITE_ONCE()`.
            pub trait ReadOnce<T> {
                /// Returns the value.
                fn read_once(&self) -> T;

                /// Stores a value.
                fn write_once(&self, value: T);
            }

            impl<T: Copy + PartialEq + core::ops::AddAssign> ReadOnce<T> for Atomic<T> {
                fn read_once(&self) -> T {
                    self.load(Relaxed)
                }

                fn write_once(&self, value: T) {
                    self.store(value, Relaxed);
                }
            }

            /// Adds to a value that has no other writer.
            pub trait AddHere<T> {
                /// Adds `value`.
                fn add_here(&self, value: T);
            }

            impl<T: Copy + PartialEq + core::ops::AddAssign> AddHere<T> for Atomic<T> {
                fn add_here(&self, value: T) {
                    self.add(value, Relaxed);
                }
            }
        }
    }
}

#[expect(dead_code, reason = "task accounting needs more of it")]
#[path = "../../src/relaxed_u64.rs"]
mod relaxed_u64;

mod cgroups;
mod compressed_delta;
mod decision;
mod encoding;
mod escape;
#[allow(dead_code)]
mod event;
mod format;
mod glob;
mod histogram;
mod ids;
#[allow(dead_code)]
mod inherited;
mod input;
mod layout;
mod list;
mod marker;
mod names;
mod plugin;
mod random;
mod tag;
mod threshold;
mod tokens;
mod transition;
mod trigger;
