#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes modules that must be refused, completely or in part, from a correct one.

Usage: broken-modules.py MODULE FINGERPRINTS DIRECTORY

  foreign-struct.ko     expects another layout of `struct tracer`
  renumbered-struct.ko  expects it at another ID in BTF, but finds it
  foreign-function.ko   expects another prototype of tracing_log_err()
  no-function.ko        needs a function that no kernel has
  no-data.ko            needs a variable that no kernel has
  self-test-1.ko        is loaded, but its self-test finds that records cannot grow,
  self-test-2.ko        or that a record of an interrupt is not committed,
  self-test-3.ko        or that it cannot be detected that a page is being read,
  self-test-4.ko        or that a file cannot be held at a record,
  self-test-5.ko        or that the frame of a call is not found again
  mismatches            a line for each item that is looked up or compared when the module is
                        loaded: the name that the kernel log must contain if the item is missing
                        or differs, a byte in octal, and the offsets in the module at which the
                        byte causes this. The first line is the SHA-256 sum of the module.
"""

import hashlib
import pathlib
import re
import struct
import sys


def replaced(module: bytes, pattern: bytes, new: bytes) -> bytes:
    """Returns the module with the pattern, which must occur exactly once, replaced."""
    result, found = re.subn(pattern, lambda _: new, module)
    if found != 1:
        sys.exit(f"broken-modules: {pattern!r} is in the module {found} times")
    return result


# Where the source has the names that the module looks up: functions and data, then tracepoints.
WANTED = {
    "src/ktrace/private/symbols.rs": r'c"(\w+)", "',
    "src/ktrace/task/task.c": r'^\t\{ "(\w+)", ktrace_probe_',
    "src/ktrace/task/sched.c": r'^\t\{ "(\w+)", ktrace_on_',
}


def mismatches(module: bytes, hashes: dict[str, int]) -> list[str]:
    """Returns the lines of the table, in no particular order."""
    lines = [hashlib.sha256(module).hexdigest()]

    def line(said: str, byte: int, offsets: list[int]) -> None:
        if not offsets:
            sys.exit(f"broken-modules: '{said}' is not in the module")
        lines.append(f"{said} {byte:03o} {' '.join(map(str, offsets))}")

    top = pathlib.Path(__file__).parent.parent
    for path, pattern in WANTED.items():
        for name in dict.fromkeys(re.findall(pattern, (top / path).read_text(), re.M)):
            found = re.finditer(rb"(?<!_)" + name.encode() + rb"\0", module)
            # This symbol is found in another way; the message has its real name.
            said = name if name == "kallsyms_lookup_name" else name[:-1] + "0"
            line(said, ord("0"), [match.end() - 2 for match in found])
    for name, value in hashes.items():
        low = struct.pack("<Q", value)
        found = re.finditer(re.escape(low), module)
        line(name, low[0] ^ 1, [match.start() for match in found])
    return lines


def main() -> None:
    module_path, fingerprints, directory = map(pathlib.Path, sys.argv[1:])
    module = module_path.read_bytes()
    found = re.findall(r'name: c"(\w+)", id: (\d+), hash: (0x[0-9a-f]+)', fingerprints.read_text())
    ids = {name: int(number) for name, number, _ in found}
    hashes = {name: int(value, 16) for name, _, value in found}

    def foreign(name: str) -> bytes:
        old, new = struct.pack("<Q", hashes[name]), struct.pack("<Q", hashes[name] ^ 1)
        return replaced(module, re.escape(old), new)

    # The ID follows the fingerprint.
    def renumbered(name: str) -> bytes:
        old = struct.pack("<QI", hashes[name], ids[name])
        new = struct.pack("<QI", hashes[name], ids[name] + 1)
        return replaced(module, re.escape(old), new)

    # A string in the tables, not the end of a longer name in the symbol table.
    def renamed(name: bytes) -> bytes:
        return replaced(module, b"(?<!_)" + name + b"\0", name[:-1] + b"0\0")

    def untested(step: bytes) -> bytes:
        text = b"ktrace self-test, broken: "
        return replaced(module, text + b"0", text + step)

    directory.mkdir(parents=True, exist_ok=True)
    for name, contents in {
        "foreign-struct": foreign("tracer"),
        "foreign-function": foreign("tracing_log_err"),
        "renumbered-struct": renumbered("tracer"),
        "no-function": renamed(b"tracefs_create_dir"),
        "no-data": renamed(b"tracing_err_log_lock"),
        "self-test-1": untested(b"1"),
        "self-test-2": untested(b"2"),
        "self-test-3": untested(b"3"),
        "self-test-4": untested(b"4"),
        "self-test-5": untested(b"5"),
    }.items():
        (directory / f"{name}.ko").write_bytes(contents)
    (directory / "mismatches").write_text("\n".join(mismatches(module, hashes)) + "\n")


if __name__ == "__main__":
    main()
