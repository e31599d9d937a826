"""The files that are served."""

import contextlib
import itertools
import os
import random
import re
import shutil
import tempfile

KIB = 1024
MIB = 1024 * KIB

SMALL = "1k.bin"  # of one KIB
MANY = 10_000
DRAWS = 100_000
ZIPF_EXPONENT = 1.0
SEED = 20_260_101

PREFIX = "sprintd-bench-"
PLAIN = re.compile(r"[\w/.,:+@~-]+")  # a path
PLACES = ("/var/tmp", "/dev/shm")  # beside the usual one


def make_folder(parent=None):
    """A temporary folder, whose name holds our process id."""
    return tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent)


def ended(name, prefix):
    """Whether it is named prefix, a process id, and something: and the
    process is no more."""
    made = re.fullmatch(rf"{re.escape(prefix)}(\d+)(-.*)?", name)
    return bool(made) and not os.path.exists(f"/proc/{made.group(1)}")


def remove_leftovers():
    """Removes our folders of runs that were killed outright."""
    for parent in {tempfile.gettempdir(), *PLACES}:
        with contextlib.suppress(OSError):
            for name in os.listdir(parent):
                path = os.path.join(parent, name)
                if (ended(name, PREFIX)
                        and os.lstat(path).st_uid == os.geteuid()):
                    shutil.rmtree(path, ignore_errors=True)


def many_name(index):
    """The file of a rank: all names are equally long, as their requests."""
    return f"many/{index:05d}.bin"


class Site:
    """A folder with the files, and lists of paths beside it."""

    def __init__(self, folder):
        self.folder = folder
        self.root = os.path.join(folder, "root")
        os.makedirs(self.root)
        self.random = random.Random(SEED)

    def put(self, name, size):
        """Makes one file of bytes that nothing could compress; a file that is
        there stays."""
        path = os.path.join(self.root, name)
        if os.path.exists(path):
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(self.random.randbytes(size))

    def path(self, name):
        return os.path.join(self.root, name)

    def put_many(self):
        """Makes MANY small files."""
        for index in range(MANY):
            self.put(many_name(index), KIB)

    def draw(self):
        """Writes the paths one load asks for: the file of rank r comes up in
        proportion to 1 / r^ZIPF_EXPONENT. Returns the list's path."""
        weights = itertools.accumulate(
            1 / rank ** ZIPF_EXPONENT for rank in range(1, MANY + 1))
        # Ranks are spread over the names, as popularity is in life.
        names = [many_name(index) for index in range(MANY)]
        self.random.shuffle(names)
        return self._write_list("zipf.txt", self.random.choices(
            names, cum_weights=list(weights), k=DRAWS))

    def repeat(self):
        """The same list, but it is one file all the time: whoever is asked
        for both differs only by the number of files."""
        return self._write_list("one.txt", [many_name(0)] * DRAWS)

    def _write_list(self, name, paths):
        list_path = os.path.join(self.folder, name)
        with open(list_path, "w", encoding="ascii") as file:
            file.writelines(f"/{path}\n" for path in paths)
        return list_path
