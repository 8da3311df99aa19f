#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Opens pages of `ferrotrace html` in Chromium (page.mjs).

Usage: page.py VIEWERS FERROTRACE WORK RECORDING.gz...

Each page is opened twice: as it is, and with names of tasks and functions that would be elements
if they were not escaped. Pictures are WORK/NAME.html.png. Prints a result for each page, and then
`N passed, N failed, 0 skipped`.
"""

import gzip
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# Names of equal length: the rest of a recording must not move.
HOSTILE = (
    (b"rcu_preempt", b"<script>&\"'"),
    (b"sleep", b"<b/>&"),
    (b"vfs_read", b"<script>"),
)


def check(viewers, ferrotrace, work, name, content):
    """Makes the page of one recording, and opens it."""
    data, page = work / f"{name}.dat", work / f"{name}.html"
    data.write_bytes(content)
    subprocess.run([ferrotrace, "html", data, "-o", page], check=True)
    driver = ["node", HERE / "page.mjs", viewers, page, work / f"{name}.html.png"]
    subprocess.run(driver, check=True)


def main():
    """Checks all recordings."""
    viewers, ferrotrace, work = (pathlib.Path(path).absolute() for path in sys.argv[1:4])
    passed = failed = 0
    for path in map(pathlib.Path, sys.argv[4:]):
        content = gzip.decompress(path.read_bytes())
        hostile = content
        for name, other in HOSTILE:
            hostile = hostile.replace(name, other)
        name = path.name.removesuffix(".dat.gz")
        for name, content in ((name, content), (f"{name}-names", hostile)):
            try:
                check(viewers, ferrotrace, work, name, content)
                print(f"ok viewers/{name}.html")
                passed += 1
            except subprocess.CalledProcessError as error:
                print(f"not ok viewers/{name}.html\n# {error}")
                failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


main()
