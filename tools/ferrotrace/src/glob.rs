// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patterns of names, as the kernel's `glob_match` and so `ferrotrace/set_comm` have them.

/// Returns whether a name matches a pattern: `*` is any text, `?` any byte, `[a-z]` one of these
/// bytes, `[!a-z]` another one, and `\` takes the next byte as it is.
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // The places behind the last `*`, and of the name that it did not take.
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = pattern {
            if rest.is_empty() {
                return true;
            }
            pattern = rest;
            again = Some((rest, name));
            continue;
        }
        match (one(pattern, name.first().copied()), name) {
            (Some(rest), [_, others @ ..]) => (pattern, name) = (rest, others),
            _ if pattern.is_empty() && name.is_empty() => return true,
            _ => match again {
                Some((rest, [_, others @ ..])) => {
                    (pattern, name) = (rest, others);
                    again = Some((rest, others));
                }
                _ => return false,
            },
        }
    }
}

/// Returns the rest of a pattern that is not empty, if its first part matches a byte.
fn one(pattern: &[u8], byte: Option<u8>) -> Option<&[u8]> {
    let byte = byte?;
    match pattern {
        [b'?', rest @ ..] => Some(rest),
        [b'[', class @ ..] => match in_class(class, byte) {
            Some((is_in, rest)) => is_in.then_some(rest),
            // A bracket without an end is itself.
            None => (byte == b'[').then_some(class),
        },
        [b'\\', escaped, rest @ ..] => (*escaped == byte).then_some(rest),
        [first, rest @ ..] => (*first == byte).then_some(rest),
        [] => None,
    }
}

/// Returns whether a byte is in a class, and what is behind the class, if it has an end.
fn in_class(class: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let (is_inverted, mut class) = match class {
        [b'!', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut is_in = false;
    let mut is_first = true;
    loop {
        match class {
            // A `]` at the beginning is a member.
            [b']', rest @ ..] if !is_first => return Some((is_in != is_inverted, rest)),
            [low, b'-', high, rest @ ..] if *high != b']' => {
                is_in |= (*low..=*high).contains(&byte);
                class = rest;
            }
            [member, rest @ ..] => {
                is_in |= *member == byte;
                class = rest;
            }
            [] => return None,
        }
        is_first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, name, is_match) in [
            ("", "", true),
            ("", "a", false),
            ("a", "", false),
            ("sh", "sh", true),
            ("sh", "ssh", false),
            ("*sh", "ssh", true),
            ("nginx*", "nginx", true),
            ("*a*b*c", "xaxbxbc", true),
            ("*a*b*c", "xaxbxb", false),
            ("?", "", false),
            ("k?orker/*", "kworker/0:1", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]a]", "]", true),
            ("[a", "[a", true),
            ("[a-]", "-", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("**", "", true),
        ] {
            let found = matches(pattern.as_bytes(), name.as_bytes());
            assert_eq!(found, is_match, "{pattern} {name}");
        }
    }
}
