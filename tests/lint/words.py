#!/usr/bin/env python3
"""words.py - refuses two structs of one name, words that were retired, and
names of files that are not there.

One word stands for one idea (docs/glossary.md). A word that was given up for
the field's own may not come back as a part of a name; comments may use it as
plain English. The glossary itself stays short enough to be read. A file that a
page or a comment sends its reader to has to be where it says.

usage: words.py [FOLDER]    the project's folder, default the present one
"""
import pathlib
import re
import sys

# word that was given up -> the one that stands in its place
RETIRED = {
    "crew": "worker_pool",
    "desk": "client (of a store)",
    "desks": "clients (of a store)",
    "fence": "landlock_domain",
    "figure": "human_number",
    "figures": "numbers",
    "furnish": "init",
    "hasty": "rto_max",
    "hurry": "end_soon",
    "introduction": "proxy_preamble",
    "keeper": "on_done",
    "knock": "backlog_retry",
    "knocking": "backlog_retry",
    "knocks": "backlog retries",
    "lane": "ring",
    "lanes": "rings",
    "lends": "borrowed",
    "lent": "borrowed",
    "nearest": "suggest",
    "pace": "pacer",
    "race": "connect (happy eyeballs)",
    "races": "connects (happy eyeballs)",
    "reach": "allowed_paths",
    "slice": "quantum, or piece",
    "spent": "is_empty, or drained of the server",
    "wish": "shutdown_mode",
}
# Names that a retired word is a rightful part of.
KEPT = re.compile(r"out_of_reach|is_in_reach")
# Names, and beginnings of names, that were given up as wholes.
RETIRED_NAMES = {
    "call_filter": "seccomp_filter",
    "is_special": "needs_own_head",
    "link_local": "link_queue_limit",
    "link_pace": "link_pacer",
    "link_remote": "link_delay_window",
    "listen_place": "listen_address",
    "log_lane": "log_ring",
    "path_fence": "landlock_domain",
    "stats_note_drain": "stats_note_unsent",
    "upstream_ask": "upstream_lease",
    "upstream_place": "endpoint",
}
GLOSSARY_MAX = 60

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
NAME = re.compile(r"\b[A-Za-z_]\w*\b")
PATH = re.compile(r"(?<![\w/.-])((?:(?:src|include|tests)/)?(?:acme|auth|base|cache|"
                  r"codec|config|confine|engine|files|handler|http|io|kv|lint|"
                  r"observe|process|tools|upstream)(?:/\w+)+\.[ch])\b")
HOMES = ("", "include", "src", "tests")
STRUCT = re.compile(r"^struct (\w+) \{", re.MULTILINE)


def code_of(path):
    """The text without comments and strings, lines kept."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return STRING.sub(blank, COMMENT.sub(blank, path.read_text("utf-8")))


def check_names(where, code):
    """Prints each name that was retired, or has such a word; how many."""
    wrong = 0
    for match in NAME.finditer(code):
        if KEPT.search(match.group()):
            continue
        name = match.group().lower()
        given_up = {word: RETIRED[word] for word in name.split("_")
                    if word in RETIRED}
        given_up |= {whole: better for whole, better in RETIRED_NAMES.items()
                     if f"{name}_".startswith(f"{whole}_")}
        for word, better in given_up.items():
            line = code.count("\n", 0, match.start()) + 1
            print(f"{where}:{line}: {match.group()}: '{word}' was given up "
                  f"for {better}")
            wrong += 1
    return wrong


def check_glossary(root):
    """The same of the glossary's length."""
    rows = re.findall(r"^\| \*\*", (root / "docs/glossary.md").read_text("utf-8"),
                      re.MULTILINE)
    if 0 < len(rows) <= GLOSSARY_MAX:
        return 0
    print(f"docs/glossary.md: {len(rows)} words, of 1 to {GLOSSARY_MAX}")
    return 1


def check_paths(root, path, text):
    """The same of the files that a page or a comment names by their room."""
    wrong = 0
    for name in sorted(set(PATH.findall(text))):
        if not any((root / folder / name).exists() for folder in HOMES):
            print(f"{path.relative_to(root)}: there is no {name}")
            wrong += 1
    return wrong


def check(root):
    """Prints what is wrong; returns how much."""
    wrong = check_glossary(root)
    for path in [root / "README.md", *sorted(root.glob("docs/*.md"))]:
        wrong += check_paths(root, path, path.read_text("utf-8"))
    homes = {}
    for path in sorted([*root.glob("include/**/*.[ch]"),
                        *root.glob("src/**/*.[ch]")]):
        where = path.relative_to(root).as_posix()
        code = code_of(path)
        wrong += check_paths(root, path, path.read_text("utf-8"))
        wrong += check_names(where, code)
        for name in STRUCT.findall(code):
            if name in homes:
                print(f"{where}: struct {name} is defined in {homes[name]} too")
                wrong += 1
            homes[name] = where
    return wrong


if __name__ == "__main__":
    sys.exit(1 if check(pathlib.Path(*sys.argv[1:2] or ["."])) else 0)
