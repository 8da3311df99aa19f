// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sizes and durations with units, as the user types them.

use std::{
    fmt,
    str::FromStr,
    time::Duration, //
};

/// Parses a size in bytes: `4096`, `512k`, `8M` or `1G`. The units are powers of 1024, as those of
/// perf.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1_u64 << 30,
        _ => return Err("expected a size such as 512k, 8M or 1G".into()),
    };
    number
        .parse()
        .ok()
        .and_then(|number: u64| number.checked_mul(factor))
        .filter(|&size| size > 0)
        .ok_or_else(|| "expected a size such as 512k, 8M or 1G".into())
}

/// A number of bytes, shown in MB.
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0.div_ceil(100_000);
        write!(f, "{}.{} MB", tenths / 10, tenths % 10)
    }
}

/// Parses a duration: `500us`, `2ms`, `1.5s`, `10m` or `1h`. A number without a unit is an error,
/// because programs of this field do not agree on the unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a time with a unit, such as 500us, 2ms, 10s, 5m or 1h";
    let (number, unit) = split(text);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(EXPECTED.into()),
    };
    number
        .parse()
        .ok()
        .and_then(|number: f64| Duration::try_from_secs_f64(number * seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| EXPECTED.into())
}

/// Parses a duration of 1us or more. Returns its whole microseconds.
pub fn micros(text: &str) -> Result<u64, String> {
    match u64::try_from(duration(text)?.as_micros()) {
        Ok(0) => Err("the shortest threshold is 1us".into()),
        Ok(micros) => Ok(micros),
        Err(_) => Err("the threshold is too long".into()),
    }
}

/// Parses the number of a process or a thread.
pub fn task(text: &str) -> Result<u32, String> {
    let number = text.parse().ok();
    number
        .filter(|number| i32::try_from(*number).is_ok())
        .ok_or_else(|| "expected the number of a process or thread, such as 1234".into())
}

/// Parses a number that is not negative.
pub fn count<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse()
        .map_err(|_| "expected a whole number, such as 5")
}

/// Parses a number of lines.
pub fn lines(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "expected a number of lines, such as 20; 0 is all".into())
}

/// A moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The time in ns since the beginning of the recording.
    Since(u64),
    /// A timestamp in ns.
    Timestamp(u64),
}

impl Moment {
    /// Returns the timestamp in a recording that begins at `first`.
    pub fn after(self, first: u64) -> u64 {
        match self {
            Self::Since(ns) => first.saturating_add(ns),
            Self::Timestamp(ns) => ns,
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ns, unit) = match self {
            Self::Since(ns) => (ns, "s"),
            Self::Timestamp(ns) => (ns, ""),
        };
        let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        write!(
            f,
            "{}{unit}",
            text.trim_end_matches('0').trim_end_matches('.')
        )
    }
}

/// Parses a moment of a recording: a time with a unit since its beginning, or a timestamp in
/// seconds.
pub fn moment(text: &str) -> Result<Moment, &'static str> {
    const EXPECTED: &str =
        "expected a time since the beginning, such as 500ms or 1.5s, or a timestamp, such as 24.221";
    let (number, unit) = split(text);
    let moment = match unit {
        "" => timestamp(number).map(Moment::Timestamp),
        _ if number.parse() == Ok(0.0) => Some(Moment::Since(0)),
        _ => {
            let time = duration(text).ok();
            time.and_then(|time| u64::try_from(time.as_nanos()).ok())
                .map(Moment::Since)
        }
    };
    moment.ok_or(EXPECTED)
}

/// Parses seconds with up to nine digits after the point. Returns ns.
fn timestamp(text: &str) -> Option<u64> {
    let (seconds, digits) = text.split_once('.').unwrap_or((text, "0"));
    let seconds: u64 = seconds.parse().ok()?;
    let ns: u64 = format!("{digits:0<9}")
        .parse()
        .ok()
        .filter(|_| digits.len() <= 9)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// A threshold of the call graph: calls that take less are not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold(String);

impl Threshold {
    /// Parses `2ms`, or one of `total`, `run`, `wait` and `block` and a duration: `block 2ms`.
    pub fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected [total|run|wait|block] TIME, such as 'block 2ms' or 2ms";
        let mut words = text.split_whitespace();
        let (part, time) = match (words.next(), words.next(), words.next()) {
            (Some(time), None, _) => ("total", time),
            (Some(part @ ("total" | "run" | "wait" | "block")), Some(time), None) => (part, time),
            _ => return Err(EXPECTED.into()),
        };
        duration(time).map_err(|_| EXPECTED)?;
        Ok(Self(format!("{part} {}", micros(time)?)))
    }

    /// Returns the threshold as `ferrotrace/tracing_thresh` expects it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Splits a text behind its number.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("512k"), Ok(512 << 10));
        assert_eq!(size("8M"), Ok(8 << 20));
        assert_eq!(size("8 MiB"), Ok(8 << 20));
        assert_eq!(size("1G"), Ok(1 << 30));
        for wrong in ["", "M", "0", "-1", "1.5M", "8X", "99999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("500us"), Ok(Duration::from_micros(500)));
        assert_eq!(duration("2ms"), Ok(Duration::from_millis(2)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("10 m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for wrong in ["", "2", "ms", "0s", "-1s", "1.1.1s", "2 weeks", "1e9s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn microseconds() {
        assert_eq!(micros("20ms"), Ok(20_000));
        assert_eq!(micros("1.5us"), Ok(1));
        for (wrong, message) in [
            ("20", "with a unit"),
            ("999ns", "the shortest threshold is 1us"),
            ("99999999999999h", "the threshold is too long"),
        ] {
            let error = micros(wrong).expect_err(wrong);
            assert!(error.contains(message), "{wrong}: {error}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(task("1234"), Ok(1234));
        assert_eq!(lines("0"), Ok(0));
        for wrong in ["", "abc", "-1", "1.5", "2147483648"] {
            let error = task(wrong).expect_err(wrong);
            assert!(error.contains("such as 1234"), "{error}");
        }
        assert!(lines("x").is_err_and(|error| error.contains("0 is all")));
    }

    #[test]
    fn moments() {
        for (text, found, shown) in [
            ("500ms", Moment::Since(500_000_000), "0.5s"),
            ("1.5 s", Moment::Since(1_500_000_000), "1.5s"),
            ("0s", Moment::Since(0), "0s"),
            ("24.221238", Moment::Timestamp(24_221_238_000), "24.221238"),
            ("120", Moment::Timestamp(120_000_000_000), "120"),
        ] {
            assert_eq!(moment(text), Ok(found), "{text}");
            assert_eq!(found.to_string(), shown);
        }
        assert_eq!(Moment::Since(5).after(10), 15);
        assert_eq!(Moment::Timestamp(5).after(10), 5);
        for wrong in [
            "",
            "-1s",
            "x",
            "1.1.1",
            "5 weeks",
            "1.0123456789",
            "99999999999999",
        ] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn thresholds() {
        let parsed = |text| Threshold::parse(text).map(|threshold| threshold.0);
        assert_eq!(parsed("2ms"), Ok("total 2000".into()));
        assert_eq!(parsed("block 2ms"), Ok("block 2000".into()));
        assert_eq!(parsed(" wait  1s "), Ok("wait 1000000".into()));
        for wrong in [
            "",
            "block",
            "sleep 2ms",
            "block 2",
            "run 1ms 2ms",
            "run 500ns",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
