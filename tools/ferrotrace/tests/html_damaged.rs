// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace html` with files that are cut off or damaged: a message and no page, or a page.

mod common;
mod html_page;

use std::fs;

use common::{
    data,
    ferrotrace,
    temporary, //
};
use html_page::Page;

/// Runs the command on a damaged recording: there is a message and no page, or a page.
fn check_damaged(what: &str, content: &[u8]) -> bool {
    let path = temporary("html", "damaged.dat");
    let page = path.with_extension("html");
    fs::write(&path, content).expect("a recording");
    let _ = fs::remove_file(&page);
    let output = ferrotrace("html", &path, &["-o", page.to_str().expect("UTF-8")]);
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {
            assert!(errors.starts_with("wrote "), "{what}: {errors}");
            assert_eq!(errors.lines().count(), 1, "{what}: {errors}");
            Page::parse(&fs::read_to_string(&page).expect("a page"));
            true
        }
        Some(1) => {
            assert!(errors.starts_with("ferrotrace: "), "{what}: {errors}");
            assert_eq!(errors.lines().count(), 1, "{what}: {errors}");
            assert!(!page.exists(), "{what}: a page in spite of an error");
            false
        }
        _ => panic!("{what}: {}: {errors}", output.status),
    }
}

#[test]
fn damaged_recordings_are_errors_or_pages() {
    let whole = data("compact-events.dat");
    for cut in 0..20 {
        let len = whole.len() * cut / 20;
        assert!(!check_damaged(&format!("{len} bytes"), &whole[..len]));
    }
    // Most of the file are newlines in place of symbols.
    let places: Vec<_> = (0..whole.len()).filter(|at| whole[*at] != b'\n').collect();
    let mut pages = 0;
    for n in 0..60 {
        let mut content = whole.clone();
        for k in 0..1 + n % 8 {
            let random = (n * 8 + k + 1) * 0x9e37_79b9;
            content[places[random % places.len()]] = ((random >> 7) & 0xff) as u8;
        }
        pages += u32::from(check_damaged(&format!("mutation {n}"), &content));
    }
    assert!(pages > 5, "{pages} pages");
}
