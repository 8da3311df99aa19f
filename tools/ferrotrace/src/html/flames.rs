// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flame graphs of the page. Each is a document in a frame, so that their scripts and styles
//! are separate.

use askama::Template;

use super::text::Short;
use crate::flame::{
    self,
    Part,
    Stacks,
    Threads, //
};

/// The height of a frame in pixels if the picture does not say it.
const HEIGHT: u32 = 400;

/// A flame graph.
pub struct Flame {
    /// The word for the part of the time.
    pub name: &'static str,
    /// A description of it.
    pub what: &'static str,
    /// The sum of the time.
    pub sum: Short,
    /// The document of the frame; empty if there is no such time.
    pub document: String,
    /// Its height in pixels.
    pub height: u32,
}

/// The document.
#[derive(Template)]
#[template(path = "html/flame.html")]
struct Document<'a> {
    what: &'a str,
    /// An element `svg`.
    svg: &'a str,
}

/// Returns the flame graphs of all parts of the time. `names` are the names of functions.
///
/// # Errors
///
/// If one cannot be drawn.
pub fn all(stacks: &Stacks, names: &[String]) -> anyhow::Result<Vec<Flame>> {
    let folded = stacks.fold(names, Threads::ByName);
    [
        (Part::Wall, "all time"),
        (Part::Run, "time on a CPU"),
        (Part::Wait, "time waiting for a CPU"),
        (Part::Block, "time blocked"),
    ]
    .into_iter()
    .map(|(part, what)| {
        let sum = folded.sum(part);
        let mut flame = Flame {
            name: part.name(),
            what,
            sum: Short(sum),
            document: String::new(),
            height: HEIGHT,
        };
        if sum != 0 {
            let mut file = Vec::new();
            flame::svg(&folded, part, what, &mut file)?;
            let file = String::from_utf8(file)?;
            // An element has no prologue.
            let svg = file.find("<svg").map_or("", |start| &file[start..]);
            flame.height = height(svg).unwrap_or(HEIGHT);
            flame.document = Document { what, svg }.render()?;
        }
        Ok(flame)
    })
    .collect()
}

/// Returns the height of a picture in pixels.
fn height(svg: &str) -> Option<u32> {
    let (_, rest) = svg.split_once(" height=\"")?;
    let (number, _) = rest.split_once('"')?;
    number.parse().ok()
}
