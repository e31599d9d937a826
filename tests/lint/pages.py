#!/usr/bin/env python3
"""pages.py - refuses pages that some people cannot read or reach.

Of every page: its language, a viewport, a title and a <main>; what scrolls by
itself takes the keyboard's focus. Of every style: text stands out from what is
behind it (WCAG 2.1, 1.4.3: a ratio of 4.5), by day and by night.

Colours are the custom properties of :root; text is what has `color: var(--x)`,
but for <i>, of which our pages make marks. The status is 1 on a finding.
"""

import glob
import re
import sys

RATIO_MIN = 4.5
BEHIND = ("paper", "card", "raised", "code")
PAGE_HAS = ('<html lang="', '<meta name="viewport"', "<title>", "<main")
SCROLLS = re.compile(r'<pre\b[^>]*>|<div class="(?:scroll|wide)"[^>]*>')
VARIABLE = re.compile(r"--(\w[\w-]*):\s*(#[0-9a-f]{6})\b")
RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
TEXT = re.compile(r"(?:^|[;{\s])color:\s*var\(--([\w-]+)\)")


def luminance(color):
    parts = (int(color[at:at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else
              ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(share * part
               for share, part in zip((0.2126, 0.7152, 0.0722), linear))


def ratio(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def schemes(css):
    """The colours by day, and those by night: the second :root."""
    day, night = [dict(VARIABLE.findall(body))
                  for body in re.findall(r":root\s*\{([^}]*)\}", css)]
    return {"day": day, "night": {**day, **night}}


def text_colors(css):
    return {name for selectors, body in RULE.findall(css)
            if not selectors.strip().endswith(" i")
            for name in TEXT.findall(body)}


def faint(css, colors):
    """What cannot be read. colors: the style that gives them."""
    return [f"--{name} on --{behind} by {scheme}: contrast {found:.2f}"
            for scheme, known in schemes(colors).items()
            for name in sorted(text_colors(css))
            for behind in BEHIND if behind in known
            for found in [ratio(known[name], known[behind])]
            if found < RATIO_MIN]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def page_faults(html):
    return [f"has no {what}" for what in PAGE_HAS if what not in html] + [
        f"cannot be focused: {tag}" for tag in SCROLLS.findall(html)
        if 'tabindex="0"' not in tag]


def strings(path):
    """What the C strings of a source say, one behind the other."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', read(path))) \
        .replace("\\n", "\n").replace('\\"', '"')


def main():
    site = read("www/style.css")
    listing = strings("src/handler/listing_page.c")
    status = read("src/handler/status/status_page/style.css")
    found = {path: page_faults(read(path)) for path in (
        *glob.glob("www/**/*.html", recursive=True), "packaging/welcome.html",
        "src/handler/status/status_page/page.html")}
    found |= {
        "src/http/error_page.c": page_faults(strings("src/http/error_page.c")),
        "src/handler/listing_page.c": [*page_faults(listing),
                                       *faint(listing, listing)],
        "www/style.css": faint(site, site),
        "www/kv.css": faint(read("www/kv.css"), site),
        "src/handler/status/status_page/style.css": faint(status, status)}
    for path, faults in found.items():
        for fault in faults:
            print(f"{path}: {fault}")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
