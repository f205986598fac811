"""Runs one row in a directory, in a process of its own, and tells what came of it."""

import json
import os
import signal
import sys
import time

import calls
import snapshot

SECONDS = 120
MOST_LINES = 8
CLOCK_REALTIME_COARSE = 5


class Row:
    """A call in a precondition. `setup` and `call` are Python text that uses the names of calls.py;
    `user` and the supplementary `groups` say who makes the call; `ignore` names what is not compared (entries' fields,
    "times", or the whole "tree")."""

    def __init__(self, group, precondition, setup, call, user=None, ignore=(), groups=()):
        self.group = group
        self.precondition = precondition
        self.setup = setup
        self.call = call
        self.user = user
        self.groups = tuple(groups)
        self.ignore = tuple(ignore)

    @property
    def name(self):
        who = "" if self.user is None else f" as {self.user}"
        return f"{self.group}: {self.precondition}{who}"


def _tick():
    """Returns when the clock that files are stamped with has moved."""
    start = time.clock_gettime_ns(CLOCK_REALTIME_COARSE)
    while time.clock_gettime_ns(CLOCK_REALTIME_COARSE) == start:
        pass


def _make_scope():
    scope = dict(vars(calls))
    scope["open"], scope["dir"], scope["fcntl"] = calls.open_, calls.dir_, calls.fcntl_
    return scope


def _child(row, folder):
    os.chdir(folder)
    os.umask(0o022)
    signal.alarm(SECONDS)
    scope = _make_scope()
    calls.strict = True
    exec(row.setup, scope)  # pylint: disable=exec-used
    calls.strict = False
    before = {} if "tree" in row.ignore else snapshot.take(folder)[1]
    _tick()
    if row.user is not None:
        calls.as_user(row.user, row.user, row.groups)
    result = eval(row.call, scope)  # pylint: disable=eval-used
    return repr(result), before


def run(row, folder):
    """{"result", "entries", "times"} of the row in `folder`, which is made."""
    os.mkdir(folder)
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        status = 0
        try:
            result, before = _child(row, folder)
            answer = {"result": result, "before": before}
        except BaseException as error:  # pylint: disable=broad-except
            answer, status = {"broken": f"{type(error).__name__}: {error}"}, 1
        with os.fdopen(into, "w") as stream:
            json.dump(answer, stream)
        sys.stdout.flush()
        os._exit(status)
    os.close(into)
    with os.fdopen(out) as stream:
        text = stream.read()
    _, status = os.waitpid(pid, 0)
    if not text:
        return {"result": f"ended by signal {status & 127}", "entries": {}, "times": {}}
    answer = json.loads(text)
    if "broken" in answer:
        return {"broken": answer["broken"]}
    if "tree" in row.ignore:
        return {"result": answer["result"], "entries": {}, "times": {}}
    entries, after = snapshot.take(folder)
    before = {path: tuple(times) for path, times in answer["before"].items()}
    return {"result": answer["result"], "entries": entries, "times": snapshot.changed(before, after)}


def differences(row, native, mounted):
    """Lines that tell where two outcomes of a row differ."""
    if "broken" in native or "broken" in mounted:
        return [f"preparation: native {native.get('broken', 'fine')}, here {mounted.get('broken', 'fine')}"]
    lines = []
    if native["result"] != mounted["result"]:
        lines.append(f"result: native {native['result']}, here {mounted['result']}")
    for path in sorted(native["entries"].keys() | mounted["entries"].keys()):
        one, other = native["entries"].get(path), mounted["entries"].get(path)
        if one is None or other is None:
            lines.append(f"{path}: {'is' if one else 'is not'} there natively, {'is' if other else 'is not'} here")
            continue
        for field in one.keys() | other.keys():
            if field not in row.ignore and one.get(field) != other.get(field):
                lines.append(f"{path} {field}: native {one.get(field)}, here {other.get(field)}")
        if "times" not in row.ignore and native["times"].get(path) != mounted["times"].get(path):
            lines.append(f"{path} times moved: native '{native['times'].get(path)}', here '{mounted['times'].get(path)}'")
    return lines[:MOST_LINES]
