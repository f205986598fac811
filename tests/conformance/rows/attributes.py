"""Modes, owners, times, statx, set-id bits, flags of chattr."""

from run import Row

U = 65534
SET_ID = {
    "a set-id file of the user": ("file('a', 'text'); own('a', 65534, 65534, 0o6777)", U),
    "a set-id file without group execution": ("file('a', 'text'); own('a', 65534, 65534, 0o6767)", U),
    "a foreign set-id file that all may write": ("file('a', 'text', 0o6777)", U),
    "a set-group-id file of one's own and a foreign group": ("file('a', 'text'); own('a', 65534, 1, 0o2766)", U),
    "a set-id file of one's own and a supplementary group": ("file('a', 'text'); own('a', 65534, 77, 0o6766)", U),
    "a set-id file, as root": ("file('a', 'text', 0o6777)", None),
    "a file with a capability": ("file('a', 'text', 0o755); setxattr('a', 'security.capability', "
                                 "bytes.fromhex('0100000202000000000000000000000000000000'))", None),
}
CLEARING = {
    "write": "(write(open('a', O_WRONLY), b'x'), mode_of('a'))",
    "pwritev": "(pwritev(open('a', O_WRONLY), [b'x', b'y'], 2), mode_of('a'))",
    "write of nothing": "(write(open('a', O_WRONLY), b''), mode_of('a'))",
    "append": "(write(open('a', O_WRONLY | O_APPEND), b'x'), mode_of('a'))",
    "truncate": "(truncate('a', 1), mode_of('a'))",
    "truncate to its size": "(truncate('a', 4), mode_of('a'))",
    "ftruncate": "(ftruncate(open('a', O_WRONLY), 9), mode_of('a'))",
    "fallocate": "(fallocate(open('a', O_WRONLY), 0, 0, 9), mode_of('a'))",
    "punch": "(fallocate(open('a', O_WRONLY), PUNCH_HOLE | KEEP_SIZE, 0, 2), mode_of('a'))",
    "fallocate KEEP_SIZE": "(fallocate(open('a', O_WRONLY), KEEP_SIZE, 0, 9), mode_of('a'))",
    "zero": "(fallocate(open('a', O_WRONLY), ZERO_RANGE, 0, 2), mode_of('a'))",
    "O_TRUNC": "(opens('a', O_WRONLY | O_TRUNC), mode_of('a'))",
    "O_DIRECT write": "[(m.write(b'y' * 4096), pwritev(open('a', O_RDWR | O_DIRECT), [m], 0), mode_of('a')) "
                      "for m in [mmap.mmap(-1, 4096)]]",
    "copy_file_range": "(copy_file_range(open('b'), open('a', O_WRONLY), 2), mode_of('a'))",
    "sendfile": "(sendfile(open('a', O_WRONLY), open('b'), 0, 2), mode_of('a'))",
    "mapped store": "[(m.__setitem__(0, 65), m.flush(), mode_of('a')) for m in [mapped(open('a', O_RDWR), 4)]]",
    "chown": "(chown('a', 65534, 65534), mode_of('a'))",
    "chown to nothing": "(chown('a', -1, -1), mode_of('a'))",
    "chgrp": "(chown('a', -1, 65534), mode_of('a'))",
    "chgrp to a supplementary group": "(chown('a', -1, 77), mode_of('a'))",
    "chmod": "(chmod('a', 0o6755), mode_of('a'))",
    "utimensat": "(utimens('a'), mode_of('a'))",
    "setxattr": "(setxattr('a', 'user.a', b'1'), mode_of('a'))",
    "link": "(linkat('a', 'c'), mode_of('a'))",
    "rename": "(rename('a', 'c'), mode_of('c'))",
    "reading": "(content('a'), mode_of('a'))",
}


def clearing(set_id):
    """Rows for every call of CLEARING in preconditions as in SET_ID."""
    return [Row(f"{call} clearing set-id", precondition, "file('b', 'bbbb'); chmod('.', 0o777); " + setup, text,
                user=user, groups=() if user is None else (77,), ignore=("times",) if call == "mapped store" else ())
            for call, text in CLEARING.items() for precondition, (setup, user) in set_id.items()]


ROWS = clearing(SET_ID)
ROWS += [
    Row("chown", "of a directory keeps set-group-id", "dir('d', 0o2755)", "(chown('d', 3, 4), mode_of('d'))"),
    Row("chown", "of a directory with set-user-id", "dir('d', 0o6755)", "(chown('d', 3, 4), mode_of('d'))"),
    Row("chown", "of a link", "file('t'); symlink('t', 'l')", "(lchown('l', 3, 4), owner_of('l'), owner_of('t'))"),
    Row("chown", "user alone", "file('a')", "chown('a', 9, -1)"),
    Row("chown", "group alone", "file('a')", "chown('a', -1, 9)"),
    Row("chown", "to nothing moves ctime", "file('a')", "chown('a', -1, -1)"),
    Row("chown", "of an open file", "file('a'); fd = open('a')", "(fchown(fd, 1, 2), owner_of('a'))"),
    Row("chown", "of a removed file", "file('a'); fd = open('a'); unlink('a')",
        "(fchown(fd, 1, 2), os.fstat(fd).st_uid)"),
    Row("chown", "to a group of one's own, as a user", "file('a'); own('a')", "chown('a', -1, 65534)", user=U),
    Row("chown", "to a supplementary group", "file('a'); own('a'); as_user(65534, 65534, [77])",
        "(chown('a', -1, 77), owner_of('a'))"),
    Row("chmod", "set-group-id of a foreign group, as a user", "file('a'); own('a', 65534, 1, 0o755)",
        "(chmod('a', 0o2755), mode_of('a'))", user=U),
    Row("chmod", "set-group-id of a directory of a foreign group, as a user", "dir('a'); own('a', 65534, 1, 0o755)",
        "(chmod('a', 0o2755), mode_of('a'))", user=U),
    Row("chmod", "sticky of a file, as a user", "file('a'); own('a')", "(chmod('a', 0o1644), mode_of('a'))", user=U),
    Row("chmod", "of an open file", "file('a'); fd = open('a')", "(fchmod(fd, 0o400), mode_of('a'))"),
    Row("chmod", "to what it was moves ctime", "file('a', '', 0o644)", "chmod('a', 0o644)"),
    Row("chmod", "takes effect for an open descriptor only at the next open", "file('a'); own('a'); as_user(); fd = open('a', O_RDWR)",
        "(chmod('a', 0), write(fd, b'x'), opens('a'))"),
    Row("chmod", "of a directory takes effect at once", "dir('d'); own('d'); file('d/f'); as_user()",
        "(stats('d/f'), chmod('d', 0o600), stats('d/f'))"),
    Row("utimensat", "nanoseconds", "file('a')", "(utimens('a', ((1, 123456789), (2, 987654321))), times_of('a'))"),
    Row("utimensat", "before 1970", "file('a')", "(utimens('a', ((-5, 5), (-100000, 999999999))), times_of('a'))"),
    Row("utimensat", "after 2038", "file('a')", "(utimens('a', ((1 << 32, 5), (5000000000, 7))), times_of('a'))"),
    Row("utimensat", "omit one", "file('a'); utimens('a', ((5, 5), (6, 6)))",
        "(utimens('a', ((0, UTIME_OMIT), (9, 9))), times_of('a'))"),
    Row("utimensat", "omit both", "file('a')", "utimens('a', ((0, UTIME_OMIT), (0, UTIME_OMIT)))"),
    Row("utimensat", "now and omit", "file('a'); utimens('a', ((5, 5), (6, 6)))",
        "(utimens('a', ((0, UTIME_OMIT), (0, UTIME_NOW))), times_of('a')[0], times_of('a')[1] > 10**18)"),
    Row("utimensat", "too many nanoseconds", "file('a')", "utimens('a', ((1, 1000000000), (1, 1)))"),
    Row("utimensat", "negative nanoseconds", "file('a')", "utimens('a', ((1, -1), (1, 1)))"),
    Row("utimensat", "an unknown flag", "file('a')", "utimens('a', None, 2)"),
    Row("utimensat", "of a link", "symlink('x', 'l')", "(utimens('l', ((1, 2), (3, 4)), 0x100), times_of('l'))"),
    Row("utimensat", "of a removed file", "file('a'); fd = open('a', O_RDWR); unlink('a')",
        "(futimens(fd, ((1, 2), (3, 4))), os.fstat(fd).st_mtime_ns)"),
    Row("utimensat", "of a fifo", "mkfifo('f')", "(utimens('f', ((1, 2), (3, 4))), times_of('f'))"),
    Row("utimensat", "of a device", "mknod('n', S_IFCHR, os.makedev(1, 3))", "(utimens('n', ((1, 2), (3, 4))), times_of('n'))"),
    Row("utimensat", "leaves ctime to the clock", "file('a')",
        "(utimens('a', ((1, 2), (3, 4))), os.stat('a').st_ctime > 10**9)"),
    Row("statx", "every field of a file", "file('a', 'text')", "statx('a')"),
    Row("statx", "birth stays when written", "file('a'); write(open('a', O_WRONLY), b'x')", "statx('a')"),
    Row("statx", "of a directory", "dir('d')", "statx('d')"),
    Row("statx", "of a descriptor", "file('a', 'text'); fd = open('a')", "statx('', 0x1000, 0xfff, fd)"),
    Row("statx", "an unknown flag", "file('a')", "statx('a', 1)"),
    Row("statx", "a reserved mask bit", "file('a')", "statx('a', 0, 1 << 31)"),
    Row("statx", "AT_STATX_FORCE_SYNC", "file('a', 'text')", "statx('a', 0x2000)"),
    Row("statx", "AT_STATX_DONT_SYNC", "file('a', 'text')", "statx('a', 0x4000)"),
    Row("stat", "st_blksize", "file('a', 'text')", "os.stat('a').st_blksize"),
    Row("stat", "st_dev is one for all", "file('a'); dir('d')", "os.stat('a').st_dev == os.stat('d').st_dev == os.stat('.').st_dev"),
    Row("stat", "st_ino stays over rename", "file('a')",
        "[(rename('a', 'b'), os.stat('b').st_ino == old) for old in [os.stat('a').st_ino]]"),
    Row("stat", "st_ino in a listing", "file('a'); dir('d')", "all(e.inode() == os.lstat(e.name).st_ino for e in os.scandir('.'))"),
    Row("stat", "d_type in a listing", "file('a'); dir('d'); symlink('x', 'l'); mkfifo('f'); sock('s'); mknod('n', S_IFCHR)",
        "getdents(open('.'))"),
    Row("times", "write moves mtime and ctime", "file('a')", "write(open('a', O_WRONLY), b'x')"),
    Row("times", "write of nothing moves none", "file('a', 'x')", "write(open('a', O_WRONLY), b'')"),
    Row("times", "the same bytes again move them", "file('a', 'x')", "write(open('a', O_WRONLY), b'x')"),
    Row("times", "reading moves neither", "file('a', 'x')", "content('a')"),
    Row("times", "mapped store, msync", "file('a', 'x' * 100); m = mapped(open('a', O_RDWR), 100)",
        "(m.__setitem__(5, 66), m.flush())"),
    Row("times", "a failed truncate moves none", "file('a', 'x')", "truncate('a', -1)"),
    Row("times", "a failed unlink moves none", "dir('d'); file('d/x')", "unlink('d')"),
    Row("times", "a failed rename moves none", "dir('d'); file('d/x'); file('f')", "rename('f', 'd')"),
    Row("times", "a failed create moves none", "dir('d'); file('d/x')", "opens('d/x', O_CREAT | O_EXCL)"),
    Row("times", "fsync moves none", "file('a', 'x'); fd = open('a', O_RDWR)", "fsync(fd)"),
    Row("flags", "none at first", "file('a')", "ioctl_flags('a')"),
    Row("flags", "nodump", "file('a')", "(ioctl_flags('a', 0x40), ioctl_flags('a'))"),
    Row("flags", "noatime of a directory", "dir('a')", "(ioctl_flags('a', 0x80), ioctl_flags('a'))"),
    Row("flags", "inherited", "dir('a'); ioctl_flags('a', 0x40); file('a/f'); dir('a/d')",
        "(ioctl_flags('a/f'), ioctl_flags('a/d'))"),
    Row("flags", "moves ctime", "file('a')", "ioctl_flags('a', 0x40)"),
    Row("flags", "of a foreign file, as a user", "file('a', '', 0o666)", "ioctl_flags('a', 0x40)", user=U),
    Row("flags", "immutable, as a user", "file('a'); own('a')", "ioctl_flags('a', 0x10)", user=U),
]
IMMUTABLE = {
    "write": "opens('a', O_WRONLY)", "append": "opens('a', O_WRONLY | O_APPEND)", "read": "content('a')",
    "truncate": "truncate('a', 0)", "O_TRUNC": "opens('a', O_WRONLY | O_TRUNC)", "unlink": "unlink('a')",
    "rename": "rename('a', 'b')", "rename over": "rename('f', 'a')", "exchange": "renameat2('f', 'a', EXCHANGE)",
    "link": "linkat('a', 'b')", "chmod": "chmod('a', 0o600)", "chown": "chown('a', 1, 1)",
    "utimensat set": "utimens('a', ((1, 1), (2, 2)))", "utimensat now": "utimens('a')",
    "setxattr": "setxattr('a', 'user.a', b'1')", "removexattr": "removexattr('a', 'user.b')",
    "set ACL": "setxattr('a', 'system.posix_acl_access', acl('u::rwx', 'U:7:r--', 'g::r-x', 'm::r-x', 'o::---'))",
    "fallocate by an open descriptor": "fallocate(fd, 0, 0, 100)",
    "punch by an open descriptor": "fallocate(fd, PUNCH_HOLE | KEEP_SIZE, 0, 2)",
    "ftruncate by an open descriptor": "ftruncate(fd, 1)",
}
IN_DIRECTORY = {
    "create": "opens('d/n', O_CREAT | O_WRONLY)", "mkdir": "mkdir('d/n')", "symlink": "symlink('x', 'd/n')",
    "link": "linkat('a', 'd/n')", "unlink": "unlink('d/f')", "rename out": "rename('d/f', 'n')",
    "rename in": "rename('a', 'd/n')", "write a file in it": "write(open('d/f', O_WRONLY), b'x')",
    "rmdir": "rmdir('d/s')", "O_TMPFILE": "opens('d', O_TMPFILE | O_RDWR)",
}
for flag, word in ((0x10, "immutable"), (0x20, "append-only")):
    ROWS += [Row(f"{call} of a file", word, "file('a', 'text'); setxattr('a', 'user.b', b'1'); file('f', 'F'); "
                 f"fd = open('a', O_RDWR); ioctl_flags('a', {flag})", f"({text}, ioctl_flags('a', 0))")
             for call, text in IMMUTABLE.items()]
    ROWS += [Row(f"{call} in a directory", word, "file('a', 'text'); dir('d'); file('d/f'); dir('d/s'); "
                 f"ioctl_flags('d', {flag})", f"({text}, ioctl_flags('d', 0))") for call, text in IN_DIRECTORY.items()]
