#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes modules that must be refused, from one that is good.

Usage: broken-modules.py MODULE FINGERPRINTS DIRECTORY

  foreign-struct.ko     expects another layout of `struct tracer`
  renumbered-struct.ko  expects it elsewhere in BTF, and finds it all the same
  foreign-function.ko   expects another prototype of tracing_log_err()
  no-function.ko        wants a function that no kernel has
  no-data.ko            wants a variable that no kernel has
"""

import pathlib
import re
import struct
import sys


def replaced(module: bytes, pattern: bytes, new: bytes) -> bytes:
    """The module with one piece of data replaced, which it must have exactly once."""
    result, found = re.subn(pattern, lambda _: new, module)
    if found != 1:
        sys.exit(f"broken-modules: {pattern!r} is in the module {found} times")
    return result


def main() -> None:
    module_path, fingerprints, directory = map(pathlib.Path, sys.argv[1:])
    module = module_path.read_bytes()
    found = re.findall(r'name: c"(\w+)", id: (\d+), hash: (0x[0-9a-f]+)', fingerprints.read_text())
    ids = {name: int(number) for name, number, _ in found}
    hashes = {name: int(value, 16) for name, _, value in found}

    def foreign(name: str) -> bytes:
        old, new = struct.pack("<Q", hashes[name]), struct.pack("<Q", hashes[name] ^ 1)
        return replaced(module, re.escape(old), new)

    # The id comes behind the fingerprint.
    def renumbered(name: str) -> bytes:
        old = struct.pack("<QI", hashes[name], ids[name])
        new = struct.pack("<QI", hashes[name], ids[name] + 1)
        return replaced(module, re.escape(old), new)

    # A string of the tables, not the tail of a longer name in the symbol table.
    def renamed(name: bytes) -> bytes:
        return replaced(module, b"(?<!_)" + name + b"\0", name[:-1] + b"0\0")

    directory.mkdir(parents=True, exist_ok=True)
    for name, contents in {
        "foreign-struct": foreign("tracer"),
        "foreign-function": foreign("tracing_log_err"),
        "renumbered-struct": renumbered("tracer"),
        "no-function": renamed(b"tracefs_create_dir"),
        "no-data": renamed(b"tracing_err_log_lock"),
    }.items():
        (directory / f"{name}.ko").write_bytes(contents)


if __name__ == "__main__":
    main()
