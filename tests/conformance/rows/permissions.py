"""What an ordinary user may do: calls down, who owns what across."""

from run import Row

# The user is 65534. `d` is the directory, `d/f` the file in it; plain is a file of the user's.
CALLS = {
    "open O_RDONLY": "opens('d/f')",
    "open O_WRONLY": "opens('d/f', O_WRONLY)",
    "open O_TRUNC": "opens('d/f', O_WRONLY | O_TRUNC)",
    "open O_NOATIME": "opens('d/f', O_NOATIME)",
    "create": "(opens('d/new', O_CREAT | O_WRONLY, 0o6777), mode_of('d/new'), owner_of('d/new'))",
    "O_TMPFILE": "opens('d', O_TMPFILE | O_RDWR)",
    "mkdir": "(mkdir('d/new', 0o6777), mode_of('d/new'), owner_of('d/new'))",
    "mkfifo": "(mkfifo('d/new'), owner_of('d/new'))",
    "mknod character device": "mknod('d/new', S_IFCHR, os.makedev(1, 3))",
    "mknod whiteout": "mknod('d/new', S_IFCHR, 0)",
    "symlink": "(symlink('x', 'd/new'), owner_of('d/new'))",
    "link out": "linkat('d/f', 'd/new')",
    "link in": "linkat('plain', 'd/new')",
    "unlink": "unlink('d/f')",
    "rmdir": "rmdir('d/sub')",
    "rename within": "rename('d/f', 'd/g')",
    "rename out": "rename('d/f', 'mine/f')",
    "rename in": "rename('plain', 'd/g')",
    "rename over": "rename('plain', 'd/f')",
    "rename directory out": "rename('d/sub', 'mine/sub')",
    "exchange": "renameat2('plain', 'd/f', EXCHANGE)",
    "whiteout": "renameat2('d/f', 'd/g', WHITEOUT)",
    "chmod": "(chmod('d/f', 0o6771), mode_of('d/f'))",
    "chmod of directory": "(chmod('d', 0o3770), mode_of('d'))",
    "chown to oneself": "chown('d/f', 65534, -1)",
    "chown to another": "chown('d/f', 1, -1)",
    "chown to own group": "(chown('d/f', -1, 65534), mode_of('d/f'))",
    "chown to foreign group": "chown('d/f', -1, 1)",
    "chown to nothing": "(chown('d/f', -1, -1), mode_of('d/f'))",
    "truncate": "(truncate('d/f', 1), mode_of('d/f'))",
    "utimensat set": "utimens('d/f', ((1, 0), (1, 0)))",
    "utimensat now": "utimens('d/f')",
    "utimensat one now": "utimens('d/f', ((0, UTIME_NOW), (0, UTIME_OMIT)))",
    "utimensat omit": "utimens('d/f', ((0, UTIME_OMIT), (0, UTIME_OMIT)))",
    "access": "[sys('access', 'd/f', how) for how in range(8)]",
    "faccessat2 AT_EACCESS": "[sys('faccessat2', AT_FDCWD, 'd/f', how, 0x200) for how in range(8)]",
    "stat": "stats('d/f')",
    "listdir": "names('d')",
    "chdir": "ok(chdir('d'))",
    "readlink": "readlink('d/l')",
    "getxattr": "getxattr('d/f', 'user.a')",
    "setxattr": "setxattr('d/f', 'user.a', b'2')",
    "setxattr of directory": "setxattr('d', 'user.b', b'2')",
    "setxattr trusted": "setxattr('d/f', 'trusted.a', b'2')",
    "getxattr trusted": "getxattr('d/f', 'trusted.t')",
    "setxattr security": "setxattr('d/f', 'security.a', b'2')",
    "listxattr": "listxattr('d/f')",
    "removexattr": "removexattr('d/f', 'user.a')",
    "set ACL": "(setxattr('d/f', 'system.posix_acl_access', acl('u::rwx', 'U:7:r--', 'g::r-x', 'm::r-x', 'o::---')), "
               "mode_of('d/f'))",
    "set default ACL": "setxattr('d', 'system.posix_acl_default', acl('u::rwx', 'g::r-x', 'o::---'))",
    "execve": "execs('d/f')",
    "set flags": "ioctl_flags('d/f', 0x40)",
    "bind": "sock('d/s')",
    "open_by_handle_at": "open_handle(ctypes.create_string_buffer(struct.pack('Ii', 8, 1) + bytes(8)))",
}
_MAKE = ("dir('d'); file('d/f', '#!/bin/true', {mode}); dir('d/sub'); symlink('x', 'd/l'); "
         "setxattr('d/f', 'user.a', b'1'); setxattr('d/f', 'trusted.t', b'1'); "
         "own('d/f', {file}, {group}, {mode}); own('d/sub', {file}, {group}); "
         "own('d', {dir}, {dirgroup}, {dirmode}); dir('mine'); own('mine'); file('plain', 'P'); own('plain'); "
         "chmod('.', 0o777)")


def _setup(file, group, mode, folder, folder_group, folder_mode):
    return _MAKE.format(file=file, group=group, mode=oct(mode), dir=folder, dirgroup=folder_group,
                        dirmode=oct(folder_mode))


PRECONDITIONS = {
    "all of it one's own": _setup(65534, 65534, 0o755, 65534, 65534, 0o755),
    "a foreign file in an own directory": _setup(0, 0, 0o755, 65534, 65534, 0o755),
    "a foreign file in an own sticky directory": _setup(0, 0, 0o777, 65534, 65534, 0o1777),
    "a foreign file in a foreign sticky directory": _setup(0, 0, 0o777, 0, 0, 0o1777),
    "an own file in a foreign sticky directory": _setup(65534, 65534, 0o755, 0, 0, 0o1777),
    "an own file in a foreign directory": _setup(65534, 65534, 0o755, 0, 0, 0o755),
    "a foreign file that all may write": _setup(0, 0, 0o777, 0, 0, 0o777),
    "a foreign file that nobody may touch": _setup(0, 0, 0o700, 0, 0, 0o777),
    "an own set-id file": _setup(65534, 65534, 0o6755, 65534, 65534, 0o755),
    "an own set-group-id file of a foreign group": _setup(65534, 1, 0o6755, 65534, 65534, 0o755),
    "a set-group-id directory of a foreign group": _setup(65534, 65534, 0o755, 65534, 1, 0o2777),
    "a directory that may not be listed": _setup(65534, 65534, 0o755, 0, 0, 0o733),
    "a directory that may not be searched": _setup(65534, 65534, 0o755, 0, 0, 0o766),
    "an own file without any permission": _setup(65534, 65534, 0o000, 65534, 65534, 0o755),
    "a file of one's group": _setup(0, 65534, 0o070, 0, 65534, 0o070),
}
ROWS = [Row(call, precondition, setup, text, user=65534)
        for call, text in CALLS.items() for precondition, setup in PRECONDITIONS.items()]
