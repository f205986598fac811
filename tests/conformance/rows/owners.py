"""Who owns what: sticky directories, protected links, times, ACLs with a umask, set-id bits; the caller is in a
supplementary group."""

from run import Row
from rows.attributes import clearing

U = 65534
GROUPS = (77,)
# The directory d belongs to one, the file or directory in it to another.
REMOVING = {
    "unlink": "unlink('d/f')",
    "rmdir": "rmdir('d/s')",
    "rmdir of a full directory": "rmdir('d/t')",
    "rename within": "rename('d/f', 'd/g')",
    "rename of a directory within": "rename('d/s', 'd/g')",
    "rename out": "rename('d/f', 'e/g')",
    "rename of a directory out": "rename('d/s', 'e/g')",
    "rename over": "rename('e/f', 'd/f')",
    "rename of a directory over": "rename('e/s', 'd/s')",
    "rename of a directory over a full one": "rename('e/s', 'd/t')",
    "exchange": "renameat2('e/f', 'd/f', EXCHANGE)",
    "exchange of a file and a directory": "renameat2('e/f', 'd/s', EXCHANGE)",
    "whiteout": "renameat2('d/f', 'd/g', WHITEOUT)",
    "link": "linkat('d/f', 'd/g')",
    "link to a symbolic link": "linkat('d/l', 'd/g')",
    "link to a fifo": "linkat('d/p', 'd/g')",
    "O_CREAT of what is there": "opens('d/f', O_CREAT | O_WRONLY)",
    "O_CREAT of a fifo that is there": "opens('d/p', O_CREAT | O_RDWR | O_NONBLOCK)",
    "a symbolic link followed": "stats('d/l')",
    "chmod": "chmod('d/f', 0o1700)",
    "xattr of the directory": "setxattr('d', 'user.a', b'1')",
}
OWNERS = {"one's own": 65534, "another's": 65533, "root's": 0}
_SETUP = ("dir('d'); file('d/f', 'F'); dir('d/s'); dir('d/t'); file('d/t/x'); symlink('f', 'd/l'); mkfifo('d/p'); "
          "[own('d/' + n, {thing}, {thing}) for n in 'fstlp']; [chmod('d/' + n, {mode}) for n in 'fstp']; "
          "own('d', {folder}, {folder}, {bits}); "
          "dir('e'); file('e/f', 'E'); dir('e/s'); own('e'); own('e/f'); own('e/s')")
ROWS = [Row(f"{call} across owners", f"{thing} thing with mode {mode:o} in {folder} directory with mode {bits:o}",
            _SETUP.format(thing=OWNERS[thing], folder=OWNERS[folder], bits=bits, mode=mode), text, user=U, groups=GROUPS)
        for call, text in REMOVING.items() for thing in OWNERS for folder in OWNERS
        for bits in (0o1777, 0o777) for mode in (0o755, 0o777)]
# utimensat by the owner, by one who may write, by one who may not; each on a path and on a descriptor.
_TIMES = {
    "both now": "None", "now and now": "((0, UTIME_NOW), (0, UTIME_NOW))", "now and omit": "((0, UTIME_NOW), (0, UTIME_OMIT))",
    "omit and now": "((0, UTIME_OMIT), (0, UTIME_NOW))", "omit both": "((0, UTIME_OMIT), (0, UTIME_OMIT))",
    "set both": "((5, 6), (7, 8))", "set and omit": "((5, 6), (0, UTIME_OMIT))", "omit and set": "((0, UTIME_OMIT), (7, 8))",
    "set and now": "((5, 6), (0, UTIME_NOW))", "now and set": "((0, UTIME_NOW), (7, 8))",
}
_HOLDERS = {"an own file": "own('a')", "an own read-only file": "own('a', 65534, 65534, 0o444)",
            "an own file without permission": "own('a', 65534, 65534, 0)",
            "a foreign writable file": "chmod('a', 0o666)", "a foreign write-only file": "chmod('a', 0o622)",
            "a foreign read-only file": "chmod('a', 0o644)",
            "a foreign file that an ACL lets write": "setxattr('a', 'system.posix_acl_access', "
            "acl('u::rw-', 'U:65534:-w-', 'g::---', 'm::rw-', 'o::---'))"}
ROWS += [Row("utimensat as a user", f"{what} of {whose}", f"file('a', 'x'); utimens('a', ((1, 1), (2, 2))); {setup}",
             f"(utimens('a', {times}), times_of('a')[1] if 'now' not in {what!r} else 0)", user=U, groups=GROUPS)
         for what, times in _TIMES.items() for whose, setup in _HOLDERS.items()]
ROWS += [Row("futimens as a user", f"{what} by a descriptor that {how}", f"file('a', 'x', 0o666); utimens('a', ((1, 1), (2, 2))); "
             f"{setup}", f"futimens(open('a', {flags}), {times})", user=U, groups=GROUPS)
         for what, times in _TIMES.items()
         for how, setup, flags in (("writes an own file", "own('a')", "O_WRONLY"), ("reads an own file", "own('a')", "O_RDONLY"),
                                   ("writes a foreign file", "0", "O_WRONLY"), ("reads a foreign file", "0", "O_RDONLY"))]
_ACLS = {
    "full": "acl('u::rwx', 'U:7:rwx', 'g::r-x', 'G:8:-w-', 'm::rwx', 'o::r-x')",
    "narrow": "acl('u::rw-', 'U:7:rwx', 'g::rwx', 'm::r--', 'o::---')",
    "plain": "acl('u::r-x', 'g::rw-', 'o::-w-')",
}
_MADE = {
    "open": "opens('d/n', O_CREAT | O_RDWR, {mode})", "mkdir": "mkdir('d/n', {mode})", "mkfifo": "mkfifo('d/n', {mode})",
    "mknod": "mknod('d/n', S_IFREG | {mode})", "O_TMPFILE": "link_open(open('d', O_TMPFILE | O_RDWR, {mode}), 'd/n')",
    "bind": "sock('d/n')", "mkdir of two": "(mkdir('d/n', {mode}), mkdir('d/n/m', {mode}))",
}
ROWS += [Row(f"{call} below a default ACL", f"{which}, mode {mode:o}, umask {mask:o}, directory {bits:o}",
             f"dir('d'); own('d', 65534, 77, {bits}); setxattr('d', 'system.posix_acl_default', {value}); "
             f"umask({mask})", text.format(mode=mode), user=U, groups=GROUPS)
         for call, text in _MADE.items() for which, value in _ACLS.items() for mode in (0o777, 0o666, 0o2640)
         for mask in (0, 0o77) for bits in (0o777, 0o2777)]
_GROUP = {"the user's": 65534, "a supplementary": 77, "a foreign": 1}
_SET_ID = {f"a {kind} file of {whose} and {group} group": (f"file('a', 'text'); own('a', {owner}, {gid}, {mode})", U)
           for group, gid in _GROUP.items() for whose, owner in (("the user", 65534), ("root", 0))
           for kind, mode in (("set-group-id", 0o2766), ("set-group-id and group-executable", 0o2777),
                              ("set-user-id", 0o4766), ("set-id", 0o6766))}
_SET_ID.update({f"a set-group-id file of {group} group, as root": (f"file('a', 'text'); own('a', 65534, {gid}, 0o2766)",
                                                                 None) for group, gid in _GROUP.items()})
ROWS += clearing(_SET_ID)
