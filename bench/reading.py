#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: reading.py TRACE-CMD FERROTRACE RECORDING QUARTER

Compares the CPU time in which `trace-cmd report`, `ferrotrace summary` and `ferrotrace timeline`
read a recording, and their peak memory. Prints a table. Fails if one of the latter two reads less
than RATIO times as many records a second as the first, uses more memory than MEMORY_MIB, or more
than GROWTH times as much as for QUARTER, a recording of a quarter of the length.
"""

import json
import os
import subprocess
import sys
import tempfile

# How many times as fast as `trace-cmd report` they are at least.
RATIO = 5
# Less than the records themselves take: they must not be kept in memory.
MEMORY_MIB = 64
# For four times as many records.
GROWTH = 1.1
ROUNDS = 3


def run(command):
    """Runs a command. Returns its CPU time in user space in seconds, and its peak memory in MiB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit('{}: exit status {}'.format(' '.join(command), child.returncode))
    return usage.ru_utime, usage.ru_maxrss / 1024


def reading(ferrotrace, recording, directory):
    """Returns the commands of which the memory has a limit."""
    timeline = [ferrotrace, 'timeline', recording, '-o', os.path.join(directory, 'pftrace')]
    return {
        'ferrotrace summary': [ferrotrace, 'summary', recording],
        'ferrotrace timeline': timeline,
    }


def count(ferrotrace, recording):
    """Returns the number of records."""
    summary = subprocess.run([ferrotrace, 'summary', '--json', recording], check=True,
                             capture_output=True)
    return json.loads(summary.stdout)['events']


def main():
    """Measures, prints the table and returns the exit status."""
    trace_cmd, ferrotrace, recording, quarter = sys.argv[1:]
    records = count(ferrotrace, recording)
    part = count(ferrotrace, quarter) / records
    if not 0.2 < part < 0.3:
        sys.exit('{} has {:.2f} of the records, expected a quarter'.format(quarter, part))
    with tempfile.TemporaryDirectory() as directory:
        commands = {'trace-cmd report': [trace_cmd, 'report', '-i', recording]}
        commands.update(reading(ferrotrace, recording, directory))
        times = dict.fromkeys(commands, float('inf'))
        memory = dict.fromkeys(commands, 0)
        # In turns, so that other load of the machine slows down all of them.
        for _ in range(ROUNDS):
            for name, command in commands.items():
                seconds, mib = run(command)
                times[name] = min(times[name], seconds)
                memory[name] = max(memory[name], mib)
        few = {name: max(run(command)[1] for _ in range(ROUNDS))
               for name, command in reading(ferrotrace, quarter, directory).items()}
    print('| reading {} records | s | records/s | ratio | MiB | a quarter: MiB |'.format(records))
    print('| --- | ---: | ---: | ---: | ---: | ---: |')
    failed = False
    for name, seconds in times.items():
        ratio = times['trace-cmd report'] / seconds
        less = few.get(name)
        print('| {} | {:.2f} | {:.0f} | {:.1f} | {:.1f} | {} |'.format(
            name, seconds, records / seconds, ratio, memory[name],
            '' if less is None else '{:.1f}'.format(less)))
        if less is None:
            continue
        if ratio < RATIO or memory[name] > MEMORY_MIB:
            failed = True
            print('{}: expected a ratio of {} at least, and {} MiB at most'.format(
                name, RATIO, MEMORY_MIB), file=sys.stderr)
        if memory[name] > GROWTH * less:
            failed = True
            print('{}: {:.1f} MiB, expected {} times as much as for a quarter at most'.format(
                name, memory[name], GROWTH), file=sys.stderr)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
