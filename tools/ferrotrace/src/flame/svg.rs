// SPDX-License-Identifier: MIT OR Apache-2.0

//! Flame graphs as SVG, by inferno.

use std::io;

use inferno::flamegraph::{
    color::{
        BasicPalette,
        Color,
        PaletteMap, //
    },
    from_lines,
    Options,
    Palette, //
};

use super::{
    fold::{
        Folded,
        BLOCK,
        WAIT, //
    },
    Part, //
};

/// Writes a flame graph that needs no other files. Its frames have titles with their times in ns.
///
/// # Errors
///
/// If no stack has such a time, or if writing fails.
pub fn svg(folded: &Folded<'_>, part: Part, title: &str, out: impl io::Write) -> io::Result<()> {
    let mut lines = folded.lines(part);
    // Inferno sorts lines by bytes, where "a;f2" is between "a;f" and "a;f;g": f would have two
    // frames. A flame chart is not sorted, but reversed.
    lines.reverse();
    let mut colors = PaletteMap::default();
    if part == Part::Wall {
        colors.insert(WAIT, Color::new(232, 200, 60));
        colors.insert(BLOCK, Color::new(110, 150, 220));
    }
    let mut options = Options::default();
    options.flame_chart = true;
    options.title = title.to_owned();
    options.subtitle = Some("width: time in ns; order: alphabetical".to_owned());
    options.count_name = "ns".to_owned();
    options.colors = Palette::Basic(match part {
        Part::Wall | Part::Run => BasicPalette::Hot,
        Part::Wait => BasicPalette::Yellow,
        Part::Block => BasicPalette::Io,
    });
    options.deterministic = true;
    options.palette_map = Some(&mut colors);
    from_lines(&mut options, lines.iter().map(String::as_str), out)
}
