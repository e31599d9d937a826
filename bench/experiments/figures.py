"""Figures of results: gnuplot's scripts for them, and the SVG."""

from lab import plot

from . import model

LABELS_LEVEL = 20  # letters of all categories together, side by side


def _inner(text):
    """As it stands within a string of gnuplot's."""
    return (str(text).replace("\\", "/").replace('"', "'")
            .replace("\n", "\\n"))


def _quoted(text):
    return f'"{_inner(text)}"'


def _is_drawable(figure, point):
    return (None not in point[:2] and (not figure.log_x or point[0] > 0)
            and (not figure.log_y or point[1] > 0))


def _lines(figure):
    blocks, curves = [], []
    references = 0
    for at, series in enumerate(figure.series):
        points = [point for point in series.points
                  if _is_drawable(figure, point)]
        if not points:
            continue
        has_spread = all(len(point) == 4 for point in points)
        blocks += [f"$curve{at} << END",
                   *(" ".join(f"{number:.6g}" for number in point)
                     for point in points), "END"]
        if series.is_reference:
            look = f"with lines {plot.reference_style(references)}"
            references += 1
        else:
            kind = "yerrorlines" if has_spread else "linespoints"
            look = f"with {kind} {plot.line_style(at - references)}"
        curves.append(f"$curve{at} {look} title {_quoted(series.name)}")
    return blocks, curves


def _bars(figure):
    """One block: a row for each category, a column for each series."""
    categories = list(dict.fromkeys(
        str(point[0]) for series in figure.series for point in series.points))
    heights = [{str(point[0]): point[1] for point in series.points}
               for series in figure.series]

    def cell(column, category):
        height = column.get(category)
        return "NaN" if height is None or (figure.log_y and height <= 0) \
            else f"{height:.6g}"

    blocks = ["$bars << END",
              *(" ".join([_quoted(category),
                          *(cell(column, category) for column in heights)])
                for category in categories), "END"]
    curves = [f"$bars using {at + 2}{':xtic(1)' if at == 0 else ''} "
              f"{plot.bar_style(at, series.is_reference)} "
              f"title {_quoted(series.name)}"
              for at, series in enumerate(figure.series)]
    is_level = sum(map(len, categories)) <= LABELS_LEVEL
    return ["set style data histograms",
            "set style histogram clustered gap 1",
            "" if is_level else "set xtics rotate by 40 right",
            "" if figure.log_y else "set yrange [0:*]", *blocks], curves


def _settings(figure):
    axes = ("x" * figure.log_x if figure.kind == model.LINES else "") \
        + "y" * figure.log_y
    return f"set logscale {axes}" if axes else ""


def script(name, figure):
    """What gnuplot is told; "" when there is nothing to draw."""
    blocks, curves = (_bars if figure.kind == model.BARS else _lines)(figure)
    if not curves:
        return ""
    head = plot.HEAD.format(name=name, title=_inner(figure.title),
                            x=_inner(figure.x), y=_inner(figure.y),
                            settings=_settings(figure))
    return "\n".join([head, *blocks,
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
