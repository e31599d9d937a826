#!/usr/bin/env python3
"""pages.py - does what the pages of the documentation say.

    pages.py run PAGE          runs its commands; fails where one does
    pages.py check PAGE        its configurations, words and links
    pages.py list PAGE KIND    prints its commands of that kind

Every fenced block of a page says what it is, behind its three backticks:

    sh run          commands, which are run here, one block behind the other,
                    by one shell in a folder, a network and processes of its
                    own; ports are those that the page says
    sh package      commands that `make package-test` runs in a Debian
    sh container    commands that tests/container.sh runs, where it can
    sh make         targets of the Makefile and programs of the source, which
                    have to exist; they take minutes, or are tests themselves
    sh machine      commands that change the machine: only their form is looked
                    at, and the options that they give to sprintd
    text output     lines that the blocks above it have to print; "..." is any
    sprintd         a configuration, which `sprintd -t` has to accept, as it has
                    to accept what stands in a table's last column, if that is
                    headed "sprintd"
    anything else   of other programs, or no command: shown only

A comment `<!-- run: COMMAND -->` is run as well, but not shown.

Environment: SPRINTD, the program. The status is 1 on a finding, 77 when
commands cannot be run on this machine.
"""

import base64
import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SPRINTD = os.path.abspath(os.environ.get("SPRINTD", "build/release/sprintd"))
SHELL = ("run", "package", "container", "make", "machine")
SHOWN = ("apache", "c", "caddy", "ini", "json", "lighttpd", "nginx", "text",
         "yaml")
SECONDS_MAX = 120
README_LINES_MAX = 120
# Options of other programs that pages name by themselves.
FOREIGN_OPTIONS = {"--cap-drop", "--deploy-hook", "--format", "--path-as-is", "--read-only"}
FENCE = re.compile(r"^( *)```+ *([^`\n]*)$")
HIDDEN = re.compile(r"^<!-- run: (.*) -->$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"(?<![\w:./$*])/(?:etc/sprintd|run|srv|var)(?:/[\w.*-]+)+")
# The password "secret", by bcrypt at its cheapest.
MEMBERS = "alice:$2b$04$" + "." * 21 + "e" + "." * 31 + "\n"

# A server that was just started in the background may not listen yet; what
# waits for changes would wait for ever.
PREAMBLE = r"""
set -eu
curl() {
    tries=0
    limit=
    for word; do
        case $word in -N) limit='--max-time 2' ;; esac
    done
    while :; do
        status=0
        command curl -sS --fail-with-body $limit "$@" || status=$?
        case $status in
        7) [ "$tries" -lt 100 ] || return 7 ;;
        28) [ -n "$limit" ]; return ;;
        *) return "$status" ;;
        esac
        tries=$((tries + 1))
        sleep 0.1
    done
}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Block:
    def __init__(self, line, info, text):
        self.line, self.info, self.text = line, info, text


def blocks(path):
    """Of a page, in their order; hidden commands are blocks, too."""
    found, inside, indent = [], None, 0
    for number, line in enumerate(read(path).split("\n"), 1):
        fence = FENCE.match(line)
        if inside is not None:
            if fence and not fence[2]:
                found.append(inside)
                inside = None
            else:
                inside.text += line[indent:] + "\n"
        elif fence:
            inside, indent = Block(number, fence[2].strip(), ""), len(fence[1])
        elif HIDDEN.match(line):
            found.append(Block(number, "sh run", HIDDEN.match(line)[1] + "\n"))
    if inside is not None:
        raise SystemExit(f"{path}:{inside.line}: the block has no end")
    return found


def outside(path):
    """The lines of a page that are in no block."""
    inside = False
    for number, line in enumerate(read(path).split("\n"), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


# --- Commands -----------------------------------------------------------------


def has_namespaces():
    return subprocess.run(
        ["unshare", *namespaces(), "true"], check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def namespaces():
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return [*user, "--net", "--pid", "--fork", "--kill-child"]


def wanted_lines(block):
    return [line.strip() for line in block.text.split("\n")
            if line.strip() and line.strip() != "..."]


def run(path):
    """The commands of a page, and what they have to print."""
    script, checks = PREAMBLE, []
    for block in blocks(path):
        if block.info == "sh run":
            script += f"echo '@ line {block.line}' >&2\n{block.text}"
        elif block.info == "text output":
            script += f"echo '@@{len(checks)}'\n"
            checks.append(block)
    if script == PREAMBLE:
        return []
    for need in ("curl", "ip", "unshare"):
        if not shutil.which(need, path=os.environ["PATH"] + ":/sbin:/usr/sbin"):
            print(f"{need} is missing")
            sys.exit(77)
    if not has_namespaces():
        print("no network of its own can be had here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place:
        printed, status = run_script(script, place)
    sys.stdout.write(printed)
    faults = [f"{path}: the commands end with {status}"] if status else []
    for number, block in enumerate(checks):
        before = printed.split(f"@@{number}\n")[0]
        faults += [f"{path}:{block.line}: is not printed: {line}"
                   for line in wanted_lines(block) if line not in before]
    return faults


def run_script(script, place):
    home = os.path.join(place, "home")
    programs = os.path.join(place, "bin")
    os.mkdir(home)
    os.mkdir(programs)
    os.symlink(SPRINTD, os.path.join(programs, "sprintd"))
    environment = {**os.environ, "HOME": home, "LC_ALL": "C.UTF-8",
                   "PATH": f"{programs}:{os.environ['PATH']}:/usr/sbin:/sbin"}
    with open(os.path.join(place, "said"), "w+", encoding="utf-8",
              errors="replace") as said:
        try:
            status = subprocess.run(
                ["unshare", *namespaces(), "bash", "-c",
                 "ip link set lo up\n" + script],
                cwd=home, env=environment, stdin=subprocess.DEVNULL,
                stdout=said, stderr=said, check=False,
                timeout=SECONDS_MAX).returncode
        except subprocess.TimeoutExpired:
            status = f"nothing after {SECONDS_MAX} seconds"
        said.seek(0)
        return said.read(), status


# --- Configurations, words, links -----------------------------------------------


def known_options():
    said = subprocess.run([SPRINTD, "--help"], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", said))


def config_faults(path, block):
    """What `sprintd -t` says of a configuration whose files are there."""
    with tempfile.TemporaryDirectory() as place:
        for path_here in set(PATH.findall(block.text)) | {"/www"}:
            make_place(place + path_here)
        for name in ("htpasswd", "members", "tokens", "sites/a.conf"):
            make_place(os.path.join(place, name))
        text = PATH.sub(lambda found: place + found[0], block.text)
        file = os.path.join(place, "page.conf")
        with open(file, "w", encoding="utf-8") as conf:
            conf.write(text)
        done = subprocess.run([SPRINTD, "-t", "-c", file], cwd=place,
                              capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    said = (done.stdout + done.stderr).replace(place, "").strip()
    return [f"{path}:{block.line}: sprintd -t ends with {done.returncode}: "
            f"{said}"]


def cell_faults(path):
    """The same of each cell in tables whose last column is headed so."""
    faults, is_ours = [], False
    for number, line in outside(path):
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if not line.startswith("|"):
            is_ours = False
        elif cells[-1] == "sprintd":
            is_ours = True
        elif is_ours:
            spans = re.findall(r"`([^`]+)`", cells[-1])
            if not any(span.startswith(("root ", "proxy ")) for span in spans):
                spans.append("root = /srv/www")
            faults += config_faults(path, Block(number, "sprintd",
                                                "\n".join(spans) + "\n"))
    return faults


@functools.cache
def certificate():
    """A certificate and its key, in PEM."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=page",
             "-days", "90", "-keyout", "key", "-out", "certificate"],
            cwd=folder, check=True, capture_output=True)
        return (read(os.path.join(folder, "certificate")) +
                read(os.path.join(folder, "key")))


def make_place(name):
    """A file where the name is one's, else a folder."""
    base = os.path.basename(name)
    if "*" in base:
        os.makedirs(os.path.dirname(name), exist_ok=True)
    elif base in ("htpasswd", "members") or base.startswith("tokens"):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write("a" * 40 + "\n" if base.startswith("tokens")
                       else MEMBERS)
    elif "." in base:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        if base.endswith(".conf"):
            open(name, "x", encoding="utf-8").close()
        elif base.endswith(".pem"):
            with open(name, "w", encoding="utf-8") as file:
                file.write(certificate())
        elif base.endswith(".keys"):
            with open(name, "w", encoding="utf-8") as file:
                file.write(base64.b64encode(os.urandom(80)).decode() + "\n")
            os.chmod(name, 0o640)
    else:
        os.makedirs(name, exist_ok=True)


def make_faults(text):
    """Targets and files of the source that are not there."""
    targets = set(re.findall(r"^([a-z][\w-]*):", read(
        os.path.join(TOP, "Makefile")), re.MULTILINE))
    faults = []
    for line in text.split("\n"):
        words = shlex.split(line, comments=True)
        if words and words[0] == "make":
            faults += [f"make has no target {word}" for word in words[1:]
                       if "=" not in word and word not in targets]
        elif len(words) > 1 and words[0] in ("python3", "sh"):
            if not os.path.exists(os.path.join(TOP, words[1])):
                faults.append(f"there is no {words[1]}")
    return faults


def shell_faults(block, options):
    kind = block.info.partition(" ")[2]
    if kind not in SHELL:
        return [f"'sh {kind}' is none of: " + ", ".join(SHELL)]
    faults = []
    done = subprocess.run(["bash", "-n"], input=block.text, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        faults.append(done.stderr.strip())
    if kind == "make":
        faults += make_faults(block.text)
    for command in re.findall(r"\bsprintd (--?[^\n|&;]*)",
                              block.text.replace("\\\n", " ")):
        faults += [f"sprintd has no {word}" for word in re.findall(
            r"(?<![\w-])--[a-z][a-z-]+", command) if word not in options]
    return faults


def block_faults(path):
    options, faults = known_options(), []
    for block in blocks(path):
        language = block.info.partition(" ")[0]
        if language == "sprintd":
            faults += config_faults(path, block)
        elif language == "sh":
            faults += [f"{path}:{block.line}: {fault}"
                       for fault in shell_faults(block, options)]
        elif language not in SHOWN:
            faults.append(f"{path}:{block.line}: '{block.info}' does not say "
                          "what the block is; see tests/e2e/pages.py")
    for number, line in outside(path):
        faults += [f"{path}:{number}: there is no option {word}"
                   for word in re.findall(r"`(--[a-z][a-z-]+)", line)
                   if word not in options | FOREIGN_OPTIONS]
        if re.match(r" {4,}(make|curl|sprintd|sudo|apt) ", line):
            faults.append(f"{path}:{number}: a command in no block")
    return faults


def source_faults(path):
    """Files of the source that a page names, and that are not there."""
    faults = []
    for number, line in outside(path):
        for name in re.findall(r"`([\w./-]+)`", line):
            if re.match(r"(bench|docs|include|packaging|src|tests)/", name):
                file = name
            elif re.fullmatch(r"[a-z]+/\w+\.h", name):
                file = os.path.join("include", name)
            else:
                continue
            if "ROOM" not in file and not os.path.exists(file):
                faults.append(f"{path}:{number}: the source has no {name}")
    return faults


def slugs(path):
    """The anchors of a page's headings."""
    found = set()
    for _number, line in outside(path):
        if line.startswith("#"):
            words = re.sub(r"[`*]|\[|\]\([^)]*\)|\]", "",
                           line.lstrip("#").strip().lower())
            found.add(re.sub(r"[^\w -]", "", words).replace(" ", "-"))
    return found


def link_faults(path):
    faults = []
    for number, line in outside(path):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), name)
                                    ) if name else path
            if not os.path.exists(file):
                faults.append(f"{path}:{number}: leads to no file: {target}")
            elif anchor and file.endswith(".md") and anchor not in slugs(file):
                faults.append(f"{path}:{number}: leads to no heading: "
                              f"{target}")
    return faults


def check(path):
    faults = block_faults(path) + cell_faults(path) + link_faults(path)
    faults += source_faults(path)
    lines = read(path).count("\n")
    if path == "README.md":
        faults += [f"README.md does not lead to docs/{name}"
                   for name in sorted(os.listdir("docs"))
                   if name.endswith(".md") and f"(docs/{name}" not in read(path)]
        if lines > README_LINES_MAX:
            faults.append(f"README.md has {lines} lines, more than "
                          f"{README_LINES_MAX}")
    return faults


def main():
    if sys.argv[1:2] == ["list"] and len(sys.argv) == 4:
        sys.stdout.writelines(block.text for block in blocks(sys.argv[2])
                              if block.info == f"sh {sys.argv[3]}")
        return 0
    if len(sys.argv) != 3 or sys.argv[1] not in ("run", "check"):
        print(__doc__)
        return 64
    os.chdir(TOP)
    faults = (run if sys.argv[1] == "run" else check)(sys.argv[2])
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
