"""Where the mount may differ from ext4, and why: (rows, differences, reason). docs/conformance.md says
more about each."""

import re

ALLOWED = [
    (r"^mkfifo: talks$|descriptor of a fifo$", r"times moved", "the kernel does not tell of the use of a fifo"),
    (r"^write from a bad address", r"times moved",
     "the kernel copies the bytes before it asks, so what fails stamps nothing"),
    (r"^fallocate: to a limit of size$", r"times moved", "the kernel checks the limit before it asks"),
    (r"^lseek: overflow$", r"result", "the kernel knows no largest file of a FUSE mount"),
    (r"^statx: AT_STATX_DONT_SYNC$", r"result", "the kernel answers from its cache, which lacks the time of birth"),
    (r"^copy_file_range: of a dirty mapping$", r"times moved",
     "what is stored through a mapping is seen, and stamped, when it is written back"),
    (r"^O_DIRECT: .*not aligned$", r"result|content|times", "the kernel asks no alignment of a FUSE mount, as of tmpfs"),
    (r"^epoll: of a file$", r"result", "the kernel lets every file of a FUSE mount be polled"),
    (r"^append-only: (a mapping|O_APPEND taken)", r"result", "the kernel looks at its own inode, which lacks the flag"),
    (r"^preadv2: RWF_NOWAIT", r"result", "the kernel never reads a FUSE mount without waiting"),
    (r"^statx: attributes of", r"result", "the kernel does not ask a FUSE mount for attributes of statx"),
    (r"^chown to nothing.*(a foreign set-id file|file of root and )", r"result|times moved|mode",
     "the kernel sends what could be the start of a write(2), without a refusal"),
]


def reason(row, line):
    for rows, lines, why in ALLOWED:
        if re.search(rows, row) and re.search(lines, line):
            return why
    return None
