"""SVG by gnuplot, where there is one.

Lines differ by dash and mark, bars by their filling, nothing by colour, and
letters are large: a figure must be readable on paper without colours and on a
phone, where it is half as wide.
"""

import subprocess

from . import servers, setup
from .processes import Failure

DRAW_S = 30

HEAD = r"""set encoding utf8
set terminal svg size 640,{height} noenhanced font "sans-serif,20" \
    background rgb "white"
set output "{name}.svg"
set title "{title}"
set xlabel "{x}" offset 0,{offset:.2f}
set ylabel "{y}" offset 0.5,0
set key outside center bottom horizontal Left reverse samplen 2.5 width 1 \
    maxcols {columns}
set grid lc rgb "#c0c0c0"
set border 3
set tics nomirror
set rmargin 3
set bmargin at screen {bottom:.4f}
"""
MARKS = (7, 6, 5, 4, 9, 8, 11, 10)
DASHES = 5
FILLINGS = ("solid 0.0", "pattern 4", "pattern 5", "pattern 2", "pattern 6",
            "pattern 1", "pattern 7")
GREYS = ("solid 0.55", "solid 0.25", "solid 0.8", "solid 0.1")
OURS = "sprintd"  # is black, whatever stands beside it
# Marks of no size at all make files that librsvg refuses.
WHISKERS = ('using 1:2:3:4 with yerrorbars lc rgb "#808080" lw 1.2 dt 1 '
            'pt 7 ps 0.05')
PLOT_HEIGHT = 370  # pixels, with the title
TEXT = 25          # a line of it
SLOPE = 8          # a letter, of labels that are not level
GAP = 62           # above the key and below it
KEY_ROW = 31
KEY_ROOM = 46      # letters side by side
KEY_SAMPLE = 9     # of them for a sample and the gap


def head(name, title, x, y, names, tic_height):
    """What all figures have. names: of its series, for the key below it."""
    letters = max(map(len, names)) + KEY_SAMPLE
    columns = max(1, min(len(names), KEY_ROOM // letters))
    rows = -(-len(names) // columns)
    below = tic_height + TEXT * bool(x) + rows * KEY_ROW + GAP
    height = PLOT_HEIGHT + below
    return HEAD.format(name=name, title=title, x=x, y=y, columns=columns,
                       height=height, bottom=below / height,
                       offset=0.4 - 1.4 * (tic_height == 2 * TEXT))


def line_style(at):
    """Of the line of that number: black with marks, each another dash."""
    return (f'lc rgb "black" lw 2.5 dt {1 + at % DASHES} '
            f"pt {MARKS[at % len(MARKS)]} ps 1")


def point_style(at, is_reference):
    """Of marks without a line."""
    color = "#707070" if is_reference else "black"
    return f'lc rgb "{color}" lw 2 pt {MARKS[at % len(MARKS)]} ps 1.6'


def reference_style(at):
    """Of what was not measured: grey, no marks."""
    return f'lc rgb "#707070" lw 2.5 dt {2 + at}'


class Fillings:
    """Of bars, each another: ours is black, references are grey."""

    def __init__(self):
        self.greys = iter(GREYS)
        self.patterns = iter(FILLINGS * 2)

    def style(self, name, is_reference):
        if name == OURS:
            filling = "solid 1.0"
        else:
            filling = next(self.greys if is_reference else self.patterns)
        return (f'fs {filling} border lc rgb "black" lc rgb "black"')


def gnuplot():
    """Its path; None, and a note, when it is missing."""
    path = servers.find("gnuplot")
    if not path:
        setup.note("no figures: gnuplot is missing (apt-get install "
                   "gnuplot-nox)")
    return path


def run(program, folder, script):
    """Draws a script's figure into the folder."""
    done = subprocess.run([program, "-"], cwd=folder, input=script, text=True,
                          capture_output=True, timeout=DRAW_S, check=False)
    if done.returncode:
        raise Failure(f"gnuplot: {done.stderr.strip()}")
