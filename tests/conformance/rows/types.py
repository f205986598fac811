"""What each call does to each type of file: calls down, types across."""

import re

from run import Row

# `P` stands for the file; plain, folder (empty) and full (not empty) are there too.
CALLS = {
    "open O_RDONLY": "opens(P, O_RDONLY | O_NONBLOCK)",
    "open O_WRONLY": "opens(P, O_WRONLY | O_NONBLOCK)",
    "open O_RDWR|O_TRUNC": "opens(P, O_RDWR | O_TRUNC | O_NONBLOCK)",
    "open O_CREAT": "opens(P, O_CREAT | O_RDWR | O_NONBLOCK)",
    "open O_CREAT|O_EXCL": "opens(P, O_CREAT | O_EXCL | O_RDWR)",
    "open O_CREAT|O_DIRECTORY": "opens(P, O_CREAT | O_DIRECTORY)",
    "open O_DIRECTORY": "opens(P, O_DIRECTORY | O_NONBLOCK)",
    "open O_NOFOLLOW": "opens(P, O_NOFOLLOW | O_NONBLOCK)",
    "open O_PATH|O_NOFOLLOW": "oct(os.fstat(open(P, O_PATH | O_NOFOLLOW)).st_mode)",
    "open O_TMPFILE": "opens(P, O_TMPFILE | O_RDWR)",
    "open O_NOATIME": "opens(P, O_NOATIME | O_NONBLOCK)",
    "mkdir": "mkdir(P)",
    "mknod": "mknod(P, S_IFREG)",
    "symlink": "symlink('x', P)",
    "bind": "sock(P)",
    "link from": "linkat(P, 'new')",
    "link to": "linkat('plain', P)",
    "unlink": "unlink(P)",
    "rmdir": "rmdir(P)",
    "rename from": "rename(P, 'new')",
    "rename from onto file": "rename(P, 'plain')",
    "rename from onto empty directory": "rename(P, 'folder')",
    "rename from onto full directory": "rename(P, 'full')",
    "rename file onto": "rename('plain', P)",
    "rename directory onto": "rename('folder', P)",
    "rename onto itself": "rename(P, P)",
    "rename into itself": "rename(P, P + '/x')",
    "rename NOREPLACE onto": "renameat2('plain', P, NOREPLACE)",
    "exchange with file": "renameat2('plain', P, EXCHANGE)",
    "exchange with directory": "renameat2(P, 'full', EXCHANGE)",
    "rename WHITEOUT": "renameat2(P, 'new', WHITEOUT)",
    "chmod": "chmod(P, 0o7751)",
    "chmod without following": "sys('fchmodat2', AT_FDCWD, P, 0o640, 0x100)",
    "chown": "chown(P, 7, 8)",
    "lchown": "lchown(P, 7, 8)",
    "truncate shorter": "truncate(P, 2)",
    "truncate longer": "truncate(P, 9000)",
    "utimensat": "(utimens(P, ((1, 2), (3, 4)), 0x100), times_of(P))",
    "utimensat now": "utimens(P, None, 0x100)",
    "readlink": "readlink(P)",
    "statx": "statx(P, 0x100)",
    "setxattr user": "setxattr(P, 'user.a', b'1', follow_symlinks=False)",
    "setxattr trusted": "setxattr(P, 'trusted.a', b'1', follow_symlinks=False)",
    "setxattr security": "setxattr(P, 'security.a', b'1', follow_symlinks=False)",
    "getxattr user": "getxattr(P, 'user.none', follow_symlinks=False)",
    "removexattr user": "removexattr(P, 'user.none', follow_symlinks=False)",
    "listxattr": "listxattr(P, False)",
    "set access ACL": "setxattr(P, 'system.posix_acl_access', acl('u::rw-', 'U:7:r--', 'g::r--', 'm::rw-', 'o::---'), "
                      "follow_symlinks=False)",
    "set default ACL": "setxattr(P, 'system.posix_acl_default', acl('u::rwx', 'g::r-x', 'o::---'), "
                       "follow_symlinks=False)",
    "access": "[sys('access', P, how) for how in range(8)]",
    "chdir": "ok(chdir(P))",
    "listdir": "names(P)",
    "execve": "execs(P)",
    "get flags": "ioctl_flags(P) if S_ISREG(os.lstat(P).st_mode) else 'skipped'",
    "name_to_handle_at": "ok(handle_of(P))",
}
TYPES = {
    "a file": "file('p', 'text', 0o640)",
    "an executable file": "file('p', '#!/bin/true', 0o755)",
    "a set-id file": "file('p', 'text', 0o6755)",
    "an empty directory": "dir('p')",
    "a full directory": "dir('p'); file('p/x')",
    "a link to a file": "file('t', 'T'); symlink('t', 'p')",
    "a link to a directory": "dir('t'); symlink('t', 'p')",
    "a dangling link": "symlink('nowhere', 'p')",
    "a fifo": "mkfifo('p')",
    "a socket": "sock('p')",
    "a character device": "mknod('p', S_IFCHR | 0o600, os.makedev(1, 3))",
    "a block device": "mknod('p', S_IFBLK | 0o600, os.makedev(250, 9))",
    "a file with two names": "file('p', 'text'); link('p', 'other')",
}
# A device node is opened by its driver, whatever filesystem it is in.
_DRIVERS = {("a block device", call) for call in CALLS if call.startswith("open") and "PATH" not in call}

ROWS = [Row(call, f"on {kind}", "file('plain', 'P'); dir('folder'); dir('full'); file('full/x'); " + setup,
            re.sub(r"\bP\b", "'p'", text))
        for call, text in CALLS.items() for kind, setup in TYPES.items() if (kind, call) not in _DRIVERS]
