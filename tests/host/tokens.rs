// SPDX-License-Identifier: GPL-2.0

//! The splitting of text into words.

use crate::filter::tokens::SplitError;
use crate::filter::tokens::Splitter;
use crate::filter::tokens::MAX_TOKEN;
use crate::random::Random;

/// Words with their offsets, and the final result.
type Outcome = (Vec<(Vec<u8>, usize)>, Result<(), SplitError<()>>);

/// Splits a text that is written in pieces.
fn split<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut words = Vec::new();
    let mut splitter = Splitter::new(MAX_TOKEN);
    let mut receive = |word: &[u8], offset| {
        words.push((word.to_vec(), offset));
        Ok(())
    };
    for piece in pieces {
        let result = splitter.feed(piece, &mut receive);
        if result.is_err() {
            return (words, result);
        }
    }
    let result = splitter.finish(&mut receive);
    (words, result)
}

/// Splits a text that is written in one piece.
fn split_whole(text: &[u8]) -> Outcome {
    split([text])
}

/// Returns the words of a valid text.
fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let (words, result) = split_whole(text);
    assert_eq!(result, Ok(()), "`{}`", text.escape_ascii());
    words.into_iter().map(|(word, _)| word).collect()
}

/// Splits a text with a second implementation, which has the whole text.
fn naive(text: &[u8]) -> Outcome {
    let blank = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b;
    let mut words = Vec::new();
    // Whether the line has no word yet. An escaped newline does not end a line.
    let mut fresh = true;
    let mut i = 0;
    while i < text.len() {
        if text[i] == 0 {
            return (words, Err(SplitError::Nul(i)));
        } else if blank(text[i]) {
            fresh |= text[i] == b'\n';
            i += 1;
        } else if text[i] == b'#' && fresh {
            while i < text.len() && text[i] != b'\n' {
                if text[i] == 0 {
                    return (words, Err(SplitError::Nul(i)));
                }
                i += 1;
            }
        } else {
            let start = i;
            while i < text.len() && !blank(text[i]) {
                let taken = if text[i] == b'\\' && i + 1 < text.len() {
                    2
                } else {
                    1
                };
                for byte in &text[i..i + taken] {
                    if *byte == 0 {
                        return (words, Err(SplitError::Nul(i)));
                    }
                    if i - start >= MAX_TOKEN {
                        return (words, Err(SplitError::TokenTooLong(start)));
                    }
                    i += 1;
                }
            }
            words.push((text[start..i].to_vec(), start));
            fresh = false;
        }
    }
    (words, Ok(()))
}

#[test]
fn texts_split_as_they_should() {
    let cases: &[(&[u8], &[&[u8]])] = &[
        (b"", &[]),
        (b"\n", &[]),
        (b" \t\r\n\x0b\x0c", &[]),
        (b"a", &[b"a"]),
        (b"a\n", &[b"a"]),
        (
            b"ab cd\tef\ngh\rij\x0bkl\x0cmn",
            &[b"ab", b"cd", b"ef", b"gh", b"ij", b"kl", b"mn"],
        ),
        (b"  a  \n\n  b  ", &[b"a", b"b"]),
        (b"1\r\n2\r\n", &[b"1", b"2"]),
        // Comments.
        (b"#", &[]),
        (b"# a b", &[]),
        (b"# a\nb", &[b"b"]),
        (b"#a\n#b\nc\n#d", &[b"c"]),
        (b"  # a\nb", &[b"b"]),
        (b"\n\t#a\n", &[]),
        (b"#a\\\nb", &[b"b"]),
        (b"#a\rb", &[]),
        (b"# it's 5 # o'clock\n6", &[b"6"]),
        // No comments.
        (b"a #b", &[b"a", b"#b"]),
        (b"a#b", &[b"a#b"]),
        (b"\\#a", &[b"\\#a"]),
        (b"\\ #a", &[b"\\ #a"]),
        (b"a\r#b", &[b"a", b"#b"]),
        (b"a \n#b", &[b"a"]),
        // Escapes.
        (b"Web\\ Content x", &[b"Web\\ Content", b"x"]),
        (b"a\\\\ b", &[b"a\\\\", b"b"]),
        (b"a\\\\\\ b", &[b"a\\\\\\ b"]),
        (b"\\", &[b"\\"]),
        (b"a\\", &[b"a\\"]),
        (b"\\\n", &[b"\\\n"]),
        (b"a\\\n#b", &[b"a\\\n#b"]),
        (b"\\a\\b", &[b"\\a\\b"]),
        // Bytes that the splitter does not check.
        (b"\x01\x7f\xff\xc2\xa0", &[b"\x01\x7f\xff\xc2\xa0"]),
    ];
    for (text, expected) in cases {
        assert_eq!(words(text), *expected, "`{}`", text.escape_ascii());
        assert_eq!(split_whole(text), naive(text), "`{}`", text.escape_ascii());
    }
}

#[test]
fn offsets_are_those_of_the_words() {
    let (words, _) = split_whole(b" ab\n# x y\n  \\#c  d");
    let expected: &[(&[u8], usize)] = &[(b"ab", 1), (b"\\#c", 12), (b"d", 17)];
    assert!(words
        .iter()
        .map(|(word, offset)| (word.as_slice(), *offset))
        .eq(expected.iter().copied()));
}

#[test]
fn nul_bytes_are_refused_anywhere() {
    for text in [
        b"ab cd".as_slice(),
        b"# comment\n1",
        b"a\\",
        b"a \n",
        b"\\ ",
        b"",
    ] {
        for at in 0..=text.len() {
            let bad = [&text[..at], b"\0", &text[at..]].concat();
            let (_, result) = split_whole(&bad);
            assert_eq!(result, Err(SplitError::Nul(at)), "`{}`", bad.escape_ascii());
        }
    }
}

#[test]
fn a_word_may_be_so_long_and_no_longer() {
    let longest = [b'x'; MAX_TOKEN];
    assert_eq!(words(&longest), [longest]);
    assert_eq!(
        words(
            &[
                b"# ".as_slice(),
                &[b'x'; 5000],
                b"\n",
                &longest,
                b" ",
                &longest
            ]
            .concat()
        ),
        [longest, longest]
    );
    for (text, start) in [
        ([longest.as_slice(), b"x"].concat(), 0),
        ([b"ab \n".as_slice(), &longest, b"x y"].concat(), 4),
        ([&longest[1..], b"\\ "].concat(), 0),
        (vec![b'x'; 1 << 20], 0),
    ] {
        let (words, result) = split_whole(&text);
        assert_eq!(result, Err(SplitError::TokenTooLong(start)));
        assert_eq!(words.len(), usize::from(start > 0));
    }
}

#[test]
fn pieces_make_no_difference() {
    // All ways to split the text into pieces.
    let long = [b"ab ".as_slice(), &[b'x'; MAX_TOKEN + 1]].concat();
    for text in [
        b"12 345\n6 7".as_slice(),
        b"#x y\na #b\n",
        b"a\\ b\\\\ #c",
        b" \\\n#\n#\n\\",
        b"a b\0c d",
        b"#a\n\\#b\r\nc",
        &long[long.len() - 12..],
    ] {
        let whole = split_whole(text);
        assert_eq!(whole, naive(text));
        let gaps = text.len() - 1;
        assert!(gaps < 13);
        for cuts in 0..1_u32 << gaps {
            let mut pieces = Vec::new();
            let mut from = 0;
            for i in 0..gaps {
                if (cuts >> i) & 1 == 1 {
                    pieces.push(&text[from..=i]);
                    from = i + 1;
                }
            }
            pieces.push(&text[from..]);
            assert_eq!(
                split(pieces),
                whole,
                "`{}` cut by {cuts:b}",
                text.escape_ascii()
            );
        }
    }
    // All ways to split a long text into two pieces, and into pieces of the same size.
    let whole = split_whole(&long);
    assert_eq!(whole.1, Err(SplitError::TokenTooLong(3)));
    for at in 0..long.len() {
        assert_eq!(split([&long[..at], b"", &long[at..]]), whole);
        assert_eq!(split(long.chunks(at + 1)), whole);
    }
}

#[test]
fn random_texts_split_as_naively_whatever_the_pieces() {
    let mut random = Random::new(0x70c5);
    for _ in 0..20_000 {
        let text = random.text(b"ab\\\\##  \n\n\t\r", 40);
        let expected = naive(&text);
        assert_eq!(split_whole(&text), expected, "`{}`", text.escape_ascii());
        assert_eq!(split(text.chunks(1)), expected, "`{}`", text.escape_ascii());

        let mut pieces = Vec::new();
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(random.below(rest.len() + 1));
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(split(pieces), expected, "`{}`", text.escape_ascii());
    }
    // Longer words, sometimes with a NUL byte.
    for _ in 0..2_000 {
        let mut text = random.text(b"abcdefghijklmnopqrst\\ ", 400);
        if random.below(3) == 0 {
            text.push(0);
        }
        let expected = naive(&text);
        assert_eq!(split_whole(&text), expected, "`{}`", text.escape_ascii());
        assert_eq!(split(text.chunks(1)), expected, "`{}`", text.escape_ascii());
    }
}

#[test]
fn nothing_follows_a_refusal() {
    let mut seen = Vec::new();
    let mut splitter = Splitter::new(MAX_TOKEN);
    let result = splitter.feed(b"a b c d", |word, offset| {
        seen.push(word.to_vec());
        if word == b"b" {
            Err(offset)
        } else {
            Ok(())
        }
    });
    assert_eq!(result, Err(SplitError::Refused(2)));
    assert_eq!(seen, [b"a", b"b"]);
}

#[test]
fn finish_starts_over() {
    let mut splitter = Splitter::new(MAX_TOKEN);
    let mut words = Vec::new();
    let mut receive = |word: &[u8], offset| {
        words.push((word.to_vec(), offset));
        Ok::<(), ()>(())
    };
    for text in [b"ab c\\".as_slice(), b"#x", b"", b"y"] {
        splitter.feed(text, &mut receive).unwrap();
        splitter.finish(&mut receive).unwrap();
        assert_eq!(splitter.pending(), b"");
    }
    assert_eq!(
        words,
        [
            (b"ab".to_vec(), 0),
            (b"c\\".to_vec(), 3),
            (b"y".to_vec(), 0)
        ]
    );

    splitter.feed(b"word", |_, _| Ok::<(), ()>(())).unwrap();
    assert_eq!(splitter.pending(), b"word");
    let result = splitter.finish(|_, _| Err("refused"));
    assert_eq!(result, Err(SplitError::Refused("refused")));
    assert_eq!(splitter.pending(), b"");
}
