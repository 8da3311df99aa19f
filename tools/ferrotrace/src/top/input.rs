// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys.

use ratatui::crossterm::event::{
    KeyCode,
    KeyEvent,
    KeyModifiers, //
};

use super::data::{
    Data,
    Trigger, //
};

/// The choices of the user.
#[derive(Clone, Default)]
pub struct Ui {
    /// Whether the times of the chosen thread are shown alone.
    pub alone: bool,
    /// Whether the help is shown.
    pub help: bool,
    /// The text of the trigger while it is typed.
    pub prompt: Option<String>,
    /// A message about the last input.
    pub message: Option<String>,
    /// Whether one screen is printed, so there are no keys.
    pub once: bool,
    /// The data at the time at which the screen was held.
    held: Option<Box<Data>>,
}

/// The effect of a key, in addition to a change of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// Clears the sums since the beginning.
    Clear,
    /// Ends the program.
    Quit,
}

impl Ui {
    /// Returns what is chosen if one screen is printed.
    pub fn printed() -> Self {
        Self {
            once: true,
            ..Self::default()
        }
    }

    /// Returns whether the screen is held.
    pub fn held(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the data that are shown: the current ones, unless the screen is held.
    pub fn shown<'a>(&'a self, data: &'a Data) -> &'a Data {
        self.held.as_deref().unwrap_or(data)
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, data: &mut Data) -> Action {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Action::Quit,
                _ => Action::None,
            };
        }
        if let Some(text) = self.prompt.take() {
            self.edit(text, key.code, data);
            return Action::None;
        }
        if std::mem::take(&mut self.help) && key.code != KeyCode::Char('q') {
            return Action::None;
        }
        match key.code {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Char('z') => return Action::Clear,
            KeyCode::Char(' ') => {
                self.held = match self.held.take() {
                    Some(_) => None,
                    None => Some(Box::new(data.clone())),
                };
            }
            KeyCode::Char('t') => {
                let text = data.scope.trigger().map(Trigger::to_string);
                self.prompt = Some(text.unwrap_or_default());
            }
            KeyCode::Char('+' | '=') => self.each(data, |data| data.scope.change_base(1)),
            KeyCode::Char('-') => self.each(data, |data| data.scope.change_base(-1)),
            KeyCode::Up | KeyCode::Char('k') => self.choose(data, -1),
            KeyCode::Down | KeyCode::Char('j') => self.choose(data, 1),
            KeyCode::Enter => self.alone = !self.alone,
            KeyCode::Esc => self.alone = false,
            KeyCode::Char('?' | 'h') => self.help = true,
            _ => {}
        }
        Action::None
    }

    /// Changes what is shown, and what will be shown after the screen was held.
    fn each(&mut self, data: &mut Data, change: impl Fn(&mut Data)) {
        if let Some(held) = &mut self.held {
            change(held);
        }
        change(data);
    }

    /// Chooses the thread that is some rows below the current one.
    fn choose(&mut self, data: &mut Data, rows: isize) {
        let shown = self.shown(data);
        let ids: Vec<_> = shown.rows().iter().map(|(id, _)| *id).collect();
        let current = ids.iter().position(|id| Some(*id) == shown.scope.thread);
        let next = current.unwrap_or(0).saturating_add_signed(rows);
        if let Some(id) = ids.get(next.min(ids.len().saturating_sub(1))) {
            self.each(data, |data| data.choose(*id));
        }
    }

    /// Changes the text of the trigger.
    fn edit(&mut self, mut text: String, key: KeyCode, data: &mut Data) {
        match key {
            KeyCode::Esc => return,
            KeyCode::Enter if text.trim().is_empty() => {
                data.scope.set_trigger(None);
                return;
            }
            KeyCode::Enter => match Trigger::parse(&text) {
                Ok(trigger) => {
                    data.scope.set_trigger(Some(trigger));
                    return;
                }
                Err(error) => self.message = Some(format!("invalid trigger '{text}': {error}")),
            },
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(c) => text.push(c),
            _ => {}
        }
        self.prompt = Some(text);
    }
}
