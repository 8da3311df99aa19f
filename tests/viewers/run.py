#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Shows recordings in the viewers that users have.

Usage: run.py VIEWERS FERROTRACE WORK RECORDING.gz...

Checks each recording with the function check() of the module of each viewer. Pictures of what the
viewers show are in the directory WORK. Prints a result for each viewer and recording, and then
`N passed, N failed, 0 skipped`.
"""

import pathlib
import subprocess
import sys

import flamegraph
import kernelshark
import page
import perfetto
import speedscope
from recording import Recording

VIEWERS = (perfetto, speedscope, flamegraph, page, kernelshark)
# A small recording is not enough for the others.
SMALL = {
    "compact": (perfetto,),
    "sections": (perfetto, kernelshark),
    "chains": (perfetto, kernelshark),
}
ERRORS = (AssertionError, LookupError, OSError, ValueError, subprocess.SubprocessError)


def main():
    """Checks all recordings with all viewers."""
    viewers, ferrotrace, work = (pathlib.Path(path).absolute() for path in sys.argv[1:4])
    passed = failed = 0
    for path in sys.argv[4:]:
        recording = Recording(viewers, ferrotrace, work, pathlib.Path(path))
        for viewer in SMALL.get(recording.name, VIEWERS):
            test = f"viewers/{viewer.__name__}/{recording.name}"
            try:
                viewer.check(recording)
            except ERRORS as error:
                text = str(error).replace("\n", "\n# ")
                print(f"not ok {test}\n# {text}", flush=True)
                failed += 1
            else:
                print(f"ok {test}", flush=True)
                passed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


main()
