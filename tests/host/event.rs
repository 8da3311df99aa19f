// SPDX-License-Identifier: GPL-2.0

//! The part of `src/ktrace/event/` that needs no kernel.

#[path = "../../src/ktrace/event/format.rs"]
pub(crate) mod format;
#[path = "../../src/ktrace/event/layout.rs"]
pub(crate) mod layout;
#[path = "../../src/ktrace/event/text.rs"]
pub(crate) mod text;
