// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes man pages. The sections that `clap_mangen` renders are completed with a synopsis that has
//! the values of options, and with examples.

use std::{
    fs,
    io,
    path::Path, //
};

use clap::{
    Arg,
    ArgAction,
    Command, //
};
use clap_mangen::{
    roff::{
        bold,
        italic,
        roman,
        Inline,
        Roff, //
    },
    Man,
};

/// The word before the examples of a verb, in the text after its help.
const EXAMPLES: &str = "Examples:\n";

/// Writes a page for a command and for each of its verbs.
pub fn write(mut command: Command, directory: &Path) -> io::Result<()> {
    command.build();
    for verb in command.get_subcommands() {
        page(verb, directory)?;
    }
    page(&command, directory)
}

fn page(command: &Command, directory: &Path) -> io::Result<()> {
    let man = Man::new(command.clone());
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut page = Page::default();
    page.add(|out| man.render_name_section(out))?;
    page.roff(&synopsis(command))?;
    page.add(|out| man.render_description_section(out))?;
    page.add(|out| man.render_options_section(out))?;
    if command.has_subcommands() {
        page.add(|out| man.render_subcommands_section(out))?;
    }
    if let Some(help) = command.get_after_help() {
        page.roff(&after(&help.to_string()))?;
    }
    // The empty argument is the date.
    let title = format!(
        ".TH {} 1 \"\" \"ferrotrace {}\" \"User Commands\"\n",
        name.replace('-', "\\-"),
        env!("CARGO_PKG_VERSION")
    );
    let text = format!("{PREAMBLE}{title}{}", page.0);
    fs::write(directory.join(format!("{name}.1")), text)
}

/// The lines with which each text of the library begins.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The sections of a page.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Adds what a function of the library writes.
    fn add(&mut self, render: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = Vec::new();
        render(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        self.0
            .push_str(text.strip_prefix(PREAMBLE).unwrap_or(&text));
        Ok(())
    }

    fn roff(&mut self, roff: &Roff) -> io::Result<()> {
        self.add(|mut out| roff.to_writer(&mut out))
    }
}

/// Returns the synopsis: the options with their values, then the other arguments.
fn synopsis(command: &Command) -> Roff {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut line = vec![bold(name)];
    for option in command.get_opts().filter(|option| !option.is_hide_set()) {
        line.extend([roman(" ["), flag(option), roman(" ")]);
        line.extend([italic(values(option)), roman("]")]);
        line.extend(dots(option));
    }
    let flags = command.get_arguments().filter(|argument| {
        !argument.is_positional()
            && !argument.get_action().takes_values()
            && !argument.is_hide_set()
    });
    for argument in flags {
        line.extend([roman(" ["), flag(argument), roman("]")]);
    }
    for argument in command.get_positionals() {
        let is_required = argument.is_required_set();
        let (before, after) = if is_required { (" ", "") } else { (" [", "]") };
        line.extend([roman(before), italic(values(argument)), roman(after)]);
        line.extend(dots(argument));
    }
    if command.has_subcommands() {
        line.extend([roman(" "), italic("VERB")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text(line);
    roff
}

/// Returns the short form of an option, or the long one if it has no other.
fn flag(option: &Arg) -> Inline {
    match (option.get_short(), option.get_long()) {
        (Some(short), _) => bold(format!("-{short}")),
        (None, Some(long)) => bold(format!("--{long}")),
        (None, None) => bold(option.get_id().as_str()),
    }
}

fn values(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<_> = names.iter().map(|name| name.as_str()).collect();
    names.join(" ")
}

/// Returns the sign of an argument that can be repeated.
fn dots(argument: &Arg) -> Option<Inline> {
    let is_repeated = matches!(argument.get_action(), ArgAction::Append);
    is_repeated.then(|| roman("..."))
}

/// Returns the sections with the text after the help: examples, whose lines stay as they are, and
/// paragraphs.
fn after(help: &str) -> Roff {
    let mut roff = Roff::new();
    let (examples, notes) = match help.strip_prefix(EXAMPLES) {
        Some(rest) => rest.split_once("\n\n").unwrap_or((rest, "")),
        None => ("", help),
    };
    if !examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
        for (number, paragraph) in notes.split("\n\n").enumerate() {
            if number != 0 {
                roff.control("PP", []);
            }
            roff.text([roman(paragraph.replace('\n', " "))]);
        }
    }
    roff
}
