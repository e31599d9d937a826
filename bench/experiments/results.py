"""Results in files, and how far a run of all experiments has come.

    FOLDER/NAME.json         all there is: what the report is made of
    FOLDER/NAME.csv          the tables: a line for each of their cells
    FOLDER/NAME-FIGURE.svg   the figures

A run that is broken off goes on where it was: a file lab.json knows what is
done, as long as nothing that is measured has changed.
"""

import csv
import glob
import hashlib
import json
import os
import re

from lab import servers

from . import figures, model

PORT = re.compile(rf"({re.escape(servers.HOST)}:|--port[ =])\d+")
SPACED_PORT = re.compile(rf"({re.escape(servers.HOST)}) \d+")
OTHER_FOLDER = re.compile(r"/\S*/sprintd-bench-\w+")
FOLDER_PORT = re.compile(r"(\$LAB/[a-z0-9 ,]+)-\d+-\w+")


def _write(path, text):
    """All of it or nothing."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


def _write_csv(path, result):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["table", "row", "column", "value"])
        for table in result.tables:
            for row in table.rows:
                out.writerows([table.title, row[0], column, cell]
                              for column, cell in zip(table.columns[1:],
                                                      row[1:]))


def tell_commands(commands, folder):
    """Command lines that mean the same anywhere: each once, without this
    machine's folders and ports."""
    told = {}
    for argv in commands:
        line = " ".join(map(str, argv))
        line = line.replace(folder, "$LAB").replace(servers.TOP + "/", "")
        line = OTHER_FOLDER.sub("$LAB", line)
        line = SPACED_PORT.sub(r"\1 PORT", PORT.sub(r"\1PORT", line))
        line = FOLDER_PORT.sub(r"\1-PORT", line)
        told[line] = None
    return list(told)


def save(folder, experiment, record, result):
    """record: when and where it was measured, and what was run. result is None
    of an experiment that could not be."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, experiment.name)
    for old in [*glob.glob(f"{path}-*.svg"), *glob.glob(f"{path}.csv")]:
        if result or old.endswith(".csv"):
            os.remove(old)
    if result:
        _write_csv(f"{path}.csv", result)
        figures.draw(folder, experiment.name, result)
    _write(f"{path}.json", json.dumps(
        {**record, "result": model.as_json(result) if result else None},
        indent=1, ensure_ascii=False) + "\n")


def load(folder, experiment):
    """The record and the result; (None, None): there is none."""
    try:
        with open(os.path.join(folder, f"{experiment.name}.json"),
                  encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None, None
    data = record.pop("result")
    return record, model.from_json(data) if data else None


class Run:
    """What of a run of all experiments is done."""

    def __init__(self, path, binary, is_quick):
        self.path = path
        self.mark = {"program": _digest(binary), "is_quick": is_quick}
        self.done = []

    def resume(self):
        """Goes on with one that was broken off, if it was of the same."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return
        if found.get("mark") == self.mark:
            self.done = found["done"]

    def note(self, name):
        self.done.append(name)
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        _write(self.path, json.dumps({"mark": self.mark, "done": self.done}))

    def end(self):
        """All is done: the next one begins anew."""
        if os.path.exists(self.path):
            os.remove(self.path)


def _digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
