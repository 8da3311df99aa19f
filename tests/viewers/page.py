# SPDX-License-Identifier: GPL-2.0
"""Pages of `ferrotrace html`: no error and no request in Chromium (page.mjs).

A page is opened twice: as it is, and with names of tasks and functions that would be elements if
they were not escaped.
"""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
# Names of equal length: the rest of a recording must not move.
HOSTILE = (
    (b"rcu_preempt", b"<script>&\"'"),
    (b"sleep", b"<b/>&"),
    (b"vfs_read", b"<script>"),
)


def open_page(recording, data, page):
    """Makes the page of a file, and opens it."""
    subprocess.run([recording.ferrotrace, "html", data, "-o", page], check=True)
    picture = page.with_suffix(".html.png")
    driver = ["node", HERE / "page.mjs", recording.viewers, page, picture]
    result = subprocess.run(driver, check=False, capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(f"{page.name}: {result.stderr.strip()}")


def check(recording):
    """Opens the pages of a recording."""
    open_page(recording, recording.data, recording.file(".html"))
    content = recording.data.read_bytes()
    for name, other in HOSTILE:
        content = content.replace(name, other)
    data = recording.file("-names.dat")
    data.write_bytes(content)
    open_page(recording, data, recording.file("-names.html"))
