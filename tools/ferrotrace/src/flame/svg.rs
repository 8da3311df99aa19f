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
    Palette,
    TextTruncateDirection, //
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
        colors.insert(WAIT, Color::new(140, 190, 110));
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
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.deterministic = true;
    options.palette_map = Some(&mut colors);
    from_lines(&mut options, lines.iter().map(String::as_str), out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        flame::Threads,
        model::Split, //
    };

    #[test]
    fn each_path_is_one_frame() -> io::Result<()> {
        let mut folded = Folded::default();
        for (function, callee) in [("f", None), ("f2", None), ("f", Some("g"))] {
            let path = ["task", function].into_iter().chain(callee);
            folded.add(path, Split::new(1000, 200, 300));
        }
        let mut out = Vec::new();
        svg(&folded, Part::Wall, "title", &mut out)?;
        let text = String::from_utf8_lossy(&out);
        for (title, frames) in [
            ("all (3,000 ns", 1),
            ("f (2,000 ns", 1),
            ("f2 (1,000 ns", 1),
        ] {
            let count = text.matches(&format!("<title>{title}, ")).count();
            assert_eq!(count, frames, "{title}: {text}");
        }
        Ok(())
    }

    #[test]
    fn no_time_is_an_error() {
        let folded = crate::flame::Stacks::default().fold(&[], Threads::ByName);
        assert!(svg(&folded, Part::Run, "title", io::sink()).is_err());
    }
}
