#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: docs.py check | write JSON...

Keeps the numbers in the documents equal to those of docs/performance-table.md.

  check  compares the charts docs/performance.svg and docs/scale.svg, the table of commands in
         docs/comparison.md, and the texts that bench/quotes.py lists, with the tables. Prints each
         difference; exits with 1 if there is one
  write  replaces the tables by the results of `make bench JSON=FILE`, `make bench-compare
         JSON=FILE` or `make bench-scale JSON=FILE`, then everything that is compared with them.
         Tables that no FILE is about, and rows of an architecture that no FILE contains, are kept
"""

import json
import pathlib
import re
import sys

import curves
import quotes
import report

TOP = pathlib.Path(__file__).resolve().parent.parent
TABLE = 'docs/performance-table.md'
CHART = 'docs/performance.svg'
CURVES = 'docs/scale.svg'

# The table of commands in docs/comparison.md: in millions of instructions, with those of arm64 in
# parentheses.
COMMANDS_HEADER = '| question | command | the process | the others | the command itself | KiB |'

# The rows of the chart: for each operation, the row of the table and the label and colour of a bar.
# The colour `k` is the kernel's tracer, in whose columns the number is.
BARS = [
    ('function entry', [
        (quotes.ENTRY, 'function', 'k'),
        (quotes.ENTRY, 'ferrotrace', 'f'),
        (quotes.ENTRY_COMPACT, 'ferrotrace, compact', 'c'),
    ]),
    ('leaf call and return', [
        (quotes.LEAF, 'function_graph', 'k'),
        (quotes.LEAF, 'ferrotrace', 'f'),
        (quotes.LEAF_COMPACT, 'ferrotrace, compact', 'c'),
        (quotes.PROFILE, 'ferrotrace, profile', 'c'),
    ]),
    ('call below a threshold', [
        (quotes.THRESHOLD, 'function_graph', 'k'),
        (quotes.THRESHOLD, 'ferrotrace', 'f'),
    ]),
    ('call of a task that is not selected', [
        (quotes.OTHER_TASK, 'function_graph, set_ftrace_pid', 'k'),
        (quotes.OTHER_TASK, 'ferrotrace', 'f'),
    ]),
    ('context switch of tasks that are not selected', [
        (quotes.SWITCH, 'function_graph, set_ftrace_pid', 'k'),
        (quotes.SWITCH, 'ferrotrace', 'f'),
    ]),
]


class Table:
    """The rows of one architecture in the tables of instructions, of commands and of numbers."""

    def __init__(self, rows, commands, points, arch):
        self.arch = arch
        self.commands = commands
        self.scale = points
        self.rows = {}
        for row in rows:
            # Rows for the costs of another tracer have the same name; they are found by both names.
            self.rows.setdefault(row[1], row)
            self.rows[row[1], row[4]] = row

    def cell(self, name, column):
        """Returns a cell as it is printed."""
        if name not in self.rows:
            sys.exit('{}: no row {!r} for {}'.format(TABLE, name, self.arch))
        return self.rows[name][column]

    def added(self, name):
        """Returns the instructions that ferrotrace adds."""
        return int(self.cell(name, 2))

    def bytes(self, name):
        """Returns the bytes that ferrotrace uses."""
        return float(self.cell(name, 3))

    def other(self, name):
        """Returns the instructions that the other tracer adds."""
        return int(self.cell(name, 5))

    def points(self, series):
        """Returns the points of a curve: pairs of a number and the instructions."""
        found = [(int(row[2]), int(row[3])) for row in self.scale if row[1] == series and row[3]]
        return found or sys.exit('{}: no series {!r} for {}'.format(TABLE, series, self.arch))

    def grown(self, series):
        """Returns the number and the bytes in the last row of a series that has bytes."""
        found = [(int(row[2]), int(row[4])) for row in self.scale if row[1] == series and row[4]]
        return found[-1] if found else sys.exit(
            '{}: no bytes of {!r} for {}'.format(TABLE, series, self.arch))

    def ratio(self, name):
        """Returns the ratio of both, with two digits."""
        return self.cell(name, 7)


def chart(table):
    """Returns the chart: what the file has before its first bar, in the size that the bars need,
    and the bars. 420 pixels are the largest number, rounded up to a multiple of 100.
    """
    bars = [(title, [((table.other if colour == 'k' else table.added)(row), label, colour)
                     for row, label, colour in group]) for title, group in BARS]
    scale = 420 / (-(-max(value for _, group in bars for value, _, _ in group) // 100) * 100)
    parts = []
    y = 55
    for title, group in bars:
        parts.append('<text class="h" x="12" y="{}">{}</text>\n'.format(y, title))
        y += 20
        for value, label, colour in group:
            width = value * scale
            parts.append(
                '<text class="l" x="292" y="{}" text-anchor="end">{}</text>\n'
                '<rect class="{}" x="300" y="{}" width="{:.1f}" height="14"/>\n'
                '<text class="v" x="{:.1f}" y="{}">{}</text>\n'.format(
                    y, label, colour, y - 11, width, 306 + width, y, value))
            y += 18
        y += 10
    head = read(CHART).split('<text class="h"')[0]
    head = re.sub(r'(?<=width="800" height=")\d+|(?<=viewBox="0 0 800 )\d+', str(y - 5), head)
    return head + ''.join(parts) + '</svg>\n'


def with_commands(tables):
    """Returns docs/comparison.md with the table of commands."""
    others = {row[2]: row[3:] for row in tables[1].commands}

    def both(row, column, unit):
        value, other = int(row[column]), others.get(row[2], [])[column - 3:][:1]
        text = '{:,.1f}'.format(value / unit)
        return text + ''.join(' ({:,.1f})'.format(int(other) / unit) for other in other)

    rows = [[row[1], row[2], both(row, 3, 1000), both(row, 4, 1000), both(row, 5, 1000),
             both(row, 6, 1024)] for row in tables[0].commands]
    text = read(quotes.COMPARISON)
    _, begin, end = read_rows(text, COMMANDS_HEADER)
    return text[:begin] + ''.join(map(report.line, rows)) + text[end:]


def read(name):
    """Returns the text of a file of the project."""
    return (TOP / name).read_text(encoding='utf-8')


def read_rows(text, header):
    """Returns the rows of the table with this header, as lists of cells, and its place in text."""
    begin = text.index('\n', text.index('| ---', text.index(header))) + 1
    end = re.compile(r'(\|.*\n)*').match(text, begin).end()
    return [[cell.strip() for cell in line[1:-1].split('|')]
            for line in text[begin:end].splitlines()], begin, end


def replace_rows(text, header, rows):
    """Replaces the rows of all architectures that are in `rows`, in the table with this header."""
    old, begin, end = read_rows(text, header)
    archs = {row[0] for row in rows}
    rows = rows + [row for row in old if row[0] not in archs]
    rows.sort(key=lambda row: row[0] != 'x86_64')
    return text[:begin] + ''.join(map(report.line, rows)) + text[end:]


def find(quote, text):
    """Finds a quoted text, however its lines are wrapped."""
    return re.search(r'(?<!\S)' + r'(\s+)'.join(map(re.escape, quote.split())), text)


def quoted(tables):
    """Returns all quotes, as pairs of document and text."""
    return list(quotes.quotes(*tables))


def tables_of(text):
    """Returns the rows of x86_64 and those of arm64."""
    def rows(header, arch):
        return [row for row in read_rows(text, header)[0] if row[0] == arch]

    return [Table(rows(report.HEADER, arch), rows(report.COMPARE_HEADER, arch),
                  rows(report.SCALE_HEADER, arch), arch) for arch in ('x86_64', 'arm64')]


def check():
    """Compares the documents with the table. Returns the number of differences."""
    tables = tables_of(read(TABLE))
    wrong = ['{}: is not the chart of {}: write it again'.format(CHART, TABLE)
             ] if read(CHART) != chart(tables[0]) else []
    if read(CURVES) != curves.curves(read(CURVES), tables[0].points):
        wrong.append('{}: is not the chart of {}: write it again'.format(CURVES, TABLE))
    if read(quotes.COMPARISON) != with_commands(tables):
        wrong.append('{}: has not the commands of {}: write it again'.format(
            quotes.COMPARISON, TABLE))
    wrong += ['{}: not found, with numbers from {}: {}'.format(name, TABLE, quote)
              for name, quote in quoted(tables) if not find(quote, read(name))]
    for finding in wrong:
        print(finding)
    return len(wrong)


def write(paths):
    """Replaces the numbers in all documents by those of the files."""
    rows = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            rows += json.load(file)
    limits = report.read_limits(TOP / 'bench' / 'limits')
    old = new = read(TABLE)
    commands = [report.compare_cells(row) for row in rows if 'command' in row]
    points = [report.scale_cells(row) for row in rows if 'series' in row]
    rows = [row for row in rows if 'row' in row]
    if commands:
        new = replace_rows(new, report.COMPARE_HEADER, commands)
    if points:
        new = replace_rows(new, report.SCALE_HEADER, points)
    if rows:
        new = replace_rows(new, report.HEADER, [report.cells(row, limits) for row in rows])
    times = [report.wall_cells(row) for row in rows if row.get('wallclock_least') is not None]
    if times:
        new = replace_rows(new, report.WALL_HEADER, times)
    before, after = tables_of(old), tables_of(new)
    texts = {TABLE: new, CHART: chart(after[0]),
             CURVES: curves.curves(read(CURVES), after[0].points),
             quotes.COMPARISON: with_commands(after)}
    for (name, quote), (_, now) in zip(quoted(before), quoted(after)):
        text = texts.get(name) or read(name)
        match = find(quote, text)
        if not match:
            sys.exit('{}: not found, with numbers from {}: {}'.format(name, TABLE, quote))
        # The lines stay wrapped as they are.
        words = now.split()
        spaces = [*match.groups(), '']
        texts[name] = text[:match.start()] + ''.join(
            word + space for word, space in zip(words, spaces)) + text[match.end():]
    for name, text in texts.items():
        (TOP / name).write_text(text, encoding='utf-8')


def main():
    """Does what the arguments say, and returns the exit status."""
    if sys.argv[1:] == ['check']:
        return 1 if check() else 0
    if sys.argv[1:2] == ['write'] and len(sys.argv) > 2:
        write(sys.argv[2:])
        return 0
    return __doc__


if __name__ == '__main__':
    sys.exit(main())
