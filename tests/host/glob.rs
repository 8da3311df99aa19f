// SPDX-License-Identifier: GPL-2.0

//! Patterns: what is accepted, and what it matches.

use core::ffi::c_char;
use core::ffi::c_int;
use std::ffi::CString;

use crate::filter::glob::Glob;
use crate::filter::glob::GlobError;
use crate::filter::glob::MAX_COMM;
use crate::filter::glob::MAX_PATTERN;
use crate::random::all_texts;
use crate::random::Random;

/// A simple and slow second implementation of patterns.
mod naive {
    /// A part of a pattern: the set of matching bytes, or `None` for a `*`.
    pub(super) type Part = Option<Vec<bool>>;

    fn only(byte: u8) -> Part {
        let mut set = vec![false; 256];
        set[usize::from(byte)] = true;
        Some(set)
    }

    /// Parses a pattern; returns `None` if it is malformed.
    pub(super) fn parse(pattern: &[u8]) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut i = 0;
        while i < pattern.len() {
            match pattern[i] {
                b'*' => parts.push(None),
                b'?' => parts.push(Some(vec![true; 256])),
                b'\\' => {
                    i += 1;
                    parts.push(only(*pattern.get(i)?));
                }
                b'[' => {
                    i += 1;
                    let inverted = pattern.get(i) == Some(&b'!');
                    if inverted {
                        i += 1;
                    }
                    let mut set = vec![false; 256];
                    let first = i;
                    while i == first || *pattern.get(i)? != b']' {
                        let low = *pattern.get(i)?;
                        let mut high = low;
                        if pattern.get(i + 1) == Some(&b'-') && *pattern.get(i + 2)? != b']' {
                            high = pattern[i + 2];
                            i += 2;
                        }
                        for byte in low..=high {
                            set[usize::from(byte)] = true;
                        }
                        i += 1;
                    }
                    parts.push(Some(set.iter().map(|taken| *taken != inverted).collect()));
                }
                byte => parts.push(only(byte)),
            }
            i += 1;
        }
        Some(parts)
    }

    pub(super) fn matches(parts: &[Part], name: &[u8]) -> bool {
        match parts.split_first() {
            None => name.is_empty(),
            Some((None, rest)) => (0..=name.len()).any(|i| matches(rest, &name[i..])),
            Some((Some(set), rest)) => {
                !name.is_empty() && set[usize::from(name[0])] && matches(rest, &name[1..])
            }
        }
    }
}

/// Compares the result of a pattern for each name with that of the second implementation.
fn compare(pattern: &[u8], names: &[Vec<u8>]) {
    let shown = pattern.escape_ascii();
    let parts = naive::parse(pattern);
    let glob = Glob::new(pattern);
    let Some(parts) = parts.filter(|_| !pattern.is_empty()) else {
        assert!(glob.is_err(), "`{shown}` is malformed, but accepted");
        return;
    };
    if parts.iter().flatten().count() > MAX_COMM {
        assert_eq!(glob, Err(GlobError::TooLong), "`{shown}`");
        return;
    }
    let glob = glob.unwrap_or_else(|error| panic!("`{shown}` is refused: {error:?}"));
    for name in names {
        assert_eq!(
            glob.matches(name),
            naive::matches(&parts, name),
            "`{shown}` on `{}`",
            name.escape_ascii()
        );
    }
}

#[test]
fn patterns_match_what_they_should() {
    // A pattern, names that match, names that do not match.
    type Case = (
        &'static [u8],
        &'static [&'static [u8]],
        &'static [&'static [u8]],
    );
    let cases: &[Case] = &[
        (b"a", &[b"a"], &[b"", b"b", b"aa", b"A"]),
        (b"*", &[b"", b"a", b"123456789012345", b"\xff\n"], &[]),
        (b"**", &[b"", b"a", b"ab"], &[]),
        (b"?", &[b"a", b"?", b"\x01", b"\xff"], &[b"", b"ab"]),
        (b"a*", &[b"a", b"ab", b"a*"], &[b"", b"ba"]),
        (b"*a", &[b"a", b"ba", b"aaa"], &[b"", b"ab"]),
        (b"*a*", &[b"a", b"bab"], &[b"", b"b"]),
        (
            b"a*b*c",
            &[b"abc", b"aXbYc", b"abbcc", b"abcbc"],
            &[b"acb", b"abcb"],
        ),
        (b"*ab*ab", &[b"abab", b"ababab", b"abXab"], &[b"ab", b"aba"]),
        (b"a?c", &[b"abc", b"a?c"], &[b"ac", b"abbc"]),
        (b"?*?", &[b"ab", b"abc"], &[b"", b"a"]),
        (b"*?", &[b"a", b"ab"], &[b""]),
        (
            b"kworker/*",
            &[b"kworker/0:1", b"kworker/"],
            &[b"kworker", b"ksoftirqd/0"],
        ),
        (b".*", &[b".", b".x"], &[b"x"]),
        (b"[a-c]", &[b"a", b"b", b"c"], &[b"", b"d", b"-", b"ab"]),
        (
            b"[!a-c]",
            &[b"d", b"-", b"\xff", b"\n"],
            &[b"", b"a", b"c", b"dd"],
        ),
        (b"[^a]", &[b"^", b"a"], &[b"b"]),
        (b"[a!]", &[b"a", b"!"], &[b"b"]),
        (b"[]]", &[b"]"], &[b"[", b"[]]", b""]),
        (b"[]a]", &[b"]", b"a"], &[b"]a", b"b"]),
        (b"[!]a]", &[b"b", b"["], &[b"]", b"a"]),
        (b"[]-a]", &[b"]", b"^", b"a"], &[b"\\", b"b", b"-"]),
        (b"[a-]", &[b"a", b"-"], &[b"b", b"]"]),
        (b"[]-]", &[b"]", b"-"], &[b"a", b"^"]),
        (b"[-a]", &[b"a", b"-"], &[b"b"]),
        (b"[!-]", &[b"a"], &[b"-"]),
        (b"[--0]", &[b"-", b".", b"0"], &[b"1", b","]),
        (b"[a-c-e]", &[b"a", b"c", b"-", b"e"], &[b"d"]),
        (b"[c-a]", &[], &[b"a", b"b", b"c", b"-"]),
        (b"[!c-a]", &[b"a", b"b"], &[b""]),
        (b"[a-cx-z]", &[b"b", b"y"], &[b"d", b"-"]),
        (b"[*?]", &[b"*", b"?"], &[b"a", b""]),
        (b"[[]", &[b"["], &[b"]"]),
        (b"[\\]", &[b"\\"], &[b"]"]),
        (b"[\\]]", &[b"\\]"], &[b"]", b"\\"]),
        (b"a]", &[b"a]"], &[b"a"]),
        (b"a-b!", &[b"a-b!"], &[b"a"]),
        (b"\\*", &[b"*"], &[b"a", b"\\*", b""]),
        (b"\\?\\[\\]", &[b"?[]"], &[b"a[]"]),
        (b"\\\\", &[b"\\"], &[b"\\\\"]),
        (b"\\a", &[b"a"], &[b"\\a"]),
        (
            b"Web\\ Content",
            &[b"Web Content"],
            &[b"Web\\ Content", b"Web"],
        ),
        (b"*[0-9]", &[b"a1", b"12", b"1"], &[b"1a", b""]),
        (b"*[!0-9]*", &[b"a1", b"1a1"], &[b"12", b""]),
        (b"#x", &[b"#x"], &[b"x", b"\\#x"]),
        (b"gr\xc3\xbcn*", &[b"gr\xc3\xbcn"], &[b"gr", b"gr\xfcn"]),
        (b"[\x80-\xff]", &[b"\x80", b"\xff"], &[b"\x7f", b"a"]),
    ];
    for (pattern, yes, no) in cases {
        let shown = pattern.escape_ascii();
        let glob = Glob::new(pattern).unwrap_or_else(|error| panic!("`{shown}`: {error:?}"));
        for name in *yes {
            assert!(glob.matches(name), "`{shown}` on `{}`", name.escape_ascii());
        }
        for name in *no {
            assert!(
                !glob.matches(name),
                "`{shown}` on `{}`",
                name.escape_ascii()
            );
        }
    }
}

#[test]
fn mistakes_are_refused() {
    let cases: &[(&[u8], GlobError)] = &[
        (b"", GlobError::Empty),
        (b"[", GlobError::UnterminatedClass),
        (b"a[", GlobError::UnterminatedClass),
        (b"[]", GlobError::UnterminatedClass),
        (b"[!", GlobError::UnterminatedClass),
        (b"[!]", GlobError::UnterminatedClass),
        (b"[a", GlobError::UnterminatedClass),
        (b"[a-", GlobError::UnterminatedClass),
        (b"[a-z", GlobError::UnterminatedClass),
        (b"x[a]y[b", GlobError::UnterminatedClass),
        (b"[\\", GlobError::UnterminatedClass),
        (b"\\", GlobError::TrailingBackslash),
        (b"a\\", GlobError::TrailingBackslash),
        (b"\\\\\\", GlobError::TrailingBackslash),
        (b"a\0", GlobError::ControlCharacter),
        (b"\0", GlobError::ControlCharacter),
        (b"\\\0", GlobError::ControlCharacter),
        (b"[\n]", GlobError::ControlCharacter),
    ];
    for (pattern, error) in cases {
        assert_eq!(
            Glob::new(pattern).map(|_| ()),
            Err(*error),
            "`{}`",
            pattern.escape_ascii()
        );
    }
}

#[test]
fn control_characters_are_refused_and_no_others() {
    for byte in 0..=u8::MAX {
        let control = byte < 0x20 || byte == 0x7f;
        for pattern in [
            vec![b'a', byte],
            vec![b'\\', byte],
            vec![b'[', b'a', byte, b']'],
        ] {
            let refused = Glob::new(&pattern) == Err(GlobError::ControlCharacter);
            assert_eq!(refused, control, "{byte:#x}");
        }
    }
}

#[test]
fn a_pattern_is_no_longer_than_a_name() {
    // The maximum length of a name: any number of `*` may follow, but no further byte.
    for pattern in [
        b"123456789012345".as_slice(),
        b"???????????????",
        b"*1*2*3*4*5*6*7*8*9*0*1*2*3*4*5*",
        b"\\1\\2\\3\\4\\5\\6\\7\\8\\9\\0\\1\\2\\3\\4\\5",
        &b"[ab]".repeat(15),
        &b"[!]]".repeat(15),
    ] {
        let shown = pattern.escape_ascii();
        assert!(Glob::new(pattern).is_ok(), "`{shown}`");
        assert!(Glob::new(&[pattern, b"**"].concat()).is_ok(), "`{shown}`");
        for more in [b"x".as_slice(), b"?", b"[x]", b"\\x", b"*x"] {
            let longer = [pattern, more].concat();
            assert_eq!(Glob::new(&longer), Err(GlobError::TooLong), "`{shown}`");
        }
    }
    // The maximum length of a pattern.
    for pattern in [
        [b'*'; MAX_PATTERN].as_slice(),
        &[b"[".as_slice(), &[b'a'; MAX_PATTERN - 2], b"]"].concat(),
    ] {
        let glob = Glob::new(pattern).unwrap();
        assert_eq!(glob.as_bytes(), pattern);
        assert!(glob.matches(b"a"));
        let longer = [pattern, b"*"].concat();
        assert_eq!(Glob::new(&longer), Err(GlobError::TooLong));
    }
    assert_eq!(Glob::new(&[b'a'; 1 << 20]), Err(GlobError::TooLong));
}

#[test]
fn the_text_can_be_written_back() {
    assert_eq!(Glob::new(b"a*[b]\\ c").unwrap().as_bytes(), b"a*[b]\\ c");
    assert_eq!(Glob::new(b"a#").unwrap().as_bytes(), b"a#");
    assert_eq!(Glob::new(b"#a").unwrap().as_bytes(), b"\\#a");
    assert_eq!(Glob::new(b"#a"), Glob::new(b"\\#a"));

    let longest = [b"#".as_slice(), &[b'*'; MAX_PATTERN - 2]].concat();
    assert_eq!(Glob::new(&longest).unwrap().as_bytes().len(), MAX_PATTERN);
    let longer = [longest.as_slice(), b"*"].concat();
    assert_eq!(Glob::new(&longer), Err(GlobError::TooLong));
}

#[test]
fn a_name_ends_as_in_the_kernel() {
    let glob = Glob::new(b"abc").unwrap();
    assert!(glob.matches(b"abc\0"));
    assert!(glob.matches(b"abc\0def\0\0\0\0\0\0\0\0\0"));
    assert!(!glob.matches(b"ab\0c"));
    assert!(!glob.matches(b"\0abc"));

    let glob = Glob::new(b"*5").unwrap();
    assert!(glob.matches(b"123456789012345"));
    assert!(glob.matches(b"123456789012345X"));
    assert!(!glob.matches(b"1234567890123445"));

    assert!(Glob::new(b"*").unwrap().matches(b""));
    assert!(Glob::new(b"*").unwrap().matches(b"\0"));
    assert!(!Glob::new(b"?").unwrap().matches(b"\0"));
}

#[test]
fn all_short_patterns_agree_with_the_naive_reading() {
    let names = all_texts(b"ab]-", 3);
    for pattern in all_texts(b"ab*?[]!-\\", 5) {
        // No pattern begins with `#`, so the text is not changed.
        compare(&pattern, &names);
    }
}

#[test]
fn random_patterns_agree_with_the_naive_reading() {
    let mut random = Random::new(0x5eed);
    for _ in 0..30_000 {
        let pattern = random.text(b"abcd**??[[]]!-\\", 16);
        let names: Vec<_> = (0..16).map(|_| random.text(b"abcd]-!\\", 15)).collect();
        compare(&pattern, &names);
    }
    // With fewer letters, names match more often and later.
    for _ in 0..10_000 {
        let pattern = random.text(b"ab*", 24);
        let names: Vec<_> = (0..16).map(|_| random.text(b"ab", 15)).collect();
        compare(&pattern, &names);
    }
    // Any bytes, but short texts: `compare` does not handle the length limit.
    let any: Vec<u8> = (0x20..=0xff).filter(|byte| *byte != 0x7f).collect();
    for _ in 0..10_000 {
        let pattern = random.text(&any, 8);
        let names: Vec<_> = (0..8).map(|_| random.text(&any, 8)).collect();
        compare(&pattern, &names);
    }
}

#[test]
fn names_made_from_a_pattern_match_it() {
    let mut random = Random::new(0xcafe);
    let mut matched = 0;
    for _ in 0..20_000 {
        let pattern = random.text(b"abcd**?[]!-", 12);
        let (Ok(glob), Some(parts)) = (Glob::new(&pattern), naive::parse(&pattern)) else {
            continue;
        };
        let mut name = Vec::new();
        for part in &parts {
            match part {
                None => name.extend(random.text(b"abcd", 2)),
                Some(set) => {
                    let taken: Vec<u8> = (1..=u8::MAX).filter(|b| set[usize::from(*b)]).collect();
                    if let Some(last) = taken.len().checked_sub(1) {
                        name.push(taken[random.below(last + 1)]);
                    } else {
                        // The set is empty: no name can match.
                        name.clear();
                        assert!(!glob.matches(b"a"));
                        break;
                    }
                }
            }
        }
        let possible = naive::matches(&parts, &name);
        if name.len() <= MAX_COMM && possible {
            assert!(glob.matches(&name), "`{}`", pattern.escape_ascii());
            matched += 1;
        }
    }
    assert!(matched > 5_000, "only {matched} names were tried");
}

extern "C" {
    fn fnmatch(pattern: *const c_char, string: *const c_char, flags: c_int) -> c_int;
}

#[test]
fn patterns_agree_with_fnmatch() {
    let mut random = Random::new(0xf00d);
    let mut compared = 0;
    // In a class, `\` is an escape for the C library, but not for the kernel: do not use both.
    for alphabet in [b"abc*?[]!-".as_slice(), b"abc*?!-\\"] {
        for _ in 0..20_000 {
            let pattern = random.text(alphabet, 10);
            let Ok(glob) = Glob::new(&pattern) else {
                continue;
            };
            let c_pattern = CString::new(pattern.clone()).unwrap();
            for _ in 0..8 {
                let name = random.text(b"abc]-!*", 6);
                let c_name = CString::new(name.clone()).unwrap();
                // SAFETY: Both strings are NUL-terminated and are only read.
                let result = unsafe { fnmatch(c_pattern.as_ptr(), c_name.as_ptr(), 0) };
                assert_eq!(
                    glob.matches(&name),
                    result == 0,
                    "`{}` on `{}`",
                    pattern.escape_ascii(),
                    name.escape_ascii()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 100_000, "only {compared} were compared");
}
