#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that docs/troubleshooting.md explains each message of the module, and no other message.

Usage: messages.py <LIST

scripts/check.sh calls it with the list of the files in src/. The messages are those of `MESSAGES`,
which `error_log` shows, and those of `pr_err!`, `pr_warn!` and the other macros of this kind, also
in C, without `pr_debug`. The document must contain each message in backticks, with any text in the
place of a number or name. In the tables named below, it must contain no other message. Prints each
finding; exits with 1 if there is one.
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = TOP / "docs/troubleshooting.md"

# Tables, by the title of the section, and the column with the messages.
TABLES = {
    "Errors of `insmod`": "message",
    "Errors of writes": "message",
    "Other messages in the kernel log": "message",
}
# Messages of the kernel itself, which these tables explain too.
KERNEL = {
    "Lockdown: insmod: unsigned module loading is restricted",
    "Loading of unsigned module is rejected",
    "Unknown symbol NAME (err ...)",
    "version magic '...' should be '...'",
}

STRING = r'"(?:\\.|[^"\\])*"'
LOGGED = re.compile(rf"\bMESSAGES: \[[^\]]*\] = \[(?P<list>(?:\s*c{STRING},)*)\s*\];")
PRINTED = re.compile(rf"\bpr_(?!debug)[a-z_]+!?\(\s*(?:KBUILD_MODNAME\s*)?(?P<text>{STRING})?")
# Of Rust, and of printk().
PLACEHOLDER = re.compile(r"\{[^}]*\}|%[-0-9.]*[hlz]*[a-zA-Z]+")


def messages(name: str) -> list[tuple[int, str]]:
    """The messages in a file, each with its line. The text is empty if it is not a constant."""
    text = (TOP / name).read_text()
    found = []
    for match in LOGGED.finditer(text):
        begin = match.start("list")
        for string in re.finditer(STRING, match["list"]):
            found.append((begin + string.start(), string[0]))
    for match in PRINTED.finditer(text):
        found.append((match.start(), match["text"] or ""))
    return [
        (text.count("\n", 0, at) + 1, re.sub(r"^: |\\n$", "", string[1:-1]))
        for at, string in found
    ]


def pattern(message: str) -> re.Pattern:
    return re.compile(".+".join(re.escape(part) for part in PLACEHOLDER.split(message)))


def quoted(line: str) -> list[str]:
    return [text.replace("\\|", "|") for text in re.findall(r"`([^`]+)`", line)]


def table_messages(lines: list[str]) -> list[tuple[int, str]]:
    """The messages that the tables contain, in backticks, in the column that is named above."""
    found, column, section = [], None, ""
    missing = set(TABLES)
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            section = line[3:]
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if column is None:
            head = TABLES.get(section)
            columns = [n for n, cell in enumerate(cells) if head and cell.startswith(head)]
            column = columns[0] if columns else -1
            if columns:
                missing.discard(section)
        elif column >= 0:
            found += [(number, text) for text in quoted(cells[column])]
    if missing:
        sys.exit(f"{DOCUMENT.name}: no table of messages in: {', '.join(sorted(missing))}")
    return found


def main() -> None:
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    names = [name for name in sys.stdin.read().split("\n") if name.endswith((".rs", ".c", ".h"))]
    sources = [(name, line, text) for name in names for line, text in messages(name)]
    if not any(name == "src/filter/error.rs" for name, _, _ in sources):
        sys.exit("no messages found in src/filter/error.rs")
    lines = DOCUMENT.read_text().split("\n")
    explained = {text for line in lines for text in quoted(line)}
    good = True
    for name, line, text in sources:
        if not text:
            good = False
            print(f"{name}:{line}: the message is no constant at the beginning of the macro")
        elif not any(pattern(text).fullmatch(known) for known in explained):
            good = False
            print(f"{name}:{line}: '{text}' is not in {DOCUMENT.relative_to(TOP)}")
    patterns = [pattern(text) for _, _, text in sources]
    shown = table_messages(lines)
    for number, text in shown:
        if text not in KERNEL and not any(one.fullmatch(text) for one in patterns):
            good = False
            print(f"{DOCUMENT.relative_to(TOP)}:{number}: no source has the message '{text}'")
    for text in sorted(KERNEL - {text for _, text in shown}):
        good = False
        print(f"{DOCUMENT.relative_to(TOP)} does not have the message of the kernel '{text}'")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
