#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: report.py table|check|compare|scale JSON-FILE LIMITS FILE...

Makes a table of what bench/rows and bench/surroundings have printed, each FILE named for its
architecture, and another of what bench/wallclock has printed, which is in the same directory; or
compares the former with LIMITS. With `compare` or `scale`, makes a table of what bench/compare or
bench/scale and bench/cpus have printed. JSON-FILE may be empty.
"""

import json
import os
import sys

HEADER = '| | row | added | bytes | compared with | added | bytes | ratio | at most |'
COMPARE_HEADER = '| | question | command | process | others | tool | bytes |'
SCALE_HEADER = '| | series | number | added | bytes | for each |'
WALL_HEADER = '| | row | compared with | ratio of time, median | least | most |'


def number(text):
    """Returns the number in a column, or None."""
    return None if text == '-' else float(text)


def read_rows(path):
    """Returns the rows of one architecture."""
    rows = []
    with open(path, encoding='utf-8') as lines:
        for text in lines:
            name, added, used, other, other_added, other_used = text.rstrip('\n').split('\t')
            row = {
                'arch': os.path.basename(path),
                'row': name,
                'added': number(added),
                'bytes': number(used),
                'counterpart': None if other == '-' else other,
                'counterpart_added': number(other_added),
                'counterpart_bytes': number(other_used),
                'ratio': None,
                'limit': None,
                'bytes_limit': None,
            }
            if row['added'] is not None and row['counterpart_added']:
                row['ratio'] = round(row['added'] / row['counterpart_added'], 3)
            rows.append(row)
    return rows


def read_limits(path):
    """Returns the limits of rows: for each name, a list of the quantity, the limit on each
    architecture, and the target."""
    limits = {}
    with open(path, encoding='utf-8') as lines:
        for text in lines:
            if text.strip() and not text.startswith('#'):
                name, what, x86_64, arm64, aim = text.rstrip('\n').split('\t')
                limits.setdefault(name, []).append({
                    'what': what,
                    'x86_64': float(x86_64),
                    'arm64': float(arm64),
                    'aim': float(aim),
                })
    return limits


def show(value, form='{:.0f}'):
    """Formats a number for the table."""
    return '' if value is None else form.format(value)


def line(cells_of_row):
    """Returns a line of a table in Markdown."""
    return '| {} |\n'.format(' | '.join(cells_of_row))


def cells(row, limits):
    """Returns the cells of a row of the first table."""
    aim = ', '.join('{:.8g}{}'.format(
        limit['aim'], '' if limit['what'] == 'ratio' else ' ' + limit['what'])
        for limit in limits.get(row['row'], []))
    return [row['arch'], row['row'], show(row['added']), show(row['bytes'], '{:.1f}'),
            row['counterpart'] or '', show(row['counterpart_added']),
            show(row['counterpart_bytes'], '{:.1f}'), show(row['ratio'], '{:.2f}'), aim]


def table(rows, limits):
    """Prints the first table."""
    print(HEADER)
    print('| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |')
    for row in rows:
        print(line(cells(row, limits)), end='')


def read_wallclock(path):
    """Returns the rows of bench/wallclock for one architecture: arch, row, counterpart, ratios."""
    path, arch = os.path.split(path)
    with open(os.path.join(path, 'wallclock'), encoding='utf-8') as lines:
        return [[arch, *text.rstrip('\n').split('\t')] for text in lines]


def wall_cells(row):
    """Returns the cells of a row of the second table."""
    return [row['arch'], row['row'], row['counterpart'], *(
        show(row['wallclock_' + what], '{:.2f}') for what in ('ratio', 'least', 'most'))]


def wall_table(times):
    """Prints the second table."""
    print()
    print(WALL_HEADER)
    print('| --- | --- | --- | ---: | ---: | ---: |')
    for row in times:
        print(line(row), end='')


def read_compared(path):
    """Returns the rows of bench/compare for one architecture."""
    names = ['question', 'command', 'process', 'others', 'tool', 'bytes']
    with open(path, encoding='utf-8') as lines:
        return [{'arch': os.path.basename(path), **{
            name: value if name in names[:2] else int(value)
            for name, value in zip(names, text.rstrip('\n').split('\t'))}} for text in lines]


def compare_cells(row):
    """Returns the cells of a row of the table of commands. Instructions are in thousands."""
    return [row['arch'], row['question'],
            '`{}`'.format(row['command']) if row['question'] else row['command'],
            *('{:.0f}'.format(row[column] / 1000) for column in ('process', 'others', 'tool')),
            str(row['bytes'])]


def read_scale(path):
    """Returns the points of bench/scale and bench/cpus for one architecture."""
    with open(path, encoding='utf-8') as lines:
        points = [text.rstrip('\n').split('\t') for text in lines]
    return [{'arch': os.path.basename(path), 'series': series, 'number': int(count),
             'added': number(added), 'bytes': number(used)}
            for series, count, added, used in points]


def scale_cells(point):
    """Returns the cells of a row of the table of numbers."""
    used = point['bytes']
    return [point['arch'], point['series'], str(point['number']), show(point['added']),
            show(used), show(None if used is None else used / point['number'])]


def other_table(rows, header, cells_of):
    """Prints a table of bench/compare or bench/scale."""
    print(header)
    print('| --- | --- | --- |' + ' ---: |' * (header.count('|') - 4))
    for row in rows:
        print(line(cells_of(row)), end='')


OTHERS = {
    'compare': (read_compared, COMPARE_HEADER, compare_cells),
    'scale': (read_scale, SCALE_HEADER, scale_cells),
}


def write_json(path, rows):
    """Writes the rows to a file, if its name is not empty."""
    if path:
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(rows, file, indent=1)
            file.write('\n')


def check(rows, limits):
    """Compares the rows with their limits. Returns the number of failures."""
    passed = failed = 0
    for row in rows:
        for limit in limits.get(row['row'], []):
            value = row[limit['what']]
            held = limit[row['arch']]
            good = value is not None and value <= held
            passed += good
            failed += not good
            print('{} cost/{}: {} # {} {}, at most {:.8g}'.format(
                'ok' if good else 'not ok', row['arch'], row['row'], limit['what'], value, held))
    seen = {(row['arch'], row['row']) for row in rows}
    for arch in sorted({row['arch'] for row in rows}):
        for name in limits:
            if (arch, name) not in seen:
                failed += 1
                print('not ok cost/{}: {} # was not measured'.format(arch, name))
    print('{} passed, {} failed, 0 skipped'.format(passed, failed))
    return failed


def main():
    """Does what the arguments say, and returns the exit status."""
    how, out, limits_path, *paths = sys.argv[1:]
    if how in OTHERS:
        read, header, cells_of = OTHERS[how]
        rows = [row for path in paths for row in read(path)]
        write_json(out, rows)
        other_table(rows, header, cells_of)
        return 0
    limits = read_limits(limits_path)
    rows = [row for path in paths for row in read_rows(path)]
    times = [] if how == 'check' else [row for path in paths for row in read_wallclock(path)]
    ratios = {(arch, row): list(map(float, numbers)) for arch, row, _, *numbers in times}
    for row in rows:
        for limit in limits.get(row['row'], []):
            row['bytes_limit' if limit['what'] == 'bytes' else 'limit'] = limit['aim']
        row['wallclock_ratio'], row['wallclock_least'], row['wallclock_most'] = ratios.get(
            (row['arch'], row['row']), [None] * 3)
    write_json(out, rows)
    if how == 'check':
        return 1 if check(rows, limits) else 0
    table(rows, limits)
    wall_table(times)
    return 0


if __name__ == '__main__':
    sys.exit(main())
