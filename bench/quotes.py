# SPDX-License-Identifier: GPL-2.0
"""The texts of documents that quote numbers from docs/performance-table.md, for bench/docs.py."""

import math

ENTRY = 'entry recorded'
ENTRY_COMPACT = 'entry recorded, compact'
ENTRY_OTHER_TASK = 'entry of a task that does not match, 1 id'
LEAF = 'leaf call and return recorded'
LEAF_COMPACT = 'leaf call and return recorded, compact'
PROFILE = 'profile only'
THRESHOLD = 'call below the threshold'
OTHER_TASK = 'call of a task that does not match'
SWITCH = 'switch of tasks that do not match, call graph on'
SWITCH_OWN = 'switch of tasks that do not match, call graph on, over an empty probe'
SWITCH_EVENTS = 'task_run and task_wait, for each switch'
KPROBE = ('(function)', 'kprobe event')
KRETPROBE = ('(function_graph)', 'kretprobe event')
FPROBE_RETURN = ('(function_graph)', 'fprobe return event')
BPF_COUNT = '(entry recorded)'
BPF_HISTOGRAM = '(profile only)'
MODULE = 'memory of the module, loaded and idle'
TASK = 'memory for each of 10000 traced tasks'
TOP = 'ferrotrace top, for each switch of the task that it shows'
JOB = ('', 'a job: something is unpacked and compiled')
FLOOR_SWITCH = 'floor: a switch while an empty hook is on other calls'
FLOOR_PROBE = 'floor: the same, with an empty probe on the switch'
FLOOR_HOOK = 'floor: the same, with an empty hook on a function of the switch instead'

README = 'README.md'
PERFORMANCE = 'docs/performance.md'
COMPARISON = 'docs/comparison.md'
COSTS = 'docs/internals/costs.md'


def near(value):
    """Rounds to tens."""
    return '{:,}'.format(round(value / 10) * 10)


def performance(x, a):
    """Yields the rows of the most important numbers."""
    for label, row, other in [
            ('function entry', ENTRY, '`function`'),
            ('function entry, compact', ENTRY_COMPACT, '`function`'),
            ('call and return without callees', LEAF, '`function_graph`'),
            ('call and return without callees, compact', LEAF_COMPACT, '`function_graph`'),
            ('call and return, profile only', PROFILE, '`function_graph`'),
            ('call below the threshold', THRESHOLD, '`function_graph`, `tracing_thresh`'),
            ('call of a task that is not selected', OTHER_TASK,
             '`function_graph`, `set_ftrace_pid`'),
            ('entry of a task that is not selected', ENTRY_OTHER_TASK,
             '`function`, `set_ftrace_pid`'),
            ('context switch of tasks that are not selected, call graph on', SWITCH,
             '`function_graph`, `set_ftrace_pid`'),
            ('`task_run` and `task_wait`, for each switch', SWITCH_EVENTS, '`sched_switch`'),
    ]:
        yield (f'| {label} | {x.added(row)} | {a.added(row)} | {other} | {x.other(row)} '
               f'| {a.other(row)} |')
    yield (f'| {near(x.bytes(MODULE) / 1024)} KiB (x86_64), '
           f'{near(a.bytes(MODULE) / 1024)} KiB (arm64) |')
    yield f'second: {near(x.added(TOP))} instructions for each of them'
    task = math.ceil(max(x.bytes(TASK), a.bytes(TASK)) / 10) * 10
    yield f'| each traced task | {task} bytes,'


def scale(x):
    """Yields the texts about numbers of tasks, CPUs, trace arrays and patterns."""
    for label, operation, series in [
            ('traced tasks', 'call and return', 'call and return, traced tasks'),
            ('CPUs', 'call and return', 'call and return, CPUs'),
            ('trace arrays that trace the task', 'call and return',
             'call and return, trace arrays'),
            ('the same', '`function_graph`', 'function_graph, trace arrays'),
            ('the same', 'call below the threshold', 'call below the threshold, trace arrays'),
            ('the same', 'entry', 'entry, trace arrays'),
            ('the same', '`function`', 'function, trace arrays'),
            ('trace arrays that trace other tasks', 'call and return',
             'call of a task that does not match, trace arrays'),
    ]:
        points = sorted(x.points(series))
        yield (f'| {label} | {operation} | {points[0][1]:,} | {points[-1][0]:,} '
               f'| {points[-1][1]:,} |')

    def filtered(operation, numbers):
        return x.added('{}, trace arrays: {}, patterns in each: {}'.format(operation, *numbers))

    for label, numbers in [('none', (1, 0)), ('1 × 1', (1, 1)), ('1 × 256', (1, 256)),
                           ('32 × 256', (32, 256))]:
        yield f'| {label} | {filtered("rename", numbers):,} |'
    fork, execute = (round(filtered(operation, (32, 256)), -3) for operation in ('fork', 'exec'))
    yield f'last row can be measured: {fork:,} and {execute:,}.'

    def each(series):
        count, size = x.grown(series)
        return size / count

    cpu = each('CPUs, tracer on')
    yield f'| each CPU, while a tracer is on | {cpu / 1024:.0f} KiB |'
    array, tracer = each('more trace arrays'), each('trace arrays with the tracer on')
    yield (f'| each trace array | {array / 1024:.0f} KiB, and {tracer / 1024:.0f} KiB more while '
           'its tracer is on |')
    yield f'| each pattern of `set_comm` | {each("patterns"):.0f} bytes |'


def job(x, a):
    """Yields the texts about the compile job. Times are in milliseconds."""
    def ratio(table, mode):
        return table.ratio(f'a job, all functions, {mode}')

    def holds(table, mode):
        return table.added(f'us of it that a buffer of 1 MiB holds, {mode}') / 1000

    def kernel_holds(table, mode):
        return table.other(f'us of it that a buffer of 1 MiB holds, {mode}') / 1000

    for mode, tracer in [('entries', 'function'), ('calls and returns', 'function_graph')]:
        yield (f'| {mode} | {ratio(x, mode)} of `{tracer}` | {ratio(a, mode)} '
               f'| {holds(x, mode):.0f} ms (`{tracer}` {kernel_holds(x, mode):.0f} ms) '
               f'| {holds(a, mode):.0f} ms ({kernel_holds(a, mode):.0f} ms) |')
        mode += ', compact'
        yield (f'| {mode} | {ratio(x, mode)} of `{tracer}` '
               f'| {ratio(a, mode)} | {holds(x, mode):.0f} ms '
               f'| {holds(a, mode):.0f} ms |')

    # One instruction is one nanosecond.
    base = x.other(JOB) / 1e6

    def part(mode):
        takes = base + x.added(f'a job, all functions, {mode}') / 1e6
        return holds(x, mode), takes, 100 * holds(x, mode) / takes

    def kernel_part(mode):
        takes = base + x.other(f'a job, all functions, {mode}') / 1e6
        return kernel_holds(x, mode), takes, 100 * kernel_holds(x, mode) / takes

    yield ('1 MiB holds {:.0f} ms of a job that takes {:.0f} ms ({:.0f} %); '
           'with `function`, {:.0f} ms of {:.0f} ms ({:.0f} %).'.format(
               *part('entries, compact'), *kernel_part('entries')))
    yield ('it holds {:.0f} ms of {:.0f} ms ({:.0f} %); '
           'with `function_graph`, {:.0f} ms of {:.0f} ms ({:.1f} %).'.format(
               *part('calls and returns, compact'), *kernel_part('calls and returns')))


def comparison(x):
    """Yields the rows of costs, which are those of x86_64."""
    yield (f'| function entry | {x.added(ENTRY)}, compact {x.added(ENTRY_COMPACT)} '
           f'| `function` {x.other(ENTRY)}; kprobe event {x.other(KPROBE)}; '
           f'bpftrace count at `fentry` {x.other(BPF_COUNT)} |')
    yield (f'| call and return | {x.added(LEAF)}, compact {x.added(LEAF_COMPACT)} '
           f'| `function_graph` {x.other(LEAF)}; kretprobe event {x.other(KRETPROBE)} |')
    yield (f'| call of a task that is not selected | {x.added(OTHER_TASK)} '
           f'| `function_graph` with `set_ftrace_pid` {x.other(OTHER_TASK)} |')
    yield (f'| call below a threshold | {x.added(THRESHOLD)} '
           f'| `function_graph` with `tracing_thresh` {x.other(THRESHOLD)} |')
    yield (f'| aggregation of call durations | {x.added(PROFILE)} (profile) '
           f'| bpftrace histogram at `fentry` and `fexit` {x.other(BPF_HISTOGRAM)} |')
    yield (f'| context switch, with durations | {x.added(SWITCH_EVENTS)} (`task_run` and '
           f'`task_wait`) | `sched_switch` {x.other(SWITCH_EVENTS)}, without durations |')


def costs(x, a):
    """Yields the texts of what the costs consist of."""
    floor = 'floor: the same, which keep when it began, and look how long it took'
    for label, row in [
            ('empty', 'floor: empty hooks on a call and its return'),
            ('with 32 bytes stored for the call',
             'floor: the same, which keep 32 bytes with the call'),
            ('with the begin time stored and compared, by the trace clock', floor),
            ("with the begin time stored and compared, by the CPU's counter",
             'floor: the same, by the counter of the CPU'),
            ('**ferrotrace, with filters, depths, thresholds and a task data word: a call below '
             'the threshold**', THRESHOLD),
    ]:
        yield f'| {label} | {x.added(row)} | {a.added(row)} |'
    yield (f'| leaf call and return, compact '
           f'| 0.30 of `function_graph`: {0.3 * x.other(LEAF):.0f} ({0.3 * a.other(LEAF):.0f}) '
           f'| {x.ratio(LEAF_COMPACT)}: {x.added(LEAF_COMPACT)} '
           f'({a.ratio(LEAF_COMPACT)}: {a.added(LEAF_COMPACT)}) |')
    yield (f'| profile only | 0.30 on arm64: {0.3 * a.other(LEAF):.0f} '
           f'| {a.ratio(PROFILE)}: {a.added(PROFILE)} |')
    yield f'On x86_64 it is {x.ratio(PROFILE)} |'
    yield f'| call below the threshold | 0.65 on arm64 | {a.ratio(THRESHOLD)} |'
    yield (f'| context switch of tasks that are not selected | 40 '
           f'| {x.added(SWITCH)} ({a.added(SWITCH)}) |')
    yield f'which takes {x.added(FLOOR_SWITCH)} ({a.added(FLOOR_SWITCH)}). With a second probe'
    yield f'this is {x.added(FLOOR_PROBE)} ({a.added(FLOOR_PROBE)}), because'
    yield f"own part is {x.added(SWITCH_OWN)} ({a.added(SWITCH_OWN)})."
    yield f'`set_ftrace_pid` takes {x.other(SWITCH)} ({a.other(SWITCH)}) |'
    yield f"the kernel's own fprobe return event takes {x.other(FPROBE_RETURN)}."
    yield f'{x.added(SWITCH)} ({a.added(SWITCH)}) (used);'
    yield f'{x.added(FLOOR_HOOK)} ({a.added(FLOOR_HOOK)}) if it does nothing,'


def arrays(x, a):
    """Yields the texts about the costs of several trace arrays."""
    def of(table):
        other, below, entry = (dict(table.points(f'{operation}, trace arrays')) for operation in [
            'call of a task that does not match', 'call below the threshold', 'entry'])
        # The mean costs of hooks 9 to 16 and of hooks 5 to 8, which are six hooks apart.
        step = ((below[16] - below[8]) / 8 - (below[8] - below[4]) / 4) / 6
        return [other[1], other[2], (other[16] - other[2]) / 14, step, below[1], below[16],
                round(step) * 15 * 16 // 2, (entry[32] - entry[2]) / 30]

    both = [f'{one:,.0f} ({another:,.0f})' for one, another in zip(of(x), of(a))]
    yield 'takes {} with one trace array, {} with two, and {} for each of the others.'.format(
        *both[:3])
    yield 'with {0} instructions for each. So each hook takes {0} more than'.format(both[3])
    yield ('calls below the threshold take {} with one trace array, and {} with 16, where the '
           'search is {} of them.'.format(*both[4:7]))
    yield f'from two trace arrays on, each takes {both[7]}.'


def quotes(x, a):
    """Yields each document and text. The arguments are the tables of x86_64 and of arm64."""
    yield README, (f'A recorded call costs about {near(x.added(LEAF))} instructions '
                   f'(`function_graph`: {near(x.other(LEAF))}), a call of a task that is not '
                   f'selected {near(x.added(OTHER_TASK))}.')
    for text in [*performance(x, a), *scale(x), *job(x, a)]:
        yield PERFORMANCE, text
    for text in comparison(x):
        yield COMPARISON, text
    for text in [*costs(x, a), *arrays(x, a)]:
        yield COSTS, text
