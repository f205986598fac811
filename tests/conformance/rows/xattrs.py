"""Extended attributes and ACLs."""

from run import Row

U = 65534
FULL = "acl('u::rwx', 'U:65534:r--', 'U:7:rwx', 'g::r-x', 'G:8:-w-', 'm::rwx', 'o::---')"
ACCESS, DEFAULT = "'system.posix_acl_access'", "'system.posix_acl_default'"
TARGETS = {"a file": "file('a', 'x')", "a directory": "dir('a')"}
CALLS = {
    "set": "(setxattr('a', 'user.n', b'value'), getxattr('a', 'user.n'))",
    "set empty": "(setxattr('a', 'user.n', b''), getxattr('a', 'user.n'))",
    "set twice": "(setxattr('a', 'user.n', b'1'), setxattr('a', 'user.n', b'two'), getxattr('a', 'user.n'))",
    "set binary": "(setxattr('a', 'user.n', bytes(range(256))), getxattr('a', 'user.n'))",
    "XATTR_CREATE": "setxattr('a', 'user.n', b'1', XATTR_CREATE)",
    "XATTR_CREATE of one that is": "(setxattr('a', 'user.n', b'1'), setxattr('a', 'user.n', b'2', XATTR_CREATE))",
    "XATTR_REPLACE": "setxattr('a', 'user.n', b'1', XATTR_REPLACE)",
    "XATTR_REPLACE of one that is": "(setxattr('a', 'user.n', b'1'), setxattr('a', 'user.n', b'2', XATTR_REPLACE))",
    "XATTR_CREATE|XATTR_REPLACE": "setxattr('a', 'user.n', b'1', XATTR_CREATE | XATTR_REPLACE)",
    "an unknown flag": "setxattr('a', 'user.n', b'1', 4)",
    "get one that is not": "getxattr('a', 'user.n')",
    "get its size": "(setxattr('a', 'user.n', b'value'), getxattr_into('a', 'user.n', 0))",
    "get into a short buffer": "(setxattr('a', 'user.n', b'value'), getxattr_into('a', 'user.n', 3))",
    "get into a fitting buffer": "(setxattr('a', 'user.n', b'value'), getxattr_into('a', 'user.n', 5))",
    "list": "(setxattr('a', 'user.n', b'1'), setxattr('a', 'user.m', b'2'), listxattr('a'))",
    "list none": "listxattr('a')",
    "list's size": "(setxattr('a', 'user.n', b'1'), listxattr_into('a', 0))",
    "list into a short buffer": "(setxattr('a', 'user.n', b'1'), listxattr_into('a', 3))",
    "list of every namespace": "(setxattr('a', 'user.n', b'1'), setxattr('a', 'trusted.n', b'2'), "
                               "setxattr('a', 'security.n', b'3'), listxattr('a'))",
    "remove": "(setxattr('a', 'user.n', b'1'), removexattr('a', 'user.n'), listxattr('a'))",
    "remove one that is not": "removexattr('a', 'user.n')",
    "no namespace": "setxattr('a', 'name', b'1')",
    "an unknown namespace": "setxattr('a', 'other.name', b'1')",
    "an unknown name in system": "setxattr('a', 'system.other', b'1')",
    "a namespace alone": "setxattr('a', 'user.', b'1')",
    "get from an unknown namespace": "getxattr('a', 'other.name')",
    "remove from an unknown namespace": "removexattr('a', 'other.name')",
    "an empty name": "setxattr('a', '', b'1')",
    "a name of 255 bytes": "(setxattr('a', 'user.' + 'n' * 250, b'1'), len(listxattr('a')[0]))",
    "a name of 256 bytes": "setxattr('a', 'user.' + 'n' * 251, b'1')",
    "a value above 64 KiB": "setxattr('a', 'user.n', b'1' * 65537)",
    "a value of 1 KiB": "(setxattr('a', 'user.n', b'v' * 1024), len(getxattr('a', 'user.n')))",
    "moves ctime": "setxattr('a', 'user.n', b'1')",
    "survives rename": "(setxattr('a', 'user.n', b'1'), rename('a', 'b'), getxattr('b', 'user.n'))",
    "of an open file that was removed": "[(os.unlink('a') if S_ISREG(os.stat('a').st_mode) else os.rmdir('a'), "
                                        "setxattr(fd, 'user.n', b'1'), getxattr(fd, 'user.n')) for fd in [open('a')]]",
    "get access ACL of none": f"getxattr('a', {ACCESS})",
    "remove access ACL of none": f"removexattr('a', {ACCESS})",
    "remove default ACL of none": f"removexattr('a', {DEFAULT})",
    "set access ACL": f"(setxattr('a', {ACCESS}, {FULL}), mode_of('a'), getxattr('a', {ACCESS}) == {FULL})",
    "set access ACL that the mode says": f"(setxattr('a', {ACCESS}, acl('u::rw-', 'g::-w-', 'o::--x')), mode_of('a'), "
                                         f"getxattr('a', {ACCESS}))",
    "ACL with a mask alone": f"(setxattr('a', {ACCESS}, acl('u::rw-', 'g::rwx', 'm::r--', 'o::---')), mode_of('a'))",
    "ACL lists": f"(setxattr('a', {ACCESS}, {FULL}), listxattr('a'))",
    "chmod changes the ACL": f"(setxattr('a', {ACCESS}, {FULL}), chmod('a', 0o750), getxattr('a', {ACCESS}))",
    "remove access ACL": f"(setxattr('a', {ACCESS}, {FULL}), removexattr('a', {ACCESS}), mode_of('a'), listxattr('a'))",
    "ACL XATTR_CREATE of one that is": f"(setxattr('a', {ACCESS}, {FULL}), setxattr('a', {ACCESS}, {FULL}, XATTR_CREATE))",
    "default ACL": f"(setxattr('a', {DEFAULT}, {FULL}), mode_of('a'), getxattr('a', {DEFAULT}) == {FULL})",
    "empty ACL": f"(setxattr('a', {ACCESS}, {FULL}), setxattr('a', {ACCESS}, acl()), listxattr('a'))",
    "ACL of another version": f"setxattr('a', {ACCESS}, acl('u::rwx', 'g::r-x', 'o::---', version=1))",
    "ACL without an owner": f"setxattr('a', {ACCESS}, acl('g::r-x', 'o::---'))",
    "ACL without a mask": f"setxattr('a', {ACCESS}, acl('u::rwx', 'U:7:r--', 'g::r-x', 'o::---'))",
    "ACL out of order": f"setxattr('a', {ACCESS}, acl('g::r-x', 'u::rwx', 'o::---'))",
    "ACL cut short": f"setxattr('a', {ACCESS}, acl('u::rwx', 'g::r-x', 'o::---')[:-3])",
    "ACL of no bytes": f"setxattr('a', {ACCESS}, b'')",
}
_DEFAULTED = f"dir('d', 0o777); setxattr('d', {DEFAULT}, {{}}); chmod('.', 0o777); "
LISTS = {
    "a full default ACL": FULL,
    "a default ACL that the mode says": "acl('u::rw-', 'g::r--', 'o::r--')",
    "a default ACL with a narrow mask": "acl('u::rwx', 'U:7:rwx', 'g::rwx', 'm::r--', 'o::r-x')",
}
INHERIT = {
    "a file": "(opens('d/n', O_CREAT | O_RDWR, 0o666), mode_of('d/n'))",
    "a file without permissions": "(opens('d/n', O_CREAT | O_RDWR, 0), mode_of('d/n'))",
    "a file with all": "(opens('d/n', O_CREAT | O_RDWR, 0o777), mode_of('d/n'))",
    "a directory": "(mkdir('d/n', 0o777), mode_of('d/n'))",
    "a directory without group permissions": "(mkdir('d/n', 0o707), mode_of('d/n'))",
    "a directory in a directory": "(mkdir('d/n'), mkdir('d/n/m'), mode_of('d/n/m'))",
    "a fifo": "(mkfifo('d/n', 0o666), mode_of('d/n'))",
    "a link": "(symlink('x', 'd/n'), mode_of('d/n'))",
    "a socket": "(sock('d/n'), mode_of('d/n'))",
    "a device": "(mknod('d/n', S_IFCHR | 0o666, 259), mode_of('d/n'))",
    "a file without a name": "[(link_open(fd, 'd/n'), mode_of('d/n')) for fd in [open('d', O_TMPFILE | O_RDWR, 0o666)]]",
    "a link to an old file": "(file('f'), linkat('f', 'd/n'), mode_of('d/n'))",
    "a file moved in": "(file('f'), rename('f', 'd/n'), mode_of('d/n'))",
}
ENFORCED = {
    "a named user may read": (FULL, "(opens('a'), opens('a', O_WRONLY))"),
    "a named user cut by the mask": ("acl('u::rwx', 'U:65534:rw-', 'g::---', 'm::r--', 'o::---')",
                                     "(opens('a'), opens('a', O_WRONLY))"),
    "a named user before others": ("acl('u::rwx', 'U:65534:---', 'g::rwx', 'm::rwx', 'o::rwx')",
                                   "(opens('a'), opens('a', O_WRONLY))"),
    "a named group": ("acl('u::rwx', 'g::---', 'G:65534:rw-', 'm::rwx', 'o::---')", "(opens('a'), opens('a', O_WRONLY))"),
    "a group without what others have": ("acl('u::rwx', 'g::---', 'G:65534:---', 'm::rwx', 'o::rwx')",
                                         "(opens('a'), opens('a', O_WRONLY))"),
    "access(2) says the same": (FULL, "[sys('access', 'a', how) for how in range(8)]"),
    "removed, then others": ("acl('u::rwx', 'U:65534:---', 'g::rwx', 'm::rwx', 'o::rwx')", "opens('a')"),
}
ROWS = [Row("xattr " + call, f"of {kind}", setup, text) for call, text in CALLS.items() for kind, setup in TARGETS.items()]
ROWS += [Row(f"{call} is made", f"below {which}", _DEFAULTED.format(value), text)
         for call, text in INHERIT.items() for which, value in LISTS.items()]
ROWS += [Row("a file is made below a default ACL", "as a user", _DEFAULTED.format(FULL),
             "(opens('d/n', O_CREAT | O_RDWR, 0o2777), mode_of('d/n'))", user=U)]
ROWS += [Row("ACL", what, f"file('a', 'x'); setxattr('a', {ACCESS}, {value})", text, user=U)
         for what, (value, text) in ENFORCED.items()]
ROWS += [
    Row("ACL", "of a directory: search", f"dir('d', 0o700); file('d/f', 'F', 0o644); setxattr('d', {ACCESS}, "
        "acl('u::rwx', 'U:65534:--x', 'g::---', 'm::--x', 'o::---'))", "(content('d/f'), names('d'))", user=U),
    Row("ACL", "of a directory: list", f"dir('d', 0o700); file('d/f', 'F', 0o644); setxattr('d', {ACCESS}, "
        "acl('u::rwx', 'U:65534:r--', 'g::---', 'm::r--', 'o::---'))", "(content('d/f'), names('d'))", user=U),
    Row("ACL", "of a directory: create and remove", f"dir('d', 0o700); file('d/f'); setxattr('d', {ACCESS}, "
        "acl('u::rwx', 'U:65534:-wx', 'g::---', 'm::-wx', 'o::---'))",
        "(opens('d/n', O_CREAT | O_RDWR), unlink('d/f'), mkdir('d/m'), rename('d/n', 'd/o'))", user=U, ignore=("times",)),
    Row("ACL", "changed while in use", f"file('a', 'x', 0o600); own('a'); setxattr('a', {ACCESS}, {FULL}); as_user()",
        f"(opens('a'), setxattr('a', {ACCESS}, acl('u::---', 'U:7:rwx', 'g::---', 'm::rwx', 'o::rwx')), opens('a'), "
        "chmod('a', 0o644), opens('a'))"),
    Row("ACL", "set-group-id of a foreign group goes, as a user", "file('a'); own('a', 65534, 1, 0o2755)",
        f"(setxattr('a', {ACCESS}, {FULL}), mode_of('a'))", user=U),
    Row("ACL", "set-group-id of an own group stays, as a user", "file('a'); own('a', 65534, 65534, 0o2755)",
        f"(setxattr('a', {ACCESS}, {FULL}), mode_of('a'))", user=U),
    Row("ACL", "sticky and set-id stay", "file('a', '', 0o7755)", f"(setxattr('a', {ACCESS}, {FULL}), mode_of('a'))"),
    Row("xattr", "user of a sticky directory, as another user", "dir('d', 0o1777)", "setxattr('d', 'user.a', b'1')", user=U),
    Row("xattr", "trusted is hidden from a user", "file('a', 'x', 0o666); setxattr('a', 'trusted.t', b'1'); "
        "setxattr('a', 'user.u', b'1')", "(listxattr('a'), getxattr('a', 'trusted.t'))", user=U),
    Row("xattr", "user of a file that may not be read, as a user", "file('a', 'x', 0o222); setxattr('a', 'user.u', b'1')",
        "(getxattr('a', 'user.u'), listxattr('a'), setxattr('a', 'user.v', b'1'))", user=U),
    Row("xattr", "user of a read-only file, as a user", "file('a', 'x', 0o444)", "setxattr('a', 'user.v', b'1')", user=U),
    Row("xattr", "security.capability is v2", "file('a', 'x', 0o755)",
        "(setxattr('a', 'security.capability', bytes.fromhex('0100000202000000000000000000000000000000')), "
        "getxattr('a', 'security.capability'))"),
    Row("xattr", "security.capability of another form", "file('a', 'x', 0o755)",
        "setxattr('a', 'security.capability', b'nonsense')"),
    Row("xattr", "a hundred of them", "file('a')",
        "([setxattr('a', f'user.{i}', b'x') for i in range(30)][-1], len(listxattr('a')))"),
    Row("xattr", "several names share them", "file('a'); link('a', 'b')",
        "(setxattr('a', 'user.n', b'1'), getxattr('b', 'user.n'))"),
    Row("xattr", "a new file of an old name has none", "file('a'); setxattr('a', 'user.n', b'1'); unlink('a'); file('a')",
        "listxattr('a')"),
]
