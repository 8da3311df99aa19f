# SPDX-License-Identifier: GPL-2.0
"""Perfetto: both versions of its trace processor, and its user interface.

The trace processors load the timeline, and the JSON of `ferrotrace export chrome`, without an
error. They find as many calls of each function as the summary, and the states of all tasks have the
same sums. The states, slices, arguments and arrows of a timeline are those in the kernel's text,
row by row (rows.py). The user interface shows the tracks of a process. Of a recording with
sections, they find each section, and each trigger; of one with chains of wakeups, each chain.
"""

import json
import subprocess

import rows
from kernel_text import KernelText
from recording import HERE

VERSIONS = ("52", "55")
ERRORS = "select name, value from stats where severity <> 'info' and value > 0"
TIMELINE = (
    ERRORS,
    "select state, sum(dur) as ns from thread_state where dur > 0 group by state",
    "select s.name, count(*) as calls from slice s join track t on s.track_id = t.id"
    " where t.name like 'kernel calls%' and s.name not like 'wakes %' group by s.name",
)
MARKS = (
    ERRORS,
    "select name, dur from slice where name in ({names}) order by name, dur",
)
COUNTERS = (
    "select t.name, c.value from counter c join counter_track t on c.track_id = t.id"
    " where t.name like 'task_run:%' order by c.ts, c.id"
)
CHAINS = (
    ERRORS,
    "select extract_arg(arg_set_id, 'debug.chain') as chain, count(*), sum(dur), max(dur)"
    " from slice where chain is not null group by chain",
)
CHAINS_JSON = (
    ERRORS,
    "select name, count(*), sum(extract_arg(arg_set_id, 'args.block_ns')),"
    " max(extract_arg(arg_set_id, 'args.block_ns'))"
    " from slice where category = 'chain' group by name",
)
JSON = (
    ERRORS,
    "select name, sum(dur) from slice where category = 'state' group by name",
    "select name, count(*) from slice where category = 'call' group by name",
)


def query(recording, version, path, queries):
    """Returns the rows of each query but the first, which asks for errors."""
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
    if tables[0]:
        raise AssertionError(f"Perfetto {version}: {path.name}: {tables[0]}")
    return tables[1:]


def sums(recording, version, path, queries):
    """Returns the time in each state in ns, and the number of calls of each function."""
    states, calls = query(recording, version, path, queries)
    return {state: int(ns) for state, ns in states}, {name: int(n) for name, n in calls}


def compare(what, actual, expected, tolerance):
    """Fails if two numbers differ by more than this part of the expected one."""
    if abs(actual - expected) > tolerance * expected:
        raise AssertionError(f"{what}: {actual}, expected {expected}")


def check_timeline(recording, version, path):
    """Compares what one version of the trace processor finds with the summary."""
    ns, calls = sums(recording, version, path, TIMELINE)
    unknown = recording.total("unknown")
    # The end of a state and the event that reports it are some microseconds apart.
    compare("ns running", ns["Running"], recording.total("run"), 0.01)
    compare("ns runnable", ns["R"], recording.total("wait") + unknown / 2, 0.03)
    compare("ns blocked", ns["S"] + ns.get("D", 0), recording.total("block") + unknown / 2, 0.03)
    if calls != recording.calls():
        raise AssertionError(f"calls: {calls}, expected {recording.calls()}")


def check_rows(recording, path):
    """Compares what both versions find with the kernel's text, row by row. Returns whether it has
    states."""
    text = KernelText(recording.kernel_text())
    for version in VERSIONS:
        rows.check(text, query(recording, version, path, (ERRORS, *rows.QUERIES)))
    return bool(text.events)


def check_counters(recording):
    """Compares a counter with a track for each command with the kernel's text."""
    path = recording.write("-counters.pftrace", "timeline", "--counter", "task_run:run_ns:comm")
    expected = {}
    for event in KernelText(recording.kernel_text()).events:
        if event.name == "task_run":
            track = f"task_run:run_ns comm={event.fields['comm']}"
            expected.setdefault(track, []).append(event.number("run"))
    for version in VERSIONS:
        (table,) = query(recording, version, path, (ERRORS, COUNTERS))
        found = {}
        for track, value in table:
            found.setdefault(track, []).append(int(float(value)))
        if found != expected:
            raise AssertionError(f"counters: {found}, expected {expected}")


def check_json(recording, version, path):
    """Compares what one version finds in the JSON with the summary."""
    ns, calls = sums(recording, version, path, JSON)
    for part in ("run", "wait", "block"):
        if ns[part] != recording.total(part):
            raise AssertionError(f"ns {part}: {ns[part]}, expected {recording.total(part)}")
    if calls != recording.calls():
        raise AssertionError(f"calls in JSON: {calls}, expected {recording.calls()}")


def check_marks(recording, version, path):
    """Compares the sections and triggers that one version finds with the events."""
    expected = []
    for line in recording.output("report", "--json").splitlines()[1:]:
        event = json.loads(line)
        if event["event"] == "task_section":
            expected.append((event["name"], event["total_ns"]))
        elif event["event"] == "trigger":
            expected.append((f"trigger: {event['text']}", 0))
    expected.sort()
    names = ", ".join(f"'{name}'" for name, _ in expected)
    queries = [query.format(names=names) for query in MARKS]
    (table,) = query(recording, version, path, queries)
    found = sorted((name, int(ns)) for name, ns in table)
    if [name for name, _ in found] != [name for name, _ in expected]:
        raise AssertionError(f"sections and triggers: {found}, expected {expected}")
    for (name, ns), (_, event_ns) in zip(found, expected):
        # Perfetto measures between two markers, whose writing takes time as well.
        if abs(ns - event_ns) > (1_000_000 if event_ns else 0):
            raise AssertionError(f"ns of {name}: {ns}, expected {event_ns}")


def check_chains(recording):
    """Compares the chains that both versions find with the summary."""
    expected = {
        row["chain"]: [row["count"], row["total_ns"], row["max_ns"]]
        for row in recording.summary["chains"]
    }
    timeline = recording.write(".pftrace", "timeline")
    exported = recording.write(".json", "export", "chrome")
    for version in VERSIONS:
        for path, queries in ((timeline, CHAINS), (exported, CHAINS_JSON)):
            (table,) = query(recording, version, path, queries)
            found = {
                name.removeprefix("woken by chain: "): [int(number) for number in numbers]
                for name, *numbers in table
            }
            if found != expected:
                raise AssertionError(f"chains in {path.name}: {found}, expected {expected}")


def check_sections(recording):
    """Shows a recording with sections and triggers in Perfetto."""
    timeline = recording.write(".pftrace", "timeline")
    for version in VERSIONS:
        check_marks(recording, version, timeline)
        check_marks(recording, version, recording.write(".json", "export", "chrome"))


def check(recording):
    """Shows a recording in Perfetto."""
    if recording.summary["sections"]:
        check_sections(recording)
        return
    if recording.summary["chains"]:
        check_chains(recording)
        return
    timeline = recording.write(".pftrace", "timeline")
    if not check_rows(recording, timeline):
        return
    check_counters(recording)
    exported = recording.write(".json", "export", "chrome")
    for version in VERSIONS:
        check_timeline(recording, version, timeline)
        check_json(recording, version, exported)
    task = max(recording.tasks, key=lambda task: task["calls"])
    calls = f"kernel calls ({task['pid']})"
    name = f"{task['comm']} {task['pid']}"
    recording.browse("perfetto", timeline, name, calls, "why off CPU")
