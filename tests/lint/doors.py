#!/usr/bin/env python3
"""doors.py - refuses an #include that goes through a wrong door.

The house has floors, and rooms on them. A file includes headers of its own
room and of rooms on lower floors: never upward, and never of another room on
its own floor. A room may have folders, which share its floor. Inside a room the
files stand in a straight line: neither the headers a file leads to nor the
functions it calls make a circle, whatever header declares them. A library's
header enters only where it is at home.

usage: doors.py [FOLDER]    the project's folder, default the present one
"""
import pathlib
import re
import sys

FLOORS = {
    "base": 0,
    "codec": 1,
    "http": 1,
    "io": 1,
    "observe": 1,
    "auth": 2,
    "cache": 2,
    "files": 2,
    "kv": 2,
    "upstream": 2,
    "handler": 3,
    "engine": 4,
    "confine": 5,
    "config": 6,
    "acme": 7,
    "process": 7,
    "tools": 8,
}

# The main functions of programs stand above all floors.
MAINS = ("src/main.c", "src/acme_main.c")

# A library's header, or the folder of its headers, and the files, as room/name
# without suffix, that may know it. One knower is the aim; more are a decision.
LIBRARIES = {
    "ares.h": r"io/resolver_ares",
    "brotli/encode.h": r"codec/codec_brotli(_stream)?",
    "crypt.h": r"auth/htpasswd",
    "curl/": r"acme/acme_http",
    "ev.h": r"(io|engine|process|tools)/\w+|upstream/\w+|kv/redis/kv_redis_connection\w*",
    "hiredis/hiredis.h": r"kv/redis/kv_redis_reply",
    "hiredis/async.h": r"kv/redis/kv_redis_(greet|guard|wire|connection_tls)",
    "hiredis/adapters/libev.h": r"kv/redis/kv_redis_connection",
    "http_parser.h": r"http/http1/\w+",
    "libdeflate.h": r"codec/codec_gzip",
    "lmdb.h": r"kv/(lmdb/)?kv_\w+",
    "openssl/": r"io/tls/\w+|http/websocket|io/sha256|acme/acme_(key|x509)",
    "seccomp.h": r"confine/(seccomp_filter|outgoing_filter)",
    "zlib.h": r"codec/codec_gzip_stream",
    "zstd.h": r"codec/codec_zstd(_stream)?",
    "zstd_errors.h": r"codec/codec_zstd",
}
# Of those, the ones that headers may include too.
IN_HEADERS = {"ev.h"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)',
                     re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A function that other files may call: begins its line, as clang-format has it.
DEFINITION = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w \*\n]*?"
                        r"\b(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
PROTOTYPE = re.compile(r"^[A-Za-z_][\w \*\n]*?\b\w+\([^;{}]*\);",
                       re.MULTILINE)
WORD = re.compile(r"\b[A-Za-z_]\w+\b")


def without_comments(text):
    """The text with comments blanked, lines kept."""
    return COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def read_includes(path):
    """(line, quoted name or None, bracketed name or None) of each include."""
    text = without_comments(path.read_text(encoding="utf-8"))
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1 if match[1] else 2)) + 1
        yield line, match[1], match[2]


def judge_project(room, name):
    """Why a file of room may not include "name"; None when it may."""
    other, _, rest = name.partition("/")
    if not rest or other not in FLOORS:
        return f'"{name}" names no room; write "room/header.h"'
    if other == room or FLOORS[other] < FLOORS[room]:
        return None
    if FLOORS[other] > FLOORS[room]:
        return f"{room} is below {other}: word travels up by a function pointer"
    return f"{room} and {other} are strangers on floor {FLOORS[room]}"


def judge_library(path, home, name):
    """Why the file home ("room/stem") may not include <name>."""
    if name.split("/")[0] in FLOORS:
        return f'<{name}> is ours; write "{name}"'
    allowed = LIBRARIES.get(name) or LIBRARIES.get(name.split("/")[0] + "/")
    if allowed is None:
        return None
    if not re.fullmatch(allowed, home):
        return f"<{name}> is at home in {allowed} only"
    if path.suffix == ".h" and name not in IN_HEADERS:
        return f"<{name}> stays out of headers"
    return None


def read_calls(path):
    """(functions a file defines for others, words it uses)."""
    text = STRING.sub('""', without_comments(path.read_text(encoding="utf-8")))
    defined = set(DEFINITION.findall(text)) if path.suffix == ".c" else set()
    return defined, set(WORD.findall(PROTOTYPE.sub("", text)))


def find_callers(files):
    """module -> modules whose functions it uses, of the files of one room."""
    home, used = {}, {}
    for module, path in files:
        defined, words = read_calls(path)
        home.update(dict.fromkeys(defined, module))
        used.setdefault(module, set()).update(words)
    return {module: {home[word] for word in words & home.keys()} - {module}
            for module, words in used.items()}


def find_circle(edges):
    """A list of names that lead back to the first; empty when there is none."""
    done = set()

    def walk(name, way):
        if name in way:
            return way[way.index(name):] + [name]
        if name in done:
            return []
        for other in sorted(edges.get(name, ())):
            circle = walk(other, way + [name])
            if circle:
                return circle
        done.add(name)
        return []

    for name in sorted(edges):
        circle = walk(name, [])
        if circle:
            return circle
    return []


def check(root):
    """Prints each wrong door; returns how many."""
    wrong = 0
    # room -> header -> headers of the same room it includes. What a source
    # needs shows in whom it calls.
    inside = {}
    files = {}

    for path in sorted([*root.glob("include/**/*.[ch]"),
                        *root.glob("src/**/*.[ch]")]):
        parts = path.relative_to(root).parts
        where = "/".join(parts)
        if where in MAINS:
            continue  # the door of the house: it may lead anywhere
        if len(parts) not in (3, 4) or parts[1] not in FLOORS:
            print(f"{where}: lies in no room ({' '.join(FLOORS)})")
            wrong += 1
            continue
        room = parts[1]
        home = "/".join(parts[1:-1] + (path.stem,))
        files.setdefault(room, []).append((home, path))
        for line, ours, library in read_includes(path):
            if ours:
                why = judge_project(room, ours)
            else:
                why = judge_library(path, home, library)
            if why:
                print(f"{where}:{line}: {why}")
                wrong += 1
            if ours and ours.startswith(room + "/") and path.suffix == ".h":
                needs = inside.setdefault(room, {}).setdefault(home, set())
                other = ours.removesuffix(".h")
                if other != home:
                    needs.add(other)

    for room in sorted(files):
        for kind, edges in (("includes", inside.get(room, {})),
                            ("calls", find_callers(files[room]))):
            circle = find_circle(edges)
            if circle:
                print(f"{room}: a circle of {kind}: {' -> '.join(circle)}")
                wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(1 if check(pathlib.Path(*sys.argv[1:2] or ["."])) else 0)
