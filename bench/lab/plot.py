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
set terminal svg size 640,600 noenhanced font "sans-serif,20" \
    background rgb "white"
set output "{name}.svg"
set title "{title}"
set xlabel "{x}" offset 0,0.8
set ylabel "{y}" offset 0.5,0
set key outside center bottom horizontal Left reverse samplen 2.5 width 1
set grid lc rgb "#c0c0c0"
set border 3
set tics nomirror
set rmargin 3
{settings}
"""
MARKS = (7, 6, 5, 4, 9, 8, 11, 10)
DASHES = 5
FILLINGS = ("solid 1.0", "solid 0.0", "pattern 4", "solid 0.45", "pattern 2",
            "pattern 1", "solid 0.2", "pattern 7")


def line_style(at):
    """Of the line of that number: black with marks, each another dash."""
    return (f'lc rgb "black" lw 2.5 dt {1 + at % DASHES} '
            f"pt {MARKS[at % len(MARKS)]} ps 1")


def reference_style(at):
    """Of what was not measured: grey, no marks."""
    return f'lc rgb "#707070" lw 2.5 dt {2 + at}'


def bar_style(at, is_reference):
    colour = "#909090" if is_reference else "black"
    return (f'fs {FILLINGS[at % len(FILLINGS)]} border lc rgb "black" '
            f'lc rgb "{colour}"')


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
