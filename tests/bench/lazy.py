#!/usr/bin/env python3
"""What lazy exploration saves: `lazy.py [--bin DIR] [--model M] [--most STATES]`.

For each of the histories that tests/integration/explore compares: the legal crash states, how many
different trees they are, how many ways recovery and check can tell them apart, the programs started
by lazy exploration and by trying every different state, the first of these per different tree, and the
states judged per second by both. Histories with more than STATES legal states (default 20,000) are
tried lazily only; their runs are set against the legal states.

DIR holds tornfs; the environment variable TORNFS_BIN names it otherwise. Prints Markdown."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration" / "explore"))

from lazy_histories import SHELL, TOOLS, History, random_history  # noqa: E402

VERIFY = "journal verify --dir j --promises {promises}"
RECOVER = "journal recover --dir j"
JOURNAL = ("--tear", "sector", "--faults", "kill,power")
RECORDS = "for n in $(seq 200); do echo record $n $(head -c $((n * 37 % 300)) /dev/zero | tr '\\0' x); done"
SQLITE = "sqlite3 db 'pragma integrity_check; select count(*) from t;' | head -1 | grep -qx ok"
INSERTS = " && ".join(f"sqlite3 db 'insert into t values({n});' && echo {n}" for n in range(1, 4))


def journal(name, *steps):
    return History(name, f"({RECORDS}) | " + " && ".join(steps), VERIFY, recover=RECOVER, options=JOURNAL)


# What storage software does, with more states than anybody can try one by one.
LARGE = [
    journal("journal, groups of 1", "journal append --dir j --group 1"),
    journal("journal, groups of 7", "journal append --dir j --group 7"),
    journal("journal, groups of 64", "journal append --dir j --group 64"),
    journal("journal, checkpoint with a buffered tail",
            "journal append --dir j --group 7 --checkpoint 150"),
    journal("journal, truncate", "journal append --dir j --group 7",
            "journal truncate --dir j --from 190", "echo again | journal append --dir j"),
    History("journal, segments",
            f"journal segments --dir j --max-size 8192 && ({RECORDS}) | journal append --dir j --messages --group 16",
            VERIFY, recover=RECOVER, options=JOURNAL),
    History("sqlite, rollback journal", INSERTS, SQLITE, setup="sqlite3 db 'create table t(x);'"),
    History("sqlite, write-ahead log", INSERTS, SQLITE,
            setup="sqlite3 db 'pragma journal_mode=wal; create table t(x);' > seen; rm seen"),
    History("settings, saved 10 times", "save_config 10", "save_config check {promises}",
            options=("--tear", "sector")),
    History("log of lines", "append_log 30", "append_log check {promises}",
            options=("--tear", "sector")),
]


def explore(folder, history, *options):
    for remainder in history.remainders():
        command = ["tornfs", "explore", "--json", "--jobs", "1", "--out", folder / "out", *options,
                   *history.arguments(remainder), "--", "sh", "-c", history.workload]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, cwd=folder)
        if "so nothing can be said" not in done.stderr:
            break
    if done.returncode not in (0, 1):
        sys.exit(f"{history.name}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def rate(stats, count):
    each = count / max(stats["timing"]["elapsed_ms"] / 1000, 0.001)
    return f"{each:,.0f}" if each < 1e9 else f"{each:.1e}"


def line(folder, history, options, most):
    lazy = explore(folder, history, *options)
    legal = int(lazy["lazy"]["legal"])
    leaves, runs = lazy["timing"]["leaves"], lazy["timing"]["runs"]
    cells = [history.name, f"{legal:,}" if legal < 10**15 else f"{legal:.1e}"]
    if legal > most:
        cells += ["", f"{leaves:,}", f"{runs:,}", "", f"{100 * runs / legal:.2g} %",
                  rate(lazy, legal), ""]
    else:
        every = explore(folder, history, "--strategy", "systematic", "--window-states", "1000000",
                        *options)
        distinct = every["states"] - every["timing"]["states_known"]
        eager = every["timing"]["runs"]
        cells += [f"{distinct:,}", f"{leaves:,}", f"{runs:,}", f"{eager:,}",
                  f"{100 * runs / max(distinct, 1):.2g} %", rate(lazy, legal), rate(every, legal)]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.environ.get("TORNFS_BIN"))
    parser.add_argument("--model", default="posix")
    parser.add_argument("--most", type=int, default=20_000)
    arguments = parser.parse_args()
    if arguments.bin:
        os.environ["PATH"] = f"{Path(arguments.bin).resolve()}:{os.environ['PATH']}"
    print("| history | legal states | different trees | told apart | runs, lazy | runs, every state "
          "| runs per tree | states/s, lazy | states/s, every state |")
    print("|---|---|---|---|---|---|---|---|---|")
    histories = LARGE + SHELL + TOOLS + [random_history(seed) for seed in range(1, 6)]
    with tempfile.TemporaryDirectory(prefix="tornfs-lazy-") as folder:
        for history in histories:
            line(Path(folder), history, ["--model", arguments.model], arguments.most)


if __name__ == "__main__":
    main()
