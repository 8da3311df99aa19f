// SPDX-License-Identifier: GPL-2.0

//! A module that uses ktrace for an event of its own: the temperature of a board.
//!
//! Each write of a temperature to `/sys/kernel/debug/thermal_sample/temperature`, in thousandths of
//! a degree, is one measurement.

use kernel::{
    c_str,
    debugfs::{
        Dir,
        File, //
    },
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
    uaccess::UserSliceReader, //
};

#[path = "../../src/ktrace/mod.rs"]
pub mod ktrace;

ktrace::event::trace_event! {
    system thermal_sample;

    /// A thermal zone was measured.
    pub(crate) event thermal_temperature(zone: &&[u8], id: u32, temp_prev: i32, temp: i32);

    record {
        thermal_zone: crate::ktrace::event::field::Str = zone,
        id: u32 = id,
        temp_prev: i32 = temp_prev,
        temp: i32 = temp,
    }

    print "thermal_zone={} id={} temp_prev={} temp={}", thermal_zone, id, temp_prev, temp;
}

module! {
    type: Thermal,
    name: "thermal_sample",
    authors: ["The ferrotrace authors"],
    description: "A trace event in Rust, as an example",
    license: "GPL",
}

/// The loaded module.
struct Thermal {
    _file: Pin<KBox<File<Atomic<i32>>>>,
    _dir: Dir,
}

/// Handles a measurement. `last` is the previous temperature.
fn measure(last: &Atomic<i32>, input: &mut UserSliceReader) -> Result {
    let mut text = [0; 16];
    let len = input.len().min(text.len());
    let text = text.get_mut(..len).ok_or(EINVAL)?;
    input.read_slice(text)?;
    let text = core::str::from_utf8(text).map_err(|_| EINVAL)?;
    let temp = text.trim().parse().map_err(|_| EINVAL)?;
    thermal_temperature::trace(&b"board".as_slice(), 0, last.xchg(temp, Relaxed), temp);
    Ok(())
}

impl kernel::Module for Thermal {
    fn init(module: &'static ThisModule) -> Result<Self> {
        ktrace::resolve::resolve(module)?;
        let dir = Dir::new(c_str!("thermal_sample"));
        let last = Atomic::new(0);
        let file = dir.write_callback_file(c_str!("temperature"), last, &measure);
        Ok(Self {
            _file: KBox::pin_init(file, GFP_KERNEL)?,
            _dir: dir.clone(),
        })
    }
}
