#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Shows timelines in Perfetto, and compares what it finds with `ferrotrace summary`.

Usage: timelines.py VIEWERS FERROTRACE WORK RECORDING.gz...

Both versions of Perfetto's trace processor load each timeline without an error. They find as many
calls of each function as the summary, and the states of all tasks have the same sums. The user
interface shows the tracks of a process; its picture is WORK/NAME.png. Prints a result for each
recording, and then `N passed, N failed, 0 skipped`.
"""

import gzip
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
VERSIONS = ("52", "55")
QUERIES = (
    "select name, value from stats where severity <> 'info' and value > 0",
    "select state, sum(dur) as ns from thread_state where dur > 0 group by state",
    "select s.name, count(*) as calls from slice s join track t on s.track_id = t.id"
    " where t.name like 'kernel calls%' and s.name not like 'wakes %' group by s.name",
)


def query(viewers, version, timeline):
    """Returns the rows of each query."""
    driver = HERE / "trace-processor.mjs"
    command = ["node", driver, viewers, version, timeline, *QUERIES]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tables, table = [], []
    for line in text.splitlines():
        if line:
            table.append(line.split("\t"))
        else:
            tables.append(table)
            table = []
    return tables


def compare(what, actual, expected, tolerance):
    """Fails if two numbers differ by more than this part of the expected one."""
    if abs(actual - expected) > tolerance * expected:
        raise AssertionError(f"{what}: {actual}, expected {expected}")


def check_version(viewers, version, timeline, summary):
    """Compares what one version of the trace processor finds with the summary."""
    errors, states, calls = query(viewers, version, timeline)
    if errors:
        raise AssertionError(f"Perfetto {version}: {errors}")
    tasks = summary["tasks"]
    ns = {state: int(value) for state, value in states}
    kinds = ("run", "wait", "block")
    expected = {kind: sum(task[f"{kind}_ns"] for task in tasks) for kind in kinds}
    unknown = sum(task["unknown_ns"] for task in tasks)
    # The end of a state and the event that reports it are some microseconds apart.
    compare("ns running", ns["Running"], expected["run"], 0.01)
    compare("ns runnable", ns["R"], expected["wait"] + unknown / 2, 0.03)
    compare("ns blocked", ns["S"] + ns.get("D", 0), expected["block"] + unknown / 2, 0.03)
    found = {name: int(number) for name, number in calls}
    functions = {function["name"]: function["calls"] for function in summary["functions"]}
    if found != functions:
        raise AssertionError(f"calls: {found}, expected {functions}")


def check(viewers, ferrotrace, work, recording):
    """Makes the timeline of one recording, and checks it."""
    name = recording.name.removesuffix(".dat.gz")
    data, timeline = work / f"{name}.dat", work / f"{name}.pftrace"
    data.write_bytes(gzip.decompress(recording.read_bytes()))
    subprocess.run([ferrotrace, "timeline", data, "-o", timeline], check=True)
    text = subprocess.run(
        [ferrotrace, "summary", "--json", data], check=True, capture_output=True
    ).stdout
    summary = json.loads(text)
    for version in VERSIONS:
        check_version(viewers, version, timeline, summary)
    task = max(summary["tasks"], key=lambda task: task["calls"])
    subprocess.run(
        ["node", HERE / "browser.mjs", viewers, "perfetto", timeline, work / f"{name}.png"]
        + [f"{task['comm']} {task['pid']}", f"kernel calls ({task['pid']})", "why off CPU"],
        check=True,
    )


def main():
    """Checks all recordings."""
    viewers, ferrotrace, work = (pathlib.Path(path).absolute() for path in sys.argv[1:4])
    failed = 0
    for path in sys.argv[4:]:
        try:
            check(viewers, ferrotrace, work, pathlib.Path(path))
            print(f"ok viewers/{pathlib.Path(path).name}")
        except (AssertionError, KeyError, ValueError, subprocess.CalledProcessError) as error:
            print(f"not ok viewers/{pathlib.Path(path).name}\n# {error}")
            failed += 1
    print(f"{len(sys.argv) - 4 - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


main()
