# SPDX-License-Identifier: GPL-2.0
"""Flame graphs: well-formed, without an error or a request in Chromium, with the right sums."""

import xml.etree.ElementTree


def check(recording):
    """Shows flame graphs of a recording in a browser."""
    for part in ("total", "run", "wait", "block"):
        option = "--wall" if part == "total" else f"--{part}"
        path = recording.write(f".{part}.svg", "flame", option)
        xml.etree.ElementTree.parse(path)
        texts = [f"all ({recording.total(part):,} ns, 100%)"]
        if part == "total":
            texts += [f"[{leaf}] (" for leaf in ("wait", "block")]
        recording.browse("page", path, f"{part if part != 'total' else 'wall'} time", *texts)
