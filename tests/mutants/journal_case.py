"""Explorations of the journal, with and without a rule of its protocol."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

CHECK = "journal verify --dir j --promises {promises}"


class JournalCase(tornfs.Case):
    """`workload` and `recover` are commands for the shell; {without} in them becomes the switch."""

    def explore_journal(self, *options, workload, recover, input, rule=None, model="posix", **more):
        without = f"--without {rule}" if rule else ""
        return self.explore(
            "--model", model,
            *options,
            "--recover", recover.format(without=without),
            "--check", CHECK,
            workload=_split(workload.format(without=without)),
            input=input,
            **more,
        )

    def assert_names(self, findings, cause):
        """Every finding says in its sentence and in its losses what was lost of which file."""
        path, kind, text = cause
        for finding in findings:
            self.assertIn(text, finding["sentence"])
            self.assertIn((path, kind), [(loss["path"], loss["kind"]) for loss in finding["losses"]])


def _split(command):
    return ["sh", "-c", command] if "&&" in command else command.split()


def written(path):
    return (path, "write", f"`{path}` was written at op ")


def created(path):
    return (path, "create", f"`{path}` was created at op ")


def linked(path):
    return (path, "link", f"`{path}` was linked to ")


def renamed(path, to):
    return (path, "rename", f"`{path} -> {to}` was renamed at op ")
