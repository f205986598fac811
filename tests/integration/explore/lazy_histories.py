"""Small recorded histories on which lazy exploration is compared with trying every legal state."""

import random

# A check whose verdict is an arbitrary function of what it reads, so that failing states are many
# and lie everywhere: it fails for one checksum in three. One remainder of the three at least is
# neither that of the state before the workload nor that of the final one, which must both pass.
ARBITRARY = """
sum=$(for f in {files}; do if test -e $f; then echo $f; cat $f; fi; done | cksum | cut -c1-6)
test $((sum % 3)) -ne {remainder} || { echo arbitrary; exit 1; }
"""


class History:
    """Commands for the shell; recovery may be empty. `check` can leave {remainder} open."""

    def __init__(self, name, workload, check, recover="", setup="", options=()):
        self.name = name
        self.workload = workload
        self.check = check
        self.recover = recover
        self.setup = setup
        self.options = options

    def arguments(self, remainder=0):
        options = list(self.options)
        if self.setup:
            options += ["--setup", self.setup]
        if self.recover:
            options += ["--recover", self.recover]
        return options + ["--check", self.check.replace("{remainder}", str(remainder))]

    def remainders(self):
        return range(3) if "{remainder}" in self.check else (0,)


def arbitrary(*files):
    return ARBITRARY.replace("{files}", " ".join(files)).strip().replace("\n", "; ", 1).replace("\n", " ")


SHELL = [
    History("replace", "echo new > t && mv t f && echo saved",
            "test -s f || { echo empty or gone; exit 1; }", setup="echo old > f"),
    History("replace synced", "echo new > t && sync t && mv t f && echo saved",
            "grep -q new f || { grep -q old f && exit 0; echo neither; exit 1; }", setup="echo old > f"),
    History("two files", "echo 1 > a && echo 2 > b && sync b && echo done",
            "test ! -s b -o -s a || { echo b without a; exit 1; }"),
    History("promise", "echo 1 > a && sync a && echo one && echo 2 > b && sync b && echo two",
            "grep -q one $TORNFS_PROMISES || exit 0; test -s a || { echo a is lost; exit 1; }"),
    History("directories", "mkdir d && echo x > d/x && mv d e && echo y > e/y",
            "ls e > /dev/null 2>&1 || exit 0; test -e e/x || { echo e without x; exit 1; }"),
    History("links", "ln a b && echo more >> a && rm a",
            arbitrary("a", "b"), setup="echo text > a"),
    History("truncate", "truncate -s 100 f && truncate -s 9000 f && printf tail >> f",
            arbitrary("f"), setup="head -c 9000 /dev/zero | tr '\\0' o > f"),
    History("list", "for n in 1 2 3 4; do echo $n > f$n; done; rm f1",
            "test $(ls | wc -l) -ne 2 || { echo two; exit 1; }"),
    History("recovery", "echo new > t && mv t f && echo saved",
            "test -s f || { echo empty; exit 1; }", setup="echo old > f",
            recover="rm -f t; test -s f || { echo old > g && sync g && mv g f; }; sync f; sync ."),
]

TOOLS = [
    History("journal", "journal append --dir j --group 2 --without sync-records-before-publish < /dev/null",
            "journal verify --dir j --promises {promises}", recover="journal recover --dir j",
            setup="printf 'a\\nb\\n' | journal append --dir j --group 2 > /dev/null"),
    History("journal of one", "echo one | journal append --dir j --group 1 --without sync-frontier-at-open",
            "journal verify --dir j --promises {promises}",
            recover="journal recover --dir j --without sync-frontier-at-open"),
    History("journal group", "printf 'a\\nb\\n' | journal append --dir j --group 2 "
            "--without sync-directory-before-frontier",
            "journal verify --dir j --promises {promises}",
            recover="journal recover --dir j --without sync-directory-before-frontier"),
    History("sqlite", "sqlite3 db 'pragma synchronous=off; insert into t values(1);' && echo one",
            "sqlite3 db 'pragma integrity_check' > /tmp/out 2>&1; grep -qx ok /tmp/out || "
            "{ echo damaged; exit 1; }",
            setup="sqlite3 db 'create table t(x); insert into t values(0);'"),
]


def random_history(seed):
    """A random shell program over few names, and a check that reads some of them."""
    rng = random.Random(seed)
    names = ["a", "b", "d/a", "d/b"]
    lines = []
    for _ in range(rng.randint(3, 6)):
        name, other = rng.sample(names, 2)
        size = rng.choice((1, 40, 4000, 5000))
        lines.append(rng.choice((
            f"printf %{size}s x >> {name}",
            f"printf %{size}s y > {name}",
            f"mv {name} {other} 2> /dev/null",
            f"rm -f {name}",
            f"ln {name} {other} 2> /dev/null",
            f"test ! -e {name} || truncate -s {rng.choice((10, 4096, 6000))} {name}",
            f"test ! -e {name} || sync {name}",
            "sync d",
        )))
    if rng.random() < 0.5:
        lines.insert(rng.randrange(len(lines)), "echo promise")
    lines.append("true")
    recover = ""
    if rng.random() < 0.4:
        one, two = rng.sample(names, 2)
        recover = f"test ! -e {one} || {{ cp {one} d/r && sync d/r && mv d/r {two}; }}; true"
    # sh(1) calls more than one program, one after the other.
    return History(f"random {seed}", "; ".join(lines),
                   arbitrary(*rng.sample(names, rng.randint(1, 3))), recover=recover,
                   setup="mkdir d; echo old > a; echo older > d/b")
