// SPDX-License-Identifier: GPL-2.0

//! Format strings of trace events: the conversion to C, and the match of both forms.

use crate::event::format::for_printing;
use crate::event::format::for_readers;
use crate::event::format::Argument;
use crate::event::format::Expression;
use crate::event::format::Family;
use crate::event::text::Text;

fn string(text: &Text) -> String {
    (0..text.len()).map(|at| char::from(text.at(at))).collect()
}

const NUMBER: Argument = Argument::new(
    Family::Signed(""),
    "number",
    Expression::new().code("REC->").field(),
);
const LONG: Argument = Argument::new(
    Family::Unsigned("ll"),
    "long_one",
    Expression::new().code("REC->").field(),
);
const TEXT: Argument = Argument::new(
    Family::Str,
    "text",
    Expression::new().code("__get_str(").field().code(")"),
);
const PLACE: Argument = Argument::new(
    Family::Symbol,
    "ip",
    Expression::new().code("(void *)REC->").field(),
);

fn both(format: &str, arguments: &[Argument]) -> (String, String) {
    (
        string(&for_printing(format, arguments)),
        string(&for_readers(format, arguments)),
    )
}

#[test]
fn types_choose_the_conversion() {
    let (c, readers) = both("n={} l={} t={} at={}", &[NUMBER, LONG, TEXT, PLACE]);
    assert_eq!(c, "n=%d l=%llu t=%s at=%pS\n");
    assert_eq!(
        readers,
        "\"n=%d l=%llu t=%s at=%pS\", REC->number, REC->long_one, __get_str(text), (void *)REC->ip"
    );
}

#[test]
fn widths_zeros_and_hexadecimal() {
    for (placeholder, with, c) in [
        ("{:5}", NUMBER, "%5d"),
        ("{:05}", NUMBER, "%05d"),
        ("{:<5}", NUMBER, "%-5d"),
        ("{:>12}", TEXT, "%12s"),
        ("{:<16}", TEXT, "%-16s"),
        ("{:x}", NUMBER, "%x"),
        ("{:#x}", LONG, "%#llx"),
        ("{:#018X}", LONG, "%#018llX"),
        ("{:08x}", NUMBER, "%08x"),
    ] {
        assert_eq!(
            string(&for_printing(placeholder, &[with])),
            format!("{c}\n")
        );
    }
}

#[test]
fn what_is_special_to_c_or_rust_stands_for_itself() {
    let (c, readers) = both("100% {{{}}} \"x\" \\ ", &[NUMBER]);
    assert_eq!(c, "100%% {%d} \"x\" \\ \n");
    assert_eq!(readers, "\"100%% {%d} \\\"x\\\" \\\\ \", REC->number");
}

#[test]
fn names_become_c() {
    let argument = Argument::new(
        Family::Str,
        "state",
        Expression::new()
            .code("__print_flags(REC->")
            .field()
            .code(", ")
            .literal(c"|")
            .names(&[(1, c"a"), (0x100, c"say \"b\"")])
            .code(")"),
    );
    assert_eq!(
        string(&for_readers("{}", &[argument])),
        "\"%s\", __print_flags(REC->state, \"|\", { 1, \"a\" }, { 256, \"say \\\"b\\\"\" })"
    );
}

#[test]
fn the_result_ends_with_a_zero() {
    const TEXT: Text = for_printing("{}", &[NUMBER]);
    const C: [u8; TEXT.len() + 1] = TEXT.terminated();
    assert_eq!(&C, b"%d\n\0");
}

fn refused(format: &'static str, arguments: &'static [Argument], why: &str) {
    let error = std::panic::catch_unwind(|| for_printing(format, arguments)).err();
    let error = error.unwrap_or_else(|| panic!("'{format}' was accepted"));
    let said = error
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| error.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    assert!(said.contains(why), "'{format}': {said}");
}

#[test]
fn what_is_wrong_is_said() {
    refused("{} {}", &[NUMBER], "more placeholders");
    refused("{}", &[NUMBER, LONG], "fewer placeholders");
    refused("{:x}", &[TEXT], "for integers");
    refused("{:08}", &[PLACE], "for integers");
    refused("{:#5}", &[NUMBER], "goes with 'x'");
    refused("{number}", &[NUMBER], "between { and }");
    refused("{:?}", &[NUMBER], "between { and }");
    refused("{", &[NUMBER], "between { and }");
    refused("{:5", &[NUMBER], "between { and }");
    refused("} {}", &[NUMBER], "lone bracket");
}
