#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: report.py table|check JSON-FILE LIMITS FILE...

Makes a table of what bench/rows and bench/surroundings have printed, each FILE named for its
architecture, and another of what bench/wallclock has printed, which is in the same directory; or
compares the former with LIMITS. JSON-FILE may be empty.
"""

import json
import os
import sys


def number(text):
    """Returns the number in a column, or None."""
    return None if text == '-' else float(text)


def read_rows(path):
    """Returns the rows of one architecture."""
    rows = []
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            name, added, used, other, other_added, other_used = line.rstrip('\n').split('\t')
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
        for line in lines:
            if line.strip() and not line.startswith('#'):
                name, what, x86_64, arm64, aim = line.rstrip('\n').split('\t')
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


def table(rows, limits):
    """Prints a table that Markdown understands."""
    print('| | row | added | bytes | compared with | added | bytes | ratio | at most |')
    print('| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |')
    for row in rows:
        aim = ', '.join('{:.8g}{}'.format(
            limit['aim'], '' if limit['what'] == 'ratio' else ' ' + limit['what'])
            for limit in limits.get(row['row'], []))
        print('| {} | {} | {} | {} | {} | {} | {} | {} | {} |'.format(
            row['arch'], row['row'], show(row['added']), show(row['bytes'], '{:.1f}'),
            row['counterpart'] or '', show(row['counterpart_added']),
            show(row['counterpart_bytes'], '{:.1f}'), show(row['ratio'], '{:.2f}'), aim))


def read_wallclock(path):
    """Returns the rows of bench/wallclock for one architecture: arch, row, counterpart, ratios."""
    path, arch = os.path.split(path)
    with open(os.path.join(path, 'wallclock'), encoding='utf-8') as lines:
        return [[arch, *line.rstrip('\n').split('\t')] for line in lines]


def wall_table(times):
    """Prints the second table."""
    print()
    print('| | row | compared with | ratio of time, median | least | most |')
    print('| --- | --- | --- | ---: | ---: | ---: |')
    for line in times:
        print('| {} |'.format(' | '.join(line)))


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
    limits = read_limits(limits_path)
    rows = [row for path in paths for row in read_rows(path)]
    times = [] if how == 'check' else [line for path in paths for line in read_wallclock(path)]
    medians = {(arch, row): float(median) for arch, row, _, median, _, _ in times}
    for row in rows:
        for limit in limits.get(row['row'], []):
            row['bytes_limit' if limit['what'] == 'bytes' else 'limit'] = limit['aim']
        row['wallclock_ratio'] = medians.get((row['arch'], row['row']))
    if out:
        with open(out, 'w', encoding='utf-8') as file:
            json.dump(rows, file, indent=1)
            file.write('\n')
    if how == 'check':
        return 1 if check(rows, limits) else 0
    table(rows, limits)
    wall_table(times)
    return 0


if __name__ == '__main__':
    sys.exit(main())
