"""A directory tree as a value, for comparing two of them: everything a program can see, but for what
a filesystem is free to choose (inode numbers, sizes of directories, clocks)."""

import hashlib
import os
import stat

LARGEST_READ = 1 << 24


def _entry(path, groups):
    info = os.lstat(path)
    entry = {"mode": oct(info.st_mode), "uid": info.st_uid, "gid": info.st_gid, "links": info.st_nlink}
    if not stat.S_ISDIR(info.st_mode):
        entry["same"] = groups.setdefault(info.st_ino, len(groups))
        entry["size"] = info.st_size
    if stat.S_ISREG(info.st_mode) and info.st_size <= LARGEST_READ:
        with open(path, "rb") as stream:
            entry["content"] = hashlib.sha1(stream.read()).hexdigest()
    if stat.S_ISLNK(info.st_mode):
        entry["target"] = os.readlink(path)
    if stat.S_ISCHR(info.st_mode) or stat.S_ISBLK(info.st_mode):
        entry["device"] = info.st_rdev
    entry["xattrs"] = {name: os.getxattr(path, name, follow_symlinks=False).hex()
                       for name in sorted(os.listxattr(path, follow_symlinks=False))
                       if name != "security.selinux"}
    return entry, (info.st_ino, info.st_mtime_ns, info.st_ctime_ns)


def take(root):
    """({path: entry}, {path: (inode, modification time, change time)}), the root as "."."""
    entries, times, groups = {}, {}, {}
    waiting = ["."]
    while waiting:
        path = waiting.pop()
        full = os.path.join(root, path)
        entries[path], times[path] = _entry(full, groups)
        if entries[path]["mode"].startswith("0o4"):
            for name in sorted(os.listdir(full), reverse=True):
                waiting.append(os.path.normpath(os.path.join(path, name)))
    return entries, times


def changed(before, after):
    """{path: which of its times moved}, of the inodes that were there before and are now."""
    known = {inode: times for inode, *times in before.values()}
    return {path: ("m" if times[0] != known[inode][0] else "") + ("c" if times[1] != known[inode][1] else "")
            for path, (inode, *times) in after.items() if inode in known}
