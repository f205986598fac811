"""Listings, also while they change; telldir and seekdir; many entries."""

from run import Row

_TEN = "dir('d'); [file(f'd/{i}') for i in range(10)]; "
_READ = "import ctypes as c; libc.opendir.restype = c.c_void_p; libc.telldir.restype = c.c_long; libc.readdir.restype = c.c_void_p; " \
        "libc.telldir.argtypes = libc.readdir.argtypes = libc.closedir.argtypes = libc.rewinddir.argtypes = [c.c_void_p]; " \
        "libc.seekdir.argtypes = [c.c_void_p, c.c_long]; " \
        "next_ = lambda d: (lambda p: c.string_at(p + 19).decode() if p else None)(libc.readdir(d)); " \
        "rest = lambda d: sorted(iter(lambda: next_(d), None)); "
ROWS = [
    Row("listing", "of an empty directory", "dir('d')", "getdents(open('d'))"),
    Row("listing", "of ten", _TEN, "names('d')"),
    Row("listing", "of 600", "dir('d'); [file(f'd/file-{i}') for i in range(600)]", "len(names('d'))", ignore=("tree",)),
    Row("listing", "with long names", "dir('d'); [file('d/' + str(i) * 255) for i in range(10)]", "[n[:2] for n in names('d')]"),
    Row("listing", "into a small buffer", _TEN, "getdents(open('d'), 10)"),
    Row("listing", "in small steps", _TEN, "sorted(sum((list(x) for x in [[n for n, _ in g] for g in iter(lambda fd=open('d'): getdents(fd, 64), [])]), []))"),
    Row("listing", "again after the end", _TEN, "[(len(getdents(fd)), getdents(fd)) for fd in [open('d')]]"),
    Row("listing", "after lseek to 0", _TEN, "[(len(getdents(fd)), lseek(fd, 0, 0), len(getdents(fd))) for fd in [open('d')]]"),
    Row("listing", "a name added behind", _TEN + "fd = open('d'); getdents(fd)", "(file('d/new'), lseek(fd, 0, 0), ('new', 8) in getdents(fd))"),
    Row("listing", "a name removed", _TEN + "fd = open('d'); getdents(fd)", "(unlink('d/3'), lseek(fd, 0, 0), ('3', 8) in getdents(fd))"),
    Row("listing", "removing while listing", "dir('d'); [file(f'd/{i}') for i in range(500)]",
        "([os.unlink(e.path) for e in os.scandir('d')] and names('d'))"),
    Row("listing", "each name once while others come and go", _READ + "dir('d'); [file(f'd/{i}') for i in range(300)]; d = libc.opendir(b'd')",
        "[(len(set(seen)) == len(seen), len([n for n in seen if n.isdigit()])) for seen in [[(next_(d), file(f'd/x{i}'), unlink(f'd/x{i}'))[0] for i in range(302)]]]"),
    Row("listing", "of a directory that was renamed", _TEN + "fd = open('d')", "(rename('d', 'e'), len(getdents(fd)))"),
    Row("listing", "of a file", "file('a'); fd = open('a')", "getdents(fd)"),
    Row("listing", ". and ..", "dir('d'); dir('d/e')",
        "[(os.stat('d/e/.').st_ino == os.stat('d/e').st_ino, os.stat('d/e/..').st_ino == os.stat('d').st_ino)]"),
    Row("listing", ".. after rename to another parent", "dir('a'); dir('b'); dir('a/d'); os.stat('a/d/..')",
        "(rename('a/d', 'b/d'), os.stat('b/d/..').st_ino == os.stat('b').st_ino)"),
    Row("telldir", "comes back", _READ + _TEN + "d = libc.opendir(b'd'); [next_(d) for _ in range(4)]; place = libc.telldir(d)",
        "[(libc.seekdir(d, place), rest(d) == first) for first in [rest(d)]][0][1]"),
    Row("telldir", "comes back after names were removed", _READ + _TEN + "d = libc.opendir(b'd'); gone = [next_(d) for _ in range(5)]; place = libc.telldir(d)",
        "[([os.unlink('d/' + n) for n in gone if n.isdigit()], libc.seekdir(d, place), rest(d) == first)[2] for first in [rest(d)]]",
        ignore=("tree",)),
    Row("telldir", "the start", _READ + _TEN + "d = libc.opendir(b'd'); place = libc.telldir(d)",
        "[(libc.seekdir(d, place), rest(d) == first)[1] for first in [rest(d)]]"),
    Row("telldir", "each place finds its name", _READ + _TEN + "d = libc.opendir(b'd'); places = [(libc.telldir(d), next_(d)) for _ in range(12)]",
        "[(libc.seekdir(d, place), next_(d) == name)[1] for place, name in reversed(places)]"),
    Row("rewinddir", "shows what is new", _READ + _TEN + "d = libc.opendir(b'd'); rest(d); file('d/new')", "(libc.rewinddir(d), 'new' in rest(d))[1]"),
    Row("lseek", "SEEK_END of a directory's descriptor", "dir('d'); fd = open('d')", "ok(lseek(fd, 0, 2))", ),
    Row("lseek", "negative of a directory's descriptor", "dir('d'); fd = open('d')", "lseek(fd, -1, 0)"),
    Row("inotify", "create, write, rename, unlink", "import ctypes; dir('d'); fd = libc.inotify_init1(0o4000); libc.inotify_add_watch(fd, b'd', 0xfff & ~1)",
        "(file('d/a', 'x'), rename('d/a', 'd/b'), unlink('d/b'), [struct.unpack_from('iI', e)[1] for e in [read(fd, 4096)]])"),
    Row("chroot", "and ..", "dir('d'); file('d/x')", "in_child(lambda: (os.chroot('d'), os.chdir('/'), sorted(os.listdir('/..'))))"),
]
