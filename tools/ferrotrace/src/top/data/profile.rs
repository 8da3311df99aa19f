// SPDX-License-Identifier: MIT OR Apache-2.0

//! The functions in the kernel's profile, `ferrotrace/profile`.

use crate::model::Split;

/// The calls of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name, as the kernel shows it.
    pub name: String,
    /// The number of calls that have returned.
    pub calls: u64,
    /// Their time in ns.
    pub split: Split,
    /// 99 % of the calls took at most this time in ns.
    pub p99: u64,
    /// The longest call in ns.
    pub max: u64,
}

/// Reads the functions of a profile, in its order: the largest total first. Lines that are not
/// understood are left out.
pub fn parse(text: &str) -> Vec<Function> {
    let mut columns: Vec<&str> = Vec::new();
    let mut functions = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('#') {
            Some(header) if header.trim_end().ends_with(" function") => {
                columns = header.split_whitespace().collect();
            }
            Some(header) if header.trim_end().ends_with(" task") => break,
            Some(_) => {}
            None => functions.extend(function(line, &columns)),
        }
    }
    functions
}

/// Reads a line of the table. The last column is the name, which can contain spaces.
fn function(line: &str, columns: &[&str]) -> Option<Function> {
    let mut rest = line;
    let mut values = Vec::new();
    for _ in 1..columns.len() {
        let (value, after) = rest.trim_start().split_once(' ')?;
        values.push(value);
        rest = after;
    }
    let value = |name: &str| {
        let position = columns.iter().position(|column| *column == name)?;
        values.get(position).copied()
    };
    let ns = |name: &str| nanoseconds(value(name)?);
    Some(Function {
        name: rest.trim().to_string(),
        calls: value("calls")?.parse().ok()?,
        split: Split {
            run: ns("run")?,
            wait: ns("wait")?,
            block: ns("block")?,
        },
        p99: ns("p99")?,
        max: ns("max")?,
    })
}

/// Converts a time in us with three digits after the point.
fn nanoseconds(text: &str) -> Option<u64> {
    let (us, ns) = text.split_once('.')?;
    let (us, ns): (u64, u64) = (us.parse().ok()?, ns.parse().ok()?);
    us.checked_mul(1000)?.checked_add(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# profile: times in us by function, task, place, waker, section; needs ferro-profile; any text,\
 for example 0, resets it
# 5291 KiB; quantiles are off by 6.25 % at most
# dropped: 0 calls, 0 task times, 0 block times, 0 sections, 0 paths
# calls        total          run         wait        block          min          max          p50\
          p90          p99        p99.9  function
    190  1003164.420     7728.653    12864.636   982571.131     5022.075     6786.119     5000.000\
     6000.000     6500.001     6553.600  do_nanosleep
      2        3.372        1.485        0.343        1.547        1.203        2.405        1.000\
        2.000        2.405        2.405  f [module] (#2)
# times        total what           min          max          p50          p90          p99\
        p99.9  task
    272    10290.493 run          5.693      580.488        1.000        1.000        1.000\
      557.056  pipe-consumer-130
# times        block          min          max          p50          p90          p99\
        p99.9  place
    190   982571.131     5022.075     6786.119        1.000        1.000        1.000\
     6553.600  hrtimer_nanosleep
";

    #[test]
    fn functions() {
        let functions = parse(TEXT);
        let [sleep, other] = &functions[..] else {
            panic!("{functions:?}");
        };
        let expected = Function {
            name: "do_nanosleep".into(),
            calls: 190,
            split: Split {
                run: 7_728_653,
                wait: 12_864_636,
                block: 982_571_131,
            },
            p99: 6_500_001,
            max: 6_786_119,
        };
        assert_eq!(*sleep, expected);
        assert_eq!((other.name.as_str(), other.calls), ("f [module] (#2)", 2));
        assert_eq!(parse(""), []);
    }
}
