// SPDX-License-Identifier: MIT OR Apache-2.0

//! Colours and symbols. Each state has a symbol of its own, so that colours are not needed.

use ratatui::style::{
    Color,
    Modifier,
    Style, //
};

use crate::top::data::Part;

/// The styles of the screen.
#[derive(Clone, Copy, Default)]
pub struct Theme {
    pub text: Style,
    pub title: Style,
    pub faint: Style,
    pub warning: Style,
    pub chosen: Style,
    run: Style,
    wait: Style,
    block: Style,
}

impl Theme {
    /// Returns the styles with colours.
    pub fn colours() -> Self {
        Self {
            text: Style::new(),
            title: Style::new().add_modifier(Modifier::BOLD),
            faint: Style::new().fg(Color::DarkGray),
            warning: Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            chosen: Style::new().add_modifier(Modifier::REVERSED),
            run: Style::new().fg(Color::Green),
            wait: Style::new().fg(Color::Yellow),
            block: Style::new().fg(Color::Blue),
        }
    }

    /// Returns the styles without colours, as `NO_COLOR` demands.
    pub fn plain() -> Self {
        Self {
            title: Style::new().add_modifier(Modifier::BOLD),
            warning: Style::new().add_modifier(Modifier::BOLD),
            chosen: Style::new().add_modifier(Modifier::REVERSED),
            ..Self::default()
        }
    }

    /// Returns the style of a state.
    pub fn style(&self, part: Part) -> Style {
        match part {
            Part::Run => self.run,
            Part::Wait => self.wait,
            Part::Block => self.block,
        }
    }

    /// Returns the symbol of a state.
    pub fn symbol(&self, part: Part) -> &'static str {
        match part {
            Part::Run => "█",
            Part::Wait => "▒",
            Part::Block => "·",
        }
    }
}
