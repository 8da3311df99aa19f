// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a page. It is well-formed XML as well, so a parser of XML finds all mistakes.
#![allow(dead_code, reason = "no test uses all of it")]

use std::collections::BTreeMap;

use quick_xml::{
    events::{
        BytesStart,
        Event, //
    },
    Reader,
    XmlVersion, //
};

/// A cell of a table.
#[derive(Debug, Default)]
pub struct Cell {
    /// The number by which the table is sorted.
    pub value: Option<u64>,
    /// All text in it.
    pub text: String,
}

/// The parts of a page, or of a flame graph in it, that tests compare.
#[derive(Debug, Default)]
pub struct Page {
    /// The text of `h1`.
    pub title: String,
    /// The content security policy.
    pub policy: String,
    /// The rows of the bodies of tables, by the names of tables.
    pub tables: BTreeMap<String, Vec<Vec<Cell>>>,
    /// The number of elements, by their names.
    pub elements: BTreeMap<String, usize>,
    /// Addresses of which a browser can load something.
    pub references: Vec<String>,
    /// The documents in frames.
    pub frames: Vec<Page>,
    titles: Vec<String>,
    table: String,
    path: Vec<String>,
}

impl Page {
    /// Reads a page.
    ///
    /// # Panics
    ///
    /// If it is not well-formed.
    pub fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut reader = Reader::from_str(text);
        loop {
            let at = reader.buffer_position();
            match reader
                .read_event()
                .unwrap_or_else(|e| panic!("at {at}: {e}"))
            {
                Event::Start(start) => {
                    page.start(&start);
                    page.path.push(name(start.name().as_ref()));
                }
                Event::Empty(start) => page.start(&start),
                Event::End(_) => drop(page.path.pop()),
                Event::Text(text) => page.text(&text.decode().expect("UTF-8")),
                Event::GeneralRef(reference) => {
                    let text = match &*reference.decode().expect("UTF-8") {
                        "lt" | "#60" => "<",
                        "gt" | "#62" => ">",
                        "amp" | "#38" => "&",
                        "quot" | "#34" => "\"",
                        "apos" | "#39" => "'",
                        other => panic!("at {at}: &{other};"),
                    };
                    page.text(text);
                }
                Event::Eof => break,
                Event::CData(_) | Event::Comment(_) | Event::DocType(_) => {}
                other => panic!("at {at}: {other:?}"),
            }
        }
        assert!(page.path.is_empty(), "not closed: {:?}", page.path);
        page
    }

    fn start(&mut self, start: &BytesStart<'_>) {
        let element = name(start.name().as_ref());
        let mut value = None;
        for attribute in start.attributes() {
            let attribute = attribute.expect("an attribute");
            let text = attribute.normalized_value(XmlVersion::Implicit1_0);
            let text = text.expect("escaped").into_owned();
            match attribute.key.as_ref() {
                b"src" | b"href" | b"xlink:href" | b"srcset" | b"data" | b"action" | b"poster" => {
                    self.references.push(text);
                }
                b"srcdoc" => self.frames.push(Self::parse(&text)),
                b"data-table" => {
                    self.tables.insert(text.clone(), Vec::new());
                    self.table = text;
                }
                b"data-v" => value = Some(text.parse().expect("a number")),
                b"content" if text.contains("-src") => self.policy = text,
                b"style" => self.style(&text),
                _ => {}
            }
        }
        match element.as_str() {
            "tr" if self.is_in("tbody") => {
                let rows = self.tables.get_mut(&self.table).expect("a table");
                rows.push(Vec::new());
            }
            "td" => {
                let rows = self.tables.get_mut(&self.table).expect("a table");
                let text = String::new();
                rows.last_mut().expect("a row").push(Cell { value, text });
            }
            "title" => self.titles.push(String::new()),
            _ => {}
        }
        *self.elements.entry(element).or_default() += 1;
    }

    fn text(&mut self, text: &str) {
        if self.is_in("style") {
            self.style(text);
        } else if self.is_in("title") {
            self.titles.last_mut().expect("a title").push_str(text);
        } else if self.is_in("h1") {
            self.title.push_str(text);
        } else if self.is_in("td") && !self.is_in("svg") {
            let rows = self.tables.get_mut(&self.table).expect("a table");
            let cell = rows.last_mut().and_then(|row| row.last_mut());
            cell.expect("a cell").text.push_str(text);
        }
    }

    /// Finds addresses in a style sheet.
    fn style(&mut self, text: &str) {
        for word in ["url(", "@import"] {
            if text.contains(word) {
                self.references.push(text.to_owned());
            }
        }
    }

    fn is_in(&self, element: &str) -> bool {
        self.path.iter().any(|name| name == element)
    }

    /// Returns the time of a flame graph in ns: that of its lowest frame.
    pub fn all_ns(&self) -> u64 {
        let title = self
            .titles
            .iter()
            .find_map(|title| title.strip_prefix("all ("));
        let (digits, _) = title.and_then(|title| title.split_once(" ns")).expect("ns");
        digits.replace(',', "").parse().expect(digits)
    }
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
