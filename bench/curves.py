# SPDX-License-Identifier: GPL-2.0
"""The chart of costs against numbers of tasks, trace arrays, CPUs and patterns, for bench/docs.py.
Both axes are logarithmic."""

import math

# The first element that is drawn. The chart keeps what its file has before it.
FIRST = '<line class="g"'

# For each curve: the series of the table, its label, its colour, and where the label is from the
# last point.
CURVES = [
    ('call and return, traced tasks', 'call and return, traced tasks', '#1f6feb', (-175, -8)),
    ('call and return, CPUs', 'the same, CPUs', '#9a6700', (8, 18)),
    ('call and return, trace arrays', 'call and return, trace arrays', '#8250df', (8, -4)),
    ('entry, trace arrays', 'entry, trace arrays', '#2da44e', (8, 4)),
    ('rename, patterns', 'rename, patterns of names', '#cf222e', (8, 4)),
]

LEFT, RIGHT, TOP, BOTTOM = 70, 760, 40, 320
MOST_X, LEAST_Y, MOST_Y = 5, 2, 5  # powers of ten


def place(count, added):
    """Returns the coordinates of a point."""
    return (LEFT + (RIGHT - LEFT) * math.log10(count) / MOST_X,
            BOTTOM - (BOTTOM - TOP) * (math.log10(added) - LEAST_Y) / (MOST_Y - LEAST_Y))


def grid():
    """Returns the lines and labels of both axes."""
    for power in range(MOST_X + 1):
        x, _ = place(10 ** power, 1)
        yield f'<line class="g" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BOTTOM}"/>\n'
        yield (f'<text x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{10 ** power:,}'
               '</text>\n')
    for power in range(LEAST_Y, MOST_Y + 1):
        _, y = place(1, 10 ** power)
        yield f'<line class="g" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>\n'
        yield (f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10 ** power:,}'
               '</text>\n')


def curves(chart, points):
    """Returns the chart with new curves; `points` is a function from a series to its pairs of
    numbers and costs."""
    parts = [chart.split(FIRST)[0], *grid()]
    for series, label, colour, (right, down) in CURVES:
        places = [place(count, added) for count, added in sorted(points(series))]
        parts.append('<polyline class="c" stroke="{}" points="{}"/>\n'.format(
            colour, ' '.join(f'{x:.1f},{y:.1f}' for x, y in places)))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>\n'
                  for x, y in places]
        x, y = places[-1]
        parts.append(f'<text x="{x + right:.1f}" y="{y + down:.1f}" style="fill: {colour}">'
                     f'{label}</text>\n')
    return ''.join(parts) + '</svg>\n'
