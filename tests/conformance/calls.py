"""System calls as functions whose result can be compared: a value, or the name of the errno.

Values that differ from one filesystem to the next and mean nothing (descriptor numbers, inode
numbers) are left out. A row's text (rows/) is evaluated with these names in scope.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import stat
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

AT_FDCWD = -100
NOBODY = 65534
LONG = "n" * 255
TOO_LONG = "n" * 256
UTIME_NOW = (1 << 30) - 1
UTIME_OMIT = (1 << 30) - 2
KEEP_SIZE, PUNCH_HOLE, COLLAPSE, ZERO_RANGE, INSERT, UNSHARE = 1, 2, 8, 16, 32, 64
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
SYS = {"renameat2": 316, "statx": 332, "utimensat": 280, "fallocate": 285, "linkat": 265,
       "copy_file_range": 326, "sync_file_range": 277, "getdents64": 217, "openat2": 437,
       "name_to_handle_at": 303, "open_by_handle_at": 304, "faccessat2": 439, "fchmodat2": 452,
       "open": 2, "stat": 4, "mkdir": 83, "unlink": 87, "rmdir": 84, "rename": 82, "link": 86,
       "symlink": 88, "readlink": 89, "chmod": 90, "chown": 92, "truncate": 76, "access": 21,
       "mknod": 133, "chdir": 80, "getxattr": 191, "setxattr": 188, "listxattr": 194,
       "removexattr": 197, "statfs": 137, "lchown": 94, "creat": 85, "lstat": 6, "execve": 59,
       "lgetxattr": 192, "lsetxattr": 189, "pwritev2": 328, "msync": 26, "mremap": 25, "read": 0,
       "write": 1, "fsetxattr": 190, "fremovexattr": 199, "readahead": 187, "syncfs": 306,
       "fadvise64": 221, "ioctl": 16, "mlock": 149, "tee": 276, "vmsplice": 278, "splice": 275}

globals().update({name: getattr(os, name) for name in dir(os)
                  if name.startswith(("O_", "SEEK_", "XATTR_", "RWF_"))})
globals().update({name: getattr(stat, name) for name in dir(stat) if name.startswith("S_")})
globals().update({name: getattr(fcntl, name) for name in dir(fcntl)
                  if name.startswith(("F_", "LOCK_", "DN_", "FD_"))})
F_OFD_GETLK, F_OFD_SETLK = 36, 37
O_TMPFILE = 0o20200000


class Failed(Exception):
    """A call of a row's preparation failed."""


strict = False


def name_of(number):
    return errno.errorcode.get(number, str(number))


def attempt(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except OSError as error:
        if strict:
            raise Failed(f"{function.__name__}{arguments}: {name_of(error.errno)}") from error
        return name_of(error.errno)


def sys(call, *arguments):
    """A raw system call. Text and bytes are passed as pointers."""
    words = []
    for argument in arguments:
        if isinstance(argument, str):
            argument = os.fsencode(argument)
        if isinstance(argument, (bytes, ctypes.Array, ctypes.c_char_p)):
            words.append(ctypes.c_char_p(argument) if isinstance(argument, bytes) else argument)
        else:
            words.append(ctypes.c_long(argument))
    result = libc.syscall(ctypes.c_long(SYS[call]), *words)
    if result != -1:
        return result
    number = ctypes.get_errno()
    if strict:
        raise Failed(f"{call}{arguments}: {name_of(number)}")
    return name_of(number)


def _plain(name):
    function = getattr(os, name)

    def call(*arguments, **options):
        return attempt(function, *arguments, **options)

    call.__name__ = name
    return call


for _name in ("read pread write pwrite preadv pwritev writev lseek truncate ftruncate mkdir rmdir unlink "
              "symlink readlink rename link chmod fchmod chown lchown fchown mknod mkfifo chdir fchdir "
              "fsync fdatasync close dup listdir remove access posix_fallocate posix_fadvise sendfile "
              "getxattr setxattr removexattr copy_file_range utime getcwd setgid setuid umask").split():
    globals()[_name] = _plain(_name)


def open_(path, flags=os.O_RDONLY, mode=0o666, **options):
    """A descriptor, which row texts use; compared as `ok`."""
    return attempt(os.open, path, flags, mode, **options)


def ok(result):
    """A result that is a number of no meaning, or an errno."""
    return result if isinstance(result, str) else "ok"


def opens(path, flags=os.O_RDONLY, mode=0o666, **options):
    return ok(open_(path, flags, mode, **options))


def file(path, text="", mode=0o644):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    os.write(fd, text.encode() if isinstance(text, str) else text)
    os.fchmod(fd, mode)
    os.close(fd)


def dir_(path, mode=0o755):
    os.mkdir(path)
    os.chmod(path, mode)


def own(path, uid=NOBODY, gid=NOBODY, mode=None):
    os.chown(path, uid, gid, follow_symlinks=False)
    if mode is not None:
        os.chmod(path, mode)


def sock(path):
    def bind():
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path)
    return ok(attempt(bind))


def content(path):
    def slurp():
        with open(path, "rb") as stream:
            return stream.read()
    return attempt(slurp)


def as_user(uid=NOBODY, gid=NOBODY, groups=()):
    os.setgroups(list(groups))
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def mode_of(path):
    result = attempt(os.lstat, path)
    return result if isinstance(result, str) else oct(result.st_mode)


def owner_of(path):
    result = attempt(os.lstat, path)
    return result if isinstance(result, str) else (result.st_uid, result.st_gid)


def size_of(path):
    result = attempt(os.lstat, path)
    return result if isinstance(result, str) else result.st_size


def links_of(path):
    result = attempt(os.lstat, path)
    return result if isinstance(result, str) else result.st_nlink


def blocks_of(path):
    result = attempt(os.lstat, path)
    return result if isinstance(result, str) else result.st_blocks


def times_of(path):
    result = attempt(os.lstat, path)
    return result if isinstance(result, str) else (result.st_atime_ns, result.st_mtime_ns)


def stats(path):
    return ok(attempt(os.stat, path))


def lstats(path):
    return ok(attempt(os.lstat, path))


def fstats(fd):
    return ok(attempt(os.fstat, fd))


def utimens(path, times=None, flags=0, at=AT_FDCWD):
    """`times`: (seconds, nanoseconds) of access and of modification."""
    packed = struct.pack("qqqq", *times[0], *times[1]) if times else 0
    return sys("utimensat", at, path, packed, flags)


def futimens(fd, times=None):
    packed = struct.pack("qqqq", *times[0], *times[1]) if times else 0
    return sys("utimensat", fd, 0, packed, 0)


def renameat2(old, new, flags):
    return sys("renameat2", AT_FDCWD, old, AT_FDCWD, new, flags)


def fallocate(fd, mode, offset, length):
    return sys("fallocate", fd, mode, offset, length)


def linkat(old, new, flags=0, at=AT_FDCWD):
    return sys("linkat", at, old, AT_FDCWD, new, flags)


def link_open(fd, new):
    """Gives an open file a name, as programs without CAP_DAC_READ_SEARCH do."""
    return linkat(f"/proc/self/fd/{fd}", new, 0x400)


def statx(path, flags=0x100, mask=0xfff, at=AT_FDCWD):
    """(mask, type and permissions, size, whether the time of birth is sensible)"""
    buffer = ctypes.create_string_buffer(256)
    result = sys("statx", at, path, flags, mask, buffer)
    if isinstance(result, str):
        return result
    got, = struct.unpack_from("I", buffer, 0)
    mode, = struct.unpack_from("H", buffer, 28)
    size, = struct.unpack_from("Q", buffer, 40)
    birth, = struct.unpack_from("q", buffer, 80)
    return (got & 0xfff, oct(mode), None if stat.S_ISDIR(mode) else size,
            abs(birth - time.time()) < 3600 if got & 0x800 else None)


def names(path="."):
    return attempt(lambda: sorted(os.listdir(path)))


def getdents(fd, size=32768):
    """Names in one buffer of getdents64, sorted; errno by name."""
    buffer = ctypes.create_string_buffer(size)
    got = sys("getdents64", fd, buffer, size)
    if isinstance(got, str):
        return got
    found, at = [], 0
    while at < got:
        length, kind = struct.unpack_from("HB", buffer, at + 16)
        found.append((buffer.raw[at + 19:at + length].split(b"\0")[0].decode(errors="surrogateescape"), kind))
        at += length
    return sorted(found)


def listxattr(path, follow=True):
    return attempt(lambda: sorted(name for name in os.listxattr(path, follow_symlinks=follow)
                                  if name != "security.selinux"))


def getxattr_into(path, name, size):
    return sys("getxattr", path, name, ctypes.create_string_buffer(max(size, 1)), size)


def listxattr_into(path, size):
    return sys("listxattr", path, ctypes.create_string_buffer(max(size, 1)), size)


_TAGS = {"u": 1, "U": 2, "g": 4, "G": 8, "m": 16, "o": 32}


def acl(*entries, version=2):
    """The value of an ACL: "u::rwx", "U:65534:r--", "g::r-x", "m::rwx", "o::---"."""
    value = struct.pack("<I", version)
    for entry in entries:
        tag, ident, bits = entry.split(":")
        permissions = sum(bit for letter, bit in zip(bits, (4, 2, 1)) if letter != "-")
        value += struct.pack("<HHI", _TAGS[tag], permissions, int(ident) if ident else 0xffffffff)
    return value


def lock(fd, how, kind, start=0, length=0, command=fcntl.F_SETLK):
    packed = struct.pack("hhqqi4x", kind, how, start, length, 0)
    result = attempt(fcntl.fcntl, fd, command, packed)
    if isinstance(result, str):
        return result
    got = struct.unpack("hhqqi4x", result)
    return got[:4] if command in (fcntl.F_GETLK, F_OFD_GETLK) else "ok"


def flock(fd, how):
    return ok(attempt(fcntl.flock, fd, how))


def fcntl_(fd, command, argument=0):
    return attempt(fcntl.fcntl, fd, command, argument)


def ioctl_flags(path, value=None):
    def call():
        fd = os.open(path, os.O_RDONLY)
        try:
            if value is None:
                word = bytearray(8)
                fcntl.ioctl(fd, 0x80086601, word)
                return struct.unpack_from("I", word)[0] & 0xf0
            word = bytearray(8)
            fcntl.ioctl(fd, 0x80086601, word)
            kept = struct.unpack_from("I", word)[0] & ~0xf0
            fcntl.ioctl(fd, 0x40086602, struct.pack("Q", kept | value))
            return 0
        finally:
            os.close(fd)
    return attempt(call)


def mapped(fd, length, flags=mmap.MAP_SHARED, access=mmap.PROT_READ | mmap.PROT_WRITE, offset=0):
    return attempt(mmap.mmap, fd, length, flags, access, offset=offset)


def in_child(function):
    """What `function` returns in a child process, as text."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        try:
            text = repr(function())
        except BaseException as error:  # noqa: the parent has to hear of it
            text = repr(error)
        os.write(into, text.encode())
        os._exit(0)
    os.close(into)
    text = b"".join(iter(lambda: os.read(out, 65536), b""))
    os.close(out)
    _, status = os.waitpid(pid, 0)
    return text.decode() or f"signal {status & 127}"


def limit_file_size(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def execs(path):
    def run():
        os.execv(path, [path or "x"])
    return attempt(run) if not os.path.exists(path) else in_child(lambda: attempt(run))


def handle_of(path):
    buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.create_string_buffer(8)
    result = sys("name_to_handle_at", AT_FDCWD, path, buffer, mount, 0)
    return result if isinstance(result, str) else buffer


def open_handle(handle, flags=os.O_RDONLY):
    root = os.open(".", os.O_RDONLY)
    return sys("open_by_handle_at", root, handle, flags)


def holes(path, size=None):
    """Where data and holes are, as SEEK_DATA and SEEK_HOLE tell."""
    fd = os.open(path, os.O_RDONLY)
    end = os.fstat(fd).st_size
    found, at = [], 0
    while at < end:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(fd, data, os.SEEK_HOLE)
        found.append((data, at))
    os.close(fd)
    return found
