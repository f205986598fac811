"""What a server's client does under exploration, one act at each start: `PROGRAM ACT [ARGUMENT...]`."""

import shutil
import sys
import tempfile


def run(server, usage, failed, *acts):
    """Runs the act that the command line names, with a new folder outside the world for what is not to be
    explored, such as sockets, as its first argument. `failed` is the exception of a server that did not do
    its part: it ends the program with one line."""
    by_name = {act.__name__: act for act in acts}
    if len(sys.argv) < 2 or sys.argv[1] not in by_name:
        print(usage, file=sys.stderr)
        sys.exit(2)
    side = tempfile.mkdtemp(prefix=f"{server}-")
    try:
        by_name[sys.argv[1]](side, *sys.argv[2:])
    except failed as failure:
        sys.exit(f"{server}: {failure}")
    finally:
        shutil.rmtree(side)
