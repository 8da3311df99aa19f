// SPDX-License-Identifier: MIT OR Apache-2.0

//! The statistics of an instance, `ferrotrace/stats`.

/// Numbers of `ferrotrace/stats` of the instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls that have returned.
    pub calls: u64,
    /// Tasks that the filter selects; nothing if there is no filter.
    pub tasks: Option<u64>,
    /// Records that were overwritten before they were read, or that the ring buffer refused.
    pub lost: u64,
    /// Calls that were not recorded, because they are nested too deeply.
    pub too_deep: u64,
}

impl Stats {
    /// Reads the text of the file. A line that is missing counts as 0.
    pub fn parse(text: &str) -> Self {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.strip_prefix(": "))
        };
        let number = |name| value(name).and_then(|text| text.parse().ok()).unwrap_or(0);
        Self {
            calls: number("funcgraph_exit records") + number("function records"),
            tasks: value("tasks traced").and_then(|text| text.parse().ok()),
            lost: number("overrun") + number("dropped events"),
            too_deep: number("shadow stack overrun"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# stats: numbers\nrecording: 1\ntasks traced: 2\nfunction records: 1\n\
        funcgraph_entry records: 20\nfuncgraph_exit records: 19\nentries: 93\noverrun: 3\n\
        dropped events: 4\nshadow stack overrun: 5\n";

    #[test]
    fn stats() {
        let stats = Stats::parse(TEXT);
        let expected = Stats {
            calls: 20,
            tasks: Some(2),
            lost: 7,
            too_deep: 5,
        };
        assert_eq!(stats, expected);
        assert_eq!(Stats::parse("tasks traced: all\n"), Stats::default());
    }
}
