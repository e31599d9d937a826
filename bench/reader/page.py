"""A page of 70 files and 1.9 MB, as pages are: a document, what blocks it
(style sheets, scripts), one large picture that everybody looks at, and many
that are less. Nothing of it can be compressed."""

import os
import random
import struct
import zlib

KB = 1000
SEED = 70
STYLES = (62, 38, 14)
DEFERRED = (148, 96, 60, 35)     # scripts of the head
LAST = (82, 44, 28, 18, 9, 6)    # those at the end of the body
HERO = 200
PICTURES = 55
PICTURES_SUM = 1030
DOWNLOAD = "download.bin"
DOWNLOAD_BYTES = 20_000_000
TINY = "tiny.html"
# What another reader asks for: a short page, its head first.
VISIT = ("visit.html", *(f"visit{number}.bin" for number in range(11)))
VISIT_SIZES = (12, 30, 4, 4, 6, 8, 8, 10, 12, 16, 18, 22)
VISIT_BYTES = KB * sum(VISIT_SIZES)


def _chunk(kind, data):
    body = kind + data
    return (struct.pack(">I", len(data)) + body
            + struct.pack(">I", zlib.crc32(body)))


def _picture(draw, size):
    """A PNG of about so many bytes: noise, stored as it is."""
    width = max(4, int((size / 3) ** 0.5))
    height = max(1, size // (3 * width + 1))
    lines = b"".join(b"\0" + draw.randbytes(3 * width)
                     for _line in range(height))
    return (b"\x89PNG\r\n\x1a\n"
            + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0,
                                          0, 0))
            + _chunk(b"IDAT", zlib.compress(lines, 0)) + _chunk(b"IEND", b""))


def _noise(draw, size):
    """A comment of style sheets and scripts."""
    return b"/*" + draw.randbytes(size).replace(b"*", b"+") + b"*/\n"


def _sizes(draw):
    """Of the pictures: few are large."""
    weights = [draw.paretovariate(1.6) for _picture_of in range(PICTURES)]
    return [max(900, int(PICTURES_SUM * KB * weight / sum(weights)))
            for weight in weights]


def _document(scripts):
    words = " ".join(["A page is read from its top while the rest is on its "
                      "way."] * 6)
    head = "".join(f'<link rel="stylesheet" href="style{number}.css">\n'
                   for number in range(len(STYLES)))
    head += "".join(f'<script defer src="deferred{number}.js"></script>\n'
                    for number in range(len(DEFERRED)))
    body = '<h1>A page</h1>\n<img class="hero" src="hero.png" alt="">\n'
    body += "".join(f'<p>{words}</p>\n<img class="picture" '
                    f'src="picture{number}.png" alt="">\n'
                    for number in range(PICTURES))
    body += "".join(f'<script src="last{number}.js"></script>\n'
                    for number in range(len(LAST)))
    return ("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            f"<title>A page</title>\n{head}</head>\n<body>\n{body}"
            f"<!-- {scripts} -->\n</body></html>\n").encode()


def make(folder):
    """Makes all files; how many the page has, and how many bytes."""
    draw = random.Random(SEED)
    styles = (b".hero{display:block;width:960px;height:480px}\n"
              b".picture{width:96px;height:72px}p{font:16px sans-serif}\n")
    script = b"window.scripts=(window.scripts||0)+1;\n"
    files = {"index.html": _document(len(DEFERRED) + len(LAST)),
             "hero.png": _picture(draw, HERO * KB)}
    for number, size in enumerate(STYLES):
        files[f"style{number}.css"] = styles + _noise(draw, size * KB)
    for name, sizes in (("deferred", DEFERRED), ("last", LAST)):
        for number, size in enumerate(sizes):
            files[f"{name}{number}.js"] = script + _noise(draw, size * KB)
    for number, size in enumerate(_sizes(draw)):
        files[f"picture{number}.png"] = _picture(draw, size)
    count, total = len(files), sum(map(len, files.values()))
    files["favicon.ico"] = b""
    files[TINY] = b"<!doctype html><link rel=icon href=data:,><p>tiny\n"
    files[DOWNLOAD] = draw.randbytes(DOWNLOAD_BYTES)
    for name, size in zip(VISIT, VISIT_SIZES):
        files[name] = draw.randbytes(size * KB)
    os.makedirs(folder)
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    return count, total
