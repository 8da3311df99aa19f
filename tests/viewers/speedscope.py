# SPDX-License-Identifier: GPL-2.0
"""speedscope: its table of functions has the times of `ferrotrace summary`.

It opens the folded stacks, whose times are exact, and the JSON of `ferrotrace export chrome`, of
which it shows one thread first.
"""

import json


def check_folded(recording):
    """Opens the folded stacks."""
    path = recording.write(".folded", "flame", "--folded")
    texts = [task["comm"] for task in recording.tasks if task["total_ns"] != 0]
    for part, frame in (("wait", "[wait]"), ("block", "[block]")):
        texts += [frame, f"{recording.total(part):,}"]
    recording.browse("speedscope", path, *dict.fromkeys(texts))


def check_json(recording):
    """Opens the JSON. Threads are sorted by process and thread id."""
    path = recording.write(".json", "export", "chrome")
    events = json.loads(path.read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "B"]
    pid, tid = min((event["pid"], event["tid"]) for event in spans)
    names = {event["name"] for event in spans if (event["pid"], event["tid"]) == (pid, tid)}
    recording.browse("speedscope", path, f"(pid {pid}", f"(tid {tid})", *sorted(names))


def check(recording):
    """Shows a recording in speedscope."""
    check_folded(recording)
    check_json(recording)
