// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bindings of the libraries that read recordings: libtracecmd, libtracefs and
//! libtraceevent. All unsafe code of the program is in this module.

mod fault;
mod format;
mod formats;
mod input;
mod iterate;
mod pages;
mod text;

pub use fault::Guard;
pub use format::{
    EventFormat,
    Field, //
};
pub use formats::Formats;
pub use input::Input;
pub use iterate::RawRecord;

#[expect(
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    reason = "bindgen keeps the names of the libraries"
)]
#[allow(clippy::all, unsafe_op_in_unsafe_fn)]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/tracecmd.rs"));
}
