# SPDX-License-Identifier: GPL-2.0
"""Reads what the kernel's file `trace` shows of a recording."""

import dataclasses
import re

LINE = re.compile(r" *(?P<s>\d+)\.(?P<us>\d{6}) \| +(?P<cpu>\d+)\) +\S*-(?P<pid>\d+) +"
                  r"\|(?P<duration>[^|]*)\|(?P<text>.*)")
EVENT = re.compile(r"/\* (?P<name>task_\w+): (?P<fields>.*) \*/")
LEAF = re.compile(r"(?P<name>[\w.]+)\(\);(?: /\* (?P<tail>.*) \*/)?")
BEGIN = re.compile(r"(?P<name>[\w.]+)\(\) \{")
END = re.compile(r"\} /\* (?P<name>[\w.]+)(?: (?P<tail>.*))? \*/")
TAIL = re.compile(r"run=(?P<run>[\d.]+) wait=(?P<wait>[\d.]+) block=(?P<block>[\d.]+) us"
                  r" switches=(?P<switches>\d+)"
                  r"(?: state=(?P<state>\S+) in (?P<place>\S+) by (?P<waker>.*))?")


@dataclasses.dataclass
class Event:
    """An event about tasks."""

    time_us: int
    cpu: int
    name: str
    fields: dict

    def number(self, field):
        """Returns a field that is a number, or None."""
        digits = re.match(r"\d+", self.fields.get(field, ""))
        return int(digits[0]) if digits else None


@dataclasses.dataclass
class Call:
    """A call. `begin_us` is None if it began before the recording."""

    name: str
    depth: int
    begin_us: int | None
    # As it is printed: times of 10 ms and more have fewer digits.
    duration_us: str | None = None
    tail: str | None = None

    def args(self):
        """Returns what the line says about the call, with the names of the timeline."""
        found = TAIL.fullmatch(self.tail) if self.tail else None
        if not found:
            return {}
        args = {f"{part}_ns": ns(found[part]) for part in ("run", "wait", "block")}
        args["switches"] = int(found["switches"])
        if found["state"]:
            args |= {"state": found["state"], "in": found["place"], "waker": found["waker"]}
        return args


def ns(text):
    """Returns a time in us with three digits after the point in ns."""
    whole, digits = text.split(".")
    if len(digits) != 3:
        raise ValueError(f"{text}: three digits expected")
    return int(whole) * 1000 + int(digits)


class KernelText:
    """The events of all tasks, and the calls of each task, in the order in which they began."""

    def __init__(self, text):
        self.events, self.calls = [], {}
        # The first line of each task.
        self.first_us = {}
        stacks = {}
        for line in text.splitlines():
            if not (found := LINE.fullmatch(line.rstrip())):
                continue
            time, pid = int(found["s"]) * 1_000_000 + int(found["us"]), int(found["pid"])
            body = found["text"].strip()
            if event := EVENT.fullmatch(body):
                fields = dict(re.findall(r"(\w+)=(\S*)", event["fields"]))
                self.events.append(Event(time, int(found["cpu"]), event["name"], fields))
            else:
                duration = re.search(r"[\d.]+", found["duration"])
                duration = duration[0] if duration else None
                self.call(body, time, duration, self.calls.setdefault(pid, []),
                          stacks.setdefault(pid, []))

    @staticmethod
    def call(body, time, duration, calls, stack):
        """Takes a line of a call. `calls` and `stack` are those of its task."""
        if found := LEAF.fullmatch(body):
            calls.append(Call(found["name"], len(stack), time, duration, found["tail"]))
        elif found := BEGIN.fullmatch(body):
            calls.append(Call(found["name"], len(stack), time))
            stack.append(calls[-1])
        elif found := END.fullmatch(body):
            if stack:
                call = stack.pop()
                if call.name != found["name"]:
                    raise ValueError(f"{call.name} at {call.begin_us} us ends as {body}")
            else:
                # It began before the recording, and is the caller of all calls so far.
                for callee in calls:
                    callee.depth += 1
                call = Call(found["name"], 0, None)
                calls.insert(0, call)
            call.duration_us, call.tail = duration, found["tail"]
        elif not body.startswith("/* "):
            raise ValueError(f"a line of an unknown format: {body}")

    def of(self, pid, *names):
        """Returns the events about a task with these names."""
        return [event for event in self.events
                if event.name in names and event.number("pid") == pid]

    def complete(self):
        """Returns the ids of the tasks that were created, and ended."""
        created = {event.number("child_pid") for event in self.events if event.name == "task_fork"}
        ended = {event.number("pid") for event in self.events
                 if event.name == "task_run" and event.fields["state"] in ("Z", "X")}
        return sorted(created & ended)
