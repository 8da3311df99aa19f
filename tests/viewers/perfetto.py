# SPDX-License-Identifier: GPL-2.0
"""Perfetto: both versions of its trace processor, and its user interface.

The trace processors load the timeline, and the JSON of `ferrotrace export chrome`, without an
error. They find as many calls of each function as the summary, and the states of all tasks have the
same sums. The user interface shows the tracks of a process.
"""

import subprocess

from recording import HERE

VERSIONS = ("52", "55")
ERRORS = "select name, value from stats where severity <> 'info' and value > 0"
TIMELINE = (
    ERRORS,
    "select state, sum(dur) as ns from thread_state where dur > 0 group by state",
    "select s.name, count(*) as calls from slice s join track t on s.track_id = t.id"
    " where t.name like 'kernel calls%' and s.name not like 'wakes %' group by s.name",
)
JSON = (
    ERRORS,
    "select name, sum(dur) from slice where category = 'state' group by name",
    "select name, count(*) from slice where category = 'call' group by name",
)


def query(recording, version, path, queries):
    """Returns the rows of each query."""
    driver = HERE / "trace-processor.mjs"
    command = ["node", driver, recording.viewers, version, path, *queries]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tables, table = [], []
    for line in text.splitlines():
        if line:
            table.append(line.split("\t"))
        else:
            tables.append(table)
            table = []
    errors, states, calls = tables
    if errors:
        raise AssertionError(f"Perfetto {version}: {path.name}: {errors}")
    return {state: int(ns) for state, ns in states}, {name: int(n) for name, n in calls}


def compare(what, actual, expected, tolerance):
    """Fails if two numbers differ by more than this part of the expected one."""
    if abs(actual - expected) > tolerance * expected:
        raise AssertionError(f"{what}: {actual}, expected {expected}")


def check_timeline(recording, version, path):
    """Compares what one version of the trace processor finds with the summary."""
    ns, calls = query(recording, version, path, TIMELINE)
    unknown = recording.total("unknown")
    # The end of a state and the event that reports it are some microseconds apart.
    compare("ns running", ns["Running"], recording.total("run"), 0.01)
    compare("ns runnable", ns["R"], recording.total("wait") + unknown / 2, 0.03)
    compare("ns blocked", ns["S"] + ns.get("D", 0), recording.total("block") + unknown / 2, 0.03)
    if calls != recording.calls():
        raise AssertionError(f"calls: {calls}, expected {recording.calls()}")


def check_json(recording, version, path):
    """Compares what one version finds in the JSON with the summary."""
    ns, calls = query(recording, version, path, JSON)
    for part in ("run", "wait", "block"):
        if ns[part] != recording.total(part):
            raise AssertionError(f"ns {part}: {ns[part]}, expected {recording.total(part)}")
    if calls != recording.calls():
        raise AssertionError(f"calls in JSON: {calls}, expected {recording.calls()}")


def check(recording):
    """Shows a recording in Perfetto."""
    timeline = recording.write(".pftrace", "timeline")
    json = recording.write(".json", "export", "chrome")
    for version in VERSIONS:
        check_timeline(recording, version, timeline)
        check_json(recording, version, json)
    task = max(recording.tasks, key=lambda task: task["calls"])
    calls = f"kernel calls ({task['pid']})"
    name = f"{task['comm']} {task['pid']}"
    recording.browse("perfetto", timeline, name, calls, "why off CPU")
