#!/usr/bin/env python3
"""What lazy exploration saves: `lazy.py [--bin DIR] [--model M] [--most STATES]`.

For each of the histories that tests/integration/explore compares: the legal crash states, how many
different trees they are, how many ways recovery and check can tell them apart, the programs started
by lazy exploration and by trying every different state, and the states judged per second by both.
Histories with more than STATES legal states (default 20,000) are tried lazily only.

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
LARGE = [
    History("journal, 20 records", "seq 20 | journal append --dir j --group 1", VERIFY,
            options=("--tear", "sector", "--faults", "kill,power")),
    History("journal with recovery", "seq 20 | journal append --dir j --group 3", VERIFY,
            recover="journal recover --dir j", options=("--tear", "sector", "--faults", "kill,power")),
    History("sqlite rollback journal",
            "sqlite3 db 'insert into t values(1); insert into t values(2);' && echo two",
            "sqlite3 db 'pragma integrity_check; select count(*) from t;' | head -1 | grep -qx ok",
            setup="sqlite3 db 'create table t(x);'"),
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
    return f"{count / max(stats['timing']['elapsed_ms'] / 1000, 0.001):,.0f}"


def line(folder, history, options, most):
    lazy = explore(folder, history, *options)
    legal = int(lazy["lazy"]["legal"])
    leaves, runs = lazy["timing"]["leaves"], lazy["timing"]["runs"]
    cells = [history.name, f"{legal:,}"]
    if legal > most:
        cells += ["", f"{leaves:,}", f"{runs:,}", "", "", rate(lazy, legal), ""]
    else:
        every = explore(folder, history, "--strategy", "systematic", "--window-states", "1000000",
                        *options)
        distinct = every["states"] - every["timing"]["states_known"]
        eager = every["timing"]["runs"]
        cells += [f"{distinct:,}", f"{leaves:,}", f"{runs:,}", f"{eager:,}",
                  f"{100 * runs / max(eager, 1):.1f} %", rate(lazy, legal), rate(every, legal)]
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
          "| ratio | states/s, lazy | states/s, every state |")
    print("|---|---|---|---|---|---|---|---|---|")
    histories = SHELL + TOOLS + LARGE + [random_history(seed) for seed in range(1, 6)]
    with tempfile.TemporaryDirectory(prefix="tornfs-lazy-") as folder:
        for history in histories:
            line(Path(folder), history, ["--model", arguments.model], arguments.most)


if __name__ == "__main__":
    main()
