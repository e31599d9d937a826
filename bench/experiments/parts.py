"""What is measured of an experiment that was broken off: its parts, so that
the next run goes on behind the last one that was whole.

    FOLDER/NAME.pickle   what one part returned, and its command lines

A part counts only for who would measure the same: the mark of a results.Run.
"""

import os
import pickle
import shutil
import time


class Parts:
    """Of one experiment. seconds: that those took which are not measured
    again."""

    def __init__(self, folder, mark):
        self.folder = folder
        self.mark = mark
        self.seconds = 0.0

    def _path(self, name):
        return os.path.join(self.folder, f"{name}.pickle")

    def _load(self, name):
        try:
            with open(self._path(name), "rb") as file:
                found = pickle.load(file)
            return found if found["mark"] == self.mark else None
        # Whatever is no such file, or one that was cut off.
        except (OSError, EOFError, ValueError, LookupError, TypeError,
                AttributeError, ImportError, pickle.PickleError):
            return None

    def take(self, name, measure, commands):
        """What measure() returns, now or before; and the command lines of
        before, [] of now. commands: a function that lists all so far."""
        found = self._load(name)
        if found:
            self.seconds += found["seconds"]
            return found["value"], found["commands"]
        begin, known = time.monotonic(), len(commands())
        value = measure()
        os.makedirs(self.folder, exist_ok=True)
        with open(f"{self._path(name)}.new", "wb") as file:
            pickle.dump({"mark": self.mark, "value": value,
                         "seconds": time.monotonic() - begin,
                         "commands": commands()[known:]}, file)
        os.replace(f"{self._path(name)}.new", self._path(name))
        return value, []

    def end(self):
        """The experiment is whole."""
        shutil.rmtree(self.folder, ignore_errors=True)
