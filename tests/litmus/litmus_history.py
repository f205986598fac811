"""Carries a litmus program out: what is live, what is durable, and what is pending in between.

A cell is ('n', directory, name), ('s', inode), ('m', inode), ('x', inode, key) or ('d', inode, unit).
An effect puts new versions into cells; one of data is all of its unit, and None where no block is.
"""
from litmus_files import runs_of

PAGE, ROOT = 4096, 1


def up(value, unit=PAGE):
    return -(-value // unit) * unit


def links(cells, ino):
    return sum(cell[0] == 'n' and child == ino for cell, child in cells.items())


class History:
    def __init__(self, rules, tear, cut):
        self.cut = cut   # Makes atoms of what is pending: enumerate.Atoms.
        self.rules, self.tear = rules, 'none' if rules['tearing'] == 'never' else tear
        self.unit = 512 if tear == 'sector' else PAGE
        self.live, self.base, self.types = {}, {}, {ROOT: 'd'}
        self.pending, self.op, self.made, self.first_new = [], 0, 0, ROOT
        self.logged, self.settled = set(), {}
        self.unnamed = {}   # O_TMPFILE: inode by what the program calls it.

    def at(self, path):
        if path in self.unnamed:
            return self.unnamed[path]
        ino = ROOT
        for part in path.strip('.').split('/') if path != '.' else []:
            ino = self.live.get(('n', ino, part), 0)
        return ino

    def read(self, cells, ino, lo, hi):
        units = range(lo // self.unit, up(hi, self.unit) // self.unit)
        data = b''.join(cells.get(('d', ino, unit)) or bytes(self.unit) for unit in units)
        return data[lo % self.unit:lo % self.unit + hi - lo]

    def mapped(self, cells, ino, page):
        per_page = PAGE // self.unit
        return any(cells.get(('d', ino, page * per_page + i)) for i in range(per_page))

    def make(self, put, grp='', role='', **more):
        kind, ino = put[0][0][:2]
        self.made += 1
        e = dict(more, put=put, k=kind, ino=ino, op=self.op, grp=grp, role=role, number=self.made)
        self.live.update(put)
        self.pending.append(e)
        if self.rules[dict(n='names', m='attributes', x='attributes').get(kind, 'sizes')] == 'at-once':
            if kind != 'd':
                self.settle({e['number']})
            elif grp == 'trunc':
                self.settle({p['number'] for p in self.pending
                             if p['k'] == 'd' and p['ino'] == ino and p['hi'] > e['lo']})

    def name(self, path, child, grp=''):
        parent = self.at(path.rsplit('/', 1)[0]) if '/' in path else ROOT
        self.make([(('n', parent, path.rsplit('/', 1)[-1]), child)], grp, child=child)

    def bear(self, kind):
        ino = max(self.types) + 1
        self.types[ino] = kind
        self.live['m', ino] = self.base['m', ino] = 0o644
        return ino

    def new(self, path, kind):
        self.name(path, self.bear(kind))

    def data(self, ino, lo, hi, data=None, grp='', role=''):
        put = []
        for unit in range(lo // self.unit, up(hi, self.unit) // self.unit):
            start, old = unit * self.unit, self.live.get(('d', ino, unit)) or bytes(self.unit)
            begin, end = max(lo, start), min(hi, start + self.unit)
            new = data[begin - lo:end - lo] if data else bytes(end - begin)
            new = old[:begin - start] + new + old[end - start:]
            put.append((('d', ino, unit), new if data or any(new) else None))
        self.make(put, grp, role, lo=lo, hi=hi)

    def write(self, ino, lo, data):
        cut = up(lo) if lo % PAGE and lo + len(data) > up(lo) else lo + len(data)
        for begin, end in ((lo, cut), (cut, lo + len(data))):   # As the kernel cuts it.
            if begin < end:
                self.data(ino, begin, end, data[begin - lo:end - lo])
                if end > self.live.get(('s', ino), 0):
                    self.make([(('s', ino), end)], role='written')

    def step(self, words):
        self.op += 1
        call, path, args = words[0], (words + [''])[1], words[2:]
        if call == 'write' and not self.at(path):
            self.new(path, 'c')
            self.op += 1
        ino, size = self.at(path), self.live.get(('s', self.at(path)), 0)
        if call in ('create', 'mkdir', 'symlink'):
            self.new(*((args[0], 'l' + path) if args else (path, call[0].replace('m', 'd'))))
        elif call == 'tmpfile':
            self.unnamed[path] = self.bear('c')
        elif call in ('unlink', 'rmdir', 'link'):
            self.name(args[0] if args else path, ino if args else 0)
        elif call == 'rename':
            self.name(path, 0, 'rename')
            self.name(args[0], ino, 'rename')
        elif call == 'chmod':
            self.make([(('m', ino), int(args[0], 8))])
        elif call == 'setxattr':
            self.make([(('x', ino, args[0]), args[1])])
        elif call == 'write':
            self.write(ino, ([int(a[1:]) for a in args if a[0] == '@'] + [size])[0], runs_of(args[0]))
            if args[-1] in ('sync', 'dsync'):
                self.step(['fsync' if args[-1] == 'sync' else 'fdatasync', path])
        elif call == 'copy':
            self.write(self.at(args[0]), 0, self.read(self.live, ino, 0, size))
        elif call == 'store':
            data, lo = runs_of(args[0]), int(args[1][1:])
            for at in range(0, len(data), PAGE):
                self.op += 1
                self.data(ino, lo + at, lo + at + PAGE, data[at:at + PAGE])
        elif call == 'truncate':
            new, grp = int(args[0]), 'trunc' if int(args[0]) < size else ''
            self.make([(('s', ino), new)], grp)
            if grp and size > up(new):
                self.data(ino, up(new), size, grp=grp)
            if grp and new % PAGE:
                self.data(ino, new, min(up(new), size), role='tail')
        elif call == 'allocate' and len(args) < 3 and int(args[0]) + int(args[1]) > size:
            self.make([(('s', ino), int(args[0]) + int(args[1]))])
        elif call == 'punch':
            self.data(ino, int(args[0]), min(size, int(args[0]) + int(args[1])))
        elif call in ('fsync', 'fdatasync', 'sync'):
            self.barrier(call, ino)

    def settle(self, numbers):
        for e in self.pending:
            if e['number'] in numbers:
                self.base.update(e['put'])
                self.settled[e['ino']] = e['op'] if e['k'] == 'n' else self.settled.get(e['ino'], 0)
        self.pending = [e for e in self.pending if e['number'] not in numbers]

    def barrier(self, call, ino):
        if call == 'sync':
            self.first_new, self.logged = max(self.types) + 1, set()
        elif self.types[ino] == 'c':
            self.logged = self.logged | {ino}
        every = call == 'sync' or self.rules['order'] == 'calls'
        self.settle({e['number'] for e in self.pending} if every else self.scope(call, ino))

    def scope(self, call, ino):
        """The numbers of what fsync or fdatasync of an inode makes durable."""
        mode, pending = self.rules['fsync'], self.pending
        data_only = call == 'fdatasync' and self.rules['fdatasync'] != 'as-fsync' and self.types[ino] == 'c'
        took = {e['number'] for e in pending if e['ino'] == ino and (not data_only or e['k'] in 'sd')}
        entries = [e for e in pending if e['k'] == 'n']
        new_name = self.rules['fdatasync'] == 'data-and-new-name' and not links(self.base, ino)

        def take(e):   # And the directories above, where they are new.
            if e['number'] not in took:
                took.add(e['number'])
                if not links(self.base, e['ino']):
                    take_names(e['ino'], False)

        def take_names(of, every):
            leads = [e for e in entries if e['child'] == of]
            for e in leads if every else leads[-1:]:
                take(e)
        if mode == 'journal':
            took |= {e['number'] for e in pending if not data_only and self.journalled(e)}
            took |= set([e['number'] for e in entries if data_only and new_name and e['child'] == ino][:1])
        elif mode != 'self' and (new_name or not data_only):
            take_names(ino, mode == 'names' and self.types[ino] == 'c')
            past = dict(self.base)
            for e in entries:
                lost = not e['child'] and past.get(e['put'][0][0]) == ino
                if lost and mode == 'names' and not data_only:
                    take(e)
                past.update(e['put'])
        took = self.closed(took)
        if mode == 'last-name':   # The log overrides older versions of the names it has.
            newest = {e['put'][0][0]: e['number'] for e in entries if e['number'] in took}
            took |= {e['number'] for e in entries if e['number'] < newest.get(e['put'][0][0], 0)}
        return took

    def closed(self, took):
        """With what is tied to it: other halves of renames, and what the rules about contents require."""
        mode, tied = self.rules['fsync'], self.rules['rename'] == 'whole'
        rules = dict(self.rules, fresh='zeros', reuse='after-commit') | {'lost-replacement': 'never'}
        if mode != 'journal':
            rules['order'] = 'none'
        if rules['cross-rename'] == 'new-name':
            rules['rename'] = 'split'
        atoms, before = self.cut(self, rules, 'page').atoms, None
        while took != before:
            before = set(took)
            halves = [e for e in self.pending if tied and e['grp'] == 'rename']
            took |= {e['number'] for half in halves for e in halves
                     if half['number'] in took and e['op'] == half['op'] and not self.alone(half, e)}
            need, todo = set(), [i for i, atom in enumerate(atoms) if atom['of'] & took]
            while todo:
                i = todo.pop()
                todo += atoms[i]['needs'] - need
                need.add(i)
            took |= {e['number'] for e in self.pending for i in need if e['number'] in atoms[i]['of']
                     and (mode != 'last-name' or e['k'] in 'sd')}
        return took

    def alone(self, half, other):
        """Whether the log has one half of a rename without the other."""
        return self.rules['cross-rename'] == 'new-name' and half['ino'] != other['ino'] \
            and not other['child'] and self.types[half['child']] != 'd'

    def journalled(self, e):
        if e['k'] == 's':
            return e['role'] != 'written' or self.rules['size-order'] == 'journal'
        if e['k'] != 'd' or e['grp'] == 'trunc':
            return True
        return self.rules['truncated-tail' if e['role'] == 'tail' else 'data'] in ('whole', 'journal')
