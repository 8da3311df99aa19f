# SPDX-License-Identifier: GPL-2.0
"""A recording that viewers show, and the programs that a check of a viewer needs."""

import gzip
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent


class Recording:
    """An unpacked recording. Viewers get files with its name in the directory `work`."""

    def __init__(self, viewers, ferrotrace, work, packed):
        self.viewers, self.ferrotrace, self.work = viewers, ferrotrace, work
        self.packed = packed
        self.name = packed.name.removesuffix(".dat.gz")
        self.data = self.file(".dat")
        self.data.write_bytes(gzip.decompress(packed.read_bytes()))
        self.summary = json.loads(self.output("summary", "--json"))
        self.tasks = self.summary["tasks"]

    def file(self, suffix):
        """Returns the path for a file of the recording."""
        return self.work / f"{self.name}{suffix}"

    def kernel_text(self):
        """Returns what the kernel's file `trace` shows of the recording."""
        text = self.packed.with_name(f"{self.name}.txt.gz").read_bytes()
        return gzip.decompress(text).decode()

    def output(self, *arguments):
        """Returns what a verb of `ferrotrace` prints about the recording."""
        command = [self.ferrotrace, *arguments, self.data]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def write(self, suffix, *arguments):
        """Writes a file of the recording with a verb of `ferrotrace`. Returns its path."""
        path = self.file(suffix)
        self.output(*arguments, "-o", path)
        return path

    def browse(self, viewer, path, *texts):
        """Opens a file in the browser. Fails if it does not show each text."""
        picture = path.with_suffix(path.suffix + ".png")
        driver = HERE / "browser.mjs"
        command = ["node", driver, self.viewers, viewer, path, picture, *texts]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode != 0:
            raise AssertionError(f"{viewer} {path.name}: {result.stderr.strip()}")

    def calls(self):
        """Returns the number of calls of each function."""
        return {row["name"]: row["calls"] for row in self.summary["functions"]}

    def total(self, part):
        """Returns the run, wait, block, unknown or total time of all tasks in ns."""
        return sum(task[f"{part}_ns"] for task in self.tasks)
