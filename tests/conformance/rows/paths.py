"""How each call that takes a path resolves it: calls down, preconditions across."""

import re

from run import Row

# `P` stands for the path.
CALLS = {
    "open O_RDONLY": "opens(P)",
    "open O_RDWR": "opens(P, O_RDWR)",
    "open O_CREAT": "opens(P, O_CREAT | O_RDWR, 0o644)",
    "open O_CREAT|O_EXCL": "opens(P, O_CREAT | O_EXCL | O_RDWR, 0o644)",
    "open O_DIRECTORY": "opens(P, O_DIRECTORY)",
    "open O_NOFOLLOW": "opens(P, O_NOFOLLOW)",
    "open O_PATH": "opens(P, O_PATH)",
    "open O_TMPFILE": "opens(P, O_TMPFILE | O_RDWR)",
    "open O_TRUNC": "opens(P, O_TRUNC | O_WRONLY)",
    "mkdir": "mkdir(P)",
    "mknod": "mknod(P, S_IFREG | 0o644)",
    "mkfifo": "mkfifo(P)",
    "symlink": "symlink('target', P)",
    "link from": "linkat(P, 'new')",
    "link to": "linkat('plain', P)",
    "link following": "linkat(P, 'new', 0x400)",
    "unlink": "unlink(P)",
    "rmdir": "rmdir(P)",
    "rename from": "rename(P, 'new')",
    "rename to": "rename('plain', P)",
    "rename directory to": "rename('folder', P)",
    "exchange": "renameat2('plain', P, EXCHANGE)",
    "rename NOREPLACE": "renameat2('plain', P, NOREPLACE)",
    "chmod": "chmod(P, 0o700)",
    "chown": "chown(P, 1, 2)",
    "lchown": "lchown(P, 1, 2)",
    "truncate": "truncate(P, 3)",
    "utimensat": "utimens(P, ((1, 2), (3, 4)))",
    "utimensat NOFOLLOW": "utimens(P, ((1, 2), (3, 4)), 0x100)",
    "stat": "stats(P)",
    "lstat": "lstats(P)",
    "statx": "ok(statx(P, 0))",
    "access": "ok(sys('access', P, 0))",
    "faccessat2": "sys('faccessat2', AT_FDCWD, P, 4, 0x200)",
    "readlink": "readlink(P)",
    "getxattr": "getxattr(P, 'user.a')",
    "setxattr": "setxattr(P, 'user.a', b'1')",
    "lsetxattr": "setxattr(P, 'user.a', b'1', follow_symlinks=False)",
    "listxattr": "listxattr(P)",
    "removexattr": "removexattr(P, 'user.a')",
    "statfs": "ok(sys('statfs', P, ctypes.create_string_buffer(256)))",
    "chdir": "ok(chdir(P))",
    "listdir": "names(P)",
    "execve": "execs(P)",
    "bind": "sock(P)",
    "name_to_handle_at": "ok(handle_of(P))",
}

_THINGS = "file('plain', 'P'); dir('folder'); file('folder/inner', 'I'); "
PRECONDITIONS = {
    "no such name": ("", "'missing'"),
    "no such directory on the way": ("", "'missing/x'"),
    "a file on the way": ("", "'plain/x'"),
    "a fifo on the way": ("mkfifo('fifo')", "'fifo/x'"),
    "a dangling link on the way": ("symlink('nowhere', 'l')", "'l/x'"),
    "a link to a directory on the way": ("symlink('folder', 'l')", "'l/inner'"),
    "a link to a file": ("symlink('folder/inner', 'l')", "'l'"),
    "a dangling link": ("symlink('nowhere', 'l')", "'l'"),
    "a link to itself": ("symlink('l', 'l')", "'l'"),
    "a loop of links on the way": ("symlink('b', 'a'); symlink('a', 'b')", "'a/x'"),
    "41 links on the way": ("[symlink('folder' if i == 0 else f'l{i - 1}', f'l{i}') for i in range(41)]",
                            "'l40/inner'"),
    # Not 40: a walk that the kernel begins anew, because of a mount somewhere, counts links twice.
    "20 links on the way": ("[symlink('folder' if i == 0 else f'l{i - 1}', f'l{i}') for i in range(20)]",
                            "'l19/inner'"),
    "a name of 256 bytes": ("", "TOO_LONG"),
    "a name of 256 bytes on the way": ("", "TOO_LONG + '/x'"),
    "a name of 255 bytes": ("", "LONG"),
    "a path of 4096 bytes": ("", "'./' * 2047 + 'xy'"),
    "a path of 4095 bytes": ("", "'./' * 2045 + 'plain'"),
    "an empty path": ("", "''"),
    "a slash behind a file": ("", "'plain/'"),
    "a slash behind nothing": ("", "'missing/'"),
    "a slash behind a directory": ("", "'folder/'"),
    "a slash behind a link to a directory": ("symlink('folder', 'l')", "'l/'"),
    "a dot": ("", "'.'"),
    "a dot behind a directory": ("", "'folder/.'"),
    "two dots behind a directory": ("", "'folder/..'"),
    "a directory that was removed": ("dir('gone'); chdir('gone'); rmdir('../gone')", "'x'"),
    "above a directory that was removed": ("dir('gone'); chdir('gone'); rmdir('../gone')", "'../plain'"),
}
POINTERS = ["open", "stat", "mkdir", "unlink", "rmdir", "rename", "link", "symlink", "readlink", "chmod", "chown",
            "truncate", "access", "mknod", "chdir", "getxattr", "setxattr", "listxattr", "removexattr", "statfs",
            "lchown", "creat", "lstat", "execve"]

def _with(text, path):
    return re.sub(r"\bP\b", lambda _: path, text)


ROWS = [Row(call, precondition, _THINGS + setup, _with(text, path))
        for call, text in CALLS.items() for precondition, (setup, path) in PRECONDITIONS.items()]
ROWS += [Row(call, "a directory on the way that may not be searched",
             _THINGS + "dir('shut', 0o600); file('shut/x', 'X'); chmod('.', 0o777)", _with(text, "'shut/x'"),
             user=65534) for call, text in CALLS.items() if call != "name_to_handle_at"]
ROWS += [Row(call, "a bad address", "", f"sys({call!r}, 1, 1, 1)") for call in POINTERS]
