"""Figures of results: gnuplot's scripts for them, and the SVG."""

import math
import textwrap

from lab import plot

from . import model

LABELS_LEVEL = 47  # letters side by side below the axis
BARS_WIDTH = 0.8   # of a category's, all of its bars
TIC_GAP = 0.095    # of an axis, from a label to the next
TICS_MAX = 9


def _inner(text):
    """As it stands within a string of gnuplot's."""
    return (str(text).replace("\\", "/").replace('"', "'")
            .replace("\n", "\\n"))


def _quoted(text):
    return f'"{_inner(text)}"'


def _is_drawable(figure, point):
    return (None not in point[:2] and (not figure.log_x or point[0] > 0)
            and (not figure.log_y or point[1] > 0))


def _short(number):
    """12k for 12000: of a tick."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= 10 * size or (number >= size and letter == "M"):
            return f"{number / size:.3g}{letter}"
    return f"{number:.4g}"


def _size(kib):
    """Of a file or a chunk, in a unit of its own."""
    for size, letter in ((1024 ** 2, "G"), (1024, "M")):
        if kib >= size:
            return f"{kib / size:.3g}{letter}"
    return f"{kib:.3g}K"


def _tics(axis, labels):
    return f"set {axis}tics (" + ", ".join(
        f"{_quoted(text)} {number:.6g}" for number, text in labels) + ")"


def _spaced(numbers, is_log):
    """Those of them that leave room for each other's labels: the first and
    the last are among them."""
    places = {number: math.log(number) if is_log else number
              for number in numbers}
    first, last = numbers[0], numbers[-1]
    gap = TIC_GAP * (places[last] - places[first])
    kept = [first]
    for number in numbers[1:-1]:
        if (places[number] - places[kept[-1]] >= gap
                and places[last] - places[number] >= gap):
            kept.append(number)
    return kept + [last] * (last != first)


def _x_axis(figure, curves):
    """Ticks where something was measured."""
    numbers = sorted({point[0] for points in curves for point in points})
    name = _size if figure.x.endswith(", KiB") else _short
    first, last = numbers[0], numbers[-1]
    if first == last:
        first, last = ((first / 2, last * 2) if figure.log_x else
                       (first - 1, last + 1))
    return [_tics("x", [(number, name(number)) for number in
                        _spaced(numbers, figure.log_x)]),
            f"set xrange [{first:.6g}:{last:.6g}]"]


def _log_axis(numbers):
    """From the 1, 2 or 5 below all of them to the one above."""
    steps = [step * 10.0 ** power for power in range(-9, 13)
             for step in (1, 2, 5)]
    least = max(step for step in steps if step <= min(numbers) * 1.001)
    most = min(step for step in steps
               if step >= max(numbers) * 0.999 and step > least)
    shown = [step for step in steps if least <= step <= most]
    if len(shown) > TICS_MAX:
        shown = [step for step in shown
                 if f"{step:e}".startswith("1.0")]
    return [_tics("y", [(step, _short(step)) for step in shown]),
            f"set yrange [{least * 0.999:.6g}:{most * 1.001:.6g}]"]


def _y_axis(figure, numbers):
    if figure.log_y:
        return _log_axis(numbers)
    lines = []
    if figure.kind == model.BARS or min(numbers) < max(numbers) / 2:
        lines.append("set yrange [0:*]")
    if max(numbers) >= 10000:
        lines.append('set format y "%.0s%c"')
    return lines


def _lines(figure):
    blocks, whiskers, curves, all_points = [], [], [], []
    references = 0
    for at, series in enumerate(figure.series):
        points = [point for point in series.points
                  if _is_drawable(figure, point)]
        if not points:
            continue
        all_points.append(points)
        blocks += [f"$curve{at} << END",
                   *(" ".join(f"{number:.6g}" for number in point)
                     for point in points), "END"]
        if series.is_reference:
            look = f"with lines {plot.reference_style(references)}"
            references += 1
        else:
            look = f"with linespoints {plot.line_style(at - references)}"
            if all(len(point) == 4 for point in points):
                whiskers.append(f"$curve{at} {plot.WHISKERS} notitle")
        curves.append(f"$curve{at} using 1:2 {look} "
                      f"title {_quoted(series.name)}")
    if not curves:
        return [], []
    heights = [number for points in all_points for point in points
               for number in point[1:] if number > 0 or not figure.log_y]
    return [*_x_axis(figure, all_points), *_y_axis(figure, heights),
            *blocks], whiskers + curves


def _labels(categories):
    """Of all categories, and whether they fit side by side, on two lines."""
    room = LABELS_LEVEL // len(categories)
    texts = ["\n".join(textwrap.wrap(name, room, break_long_words=False))
             for name in categories]
    fits = all(len(line) <= room for text in texts
               for line in text.split("\n"))
    return (texts if fits else categories), fits


def _tic_height(figure):
    """Pixels that what stands below the axis takes."""
    if figure.kind != model.BARS:
        return plot.TEXT
    categories = list(dict.fromkeys(str(point[0]) for series in figure.series
                                    for point in series.points))
    texts, fits = _labels(categories)
    if fits:
        return plot.TEXT * (1 + any("\n" in text for text in texts))
    return plot.TEXT + plot.SLOPE * max(map(len, texts))


def _bars(figure):
    """Boxes side by side in the middle of their category: those there are."""
    categories = list(dict.fromkeys(
        str(point[0]) for series in figure.series for point in series.points))
    if not categories:
        return [], []
    there = {name: [at for at, series in enumerate(figure.series)
                    if any(str(point[0]) == name and point[1] is not None
                           for point in series.points)]
             for name in categories}
    width = BARS_WIDTH / max(1, *map(len, there.values()))
    blocks, curves, heights = [], [], []
    fillings = plot.Fillings()
    for at, series in enumerate(figure.series):
        points = [point for point in series.points
                  if point[1] is not None
                  and (not figure.log_y or point[1] > 0)]
        # The length of a bar says nothing where there is no zero.
        look = (f"with points {plot.point_style(at, series.is_reference)}"
                if figure.log_y else
                "with boxes "
                + fillings.style(series.name, series.is_reference))
        if not points:
            continue
        blocks.append(f"$bars{at} << END")
        for point in points:
            beside = there[str(point[0])]
            place = categories.index(str(point[0])) + width * (
                beside.index(at) - (len(beside) - 1) / 2)
            blocks.append(f"{place:.4f} {point[1]:.6g}")
            heights.append(point[1])
        blocks.append("END")
        curves.append(f"$bars{at} {look} "
                      f"title {_quoted(series.name)}")
    if not curves:
        return [], []
    texts, fits = _labels(categories)
    return [f"set boxwidth {width:.4f}", _tics("x", enumerate(texts)),
            "" if fits else "set xtics rotate by 40 right",
            "set xtics scale 0",
            f"set xrange [-0.6:{len(categories) - 0.4:.1f}]",
            *_y_axis(figure, heights), *blocks], curves


def script(name, figure):
    """What gnuplot is told; "" when there is nothing to draw."""
    blocks, curves = (_bars if figure.kind == model.BARS else _lines)(figure)
    if not curves:
        return ""
    axes = "x" * (figure.log_x and figure.kind == model.LINES) \
        + "y" * figure.log_y
    x = figure.x.replace(", KiB", ", bytes")
    head = plot.head(name, _inner(figure.title), _inner(x), _inner(figure.y),
                     [series.name for series in figure.series],
                     _tic_height(figure))
    return "\n".join([head, f"set logscale {axes}" if axes else "", *blocks,
                      "plot " + ", \\\n     ".join(curves)]) + "\n"


def name_of(experiment_name, figure):
    """Of the file, without .svg."""
    return f"{experiment_name}-{figure.name}"


def draw(folder, experiment_name, result):
    """Draws all figures of a result into the folder."""
    program = plot.gnuplot() if result.figures else None
    for figure in result.figures if program else ():
        text = script(name_of(experiment_name, figure), figure)
        if text:
            plot.run(program, folder, text)
