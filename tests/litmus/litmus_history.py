"""Carries a litmus program out: what is live, what is durable, and what is pending in between."""
from litmus_files import runs_of

PAGE, SECTOR, ROOT = 4096, 512, 1


def up(value, unit=PAGE):
    return -(-value // unit) * unit


def apply(cells, e):
    """Cells: ('n', directory, name), ('s', inode), ('m', inode), ('d', inode, sector)."""
    if e['k'] == 'n':
        cells['n', e['ino'], e['name']] = e['child']
    elif e['k'] in 'sm':
        cells[e['k'], e['ino']] = e['value']
    else:
        at = e['lo']
        while at < e['hi']:
            key, end = ('d', e['ino'], at // SECTOR), min(e['hi'], (at // SECTOR + 1) * SECTOR)
            new = e['data'][at - e['lo']:end - e['lo']] if e['data'] else bytes(end - at)
            old = cells.get(key) or bytes(SECTOR)
            cells[key] = old[:at % SECTOR] + new + old[at % SECTOR + end - at:]
            if not e['data'] and not any(cells[key]):
                cells[key] = None
            at = end


def read(cells, ino, lo, hi):
    data = b''.join(cells.get(('d', ino, s)) or bytes(SECTOR)
                    for s in range(lo // SECTOR, up(hi, SECTOR) // SECTOR))
    return data[lo % SECTOR:lo % SECTOR + hi - lo]


def mapped(cells, ino, page):
    return any(cells.get(('d', ino, s)) for s in range(page * 8, page * 8 + 8))


def links(cells, ino):
    return sum(key[0] == 'n' and child == ino for key, child in cells.items())


class History:
    """Carries a program out and keeps what is pending."""

    def __init__(self, rules, tear, cut):
        self.cut = cut   # Makes atoms of what is pending: enumerate.Atoms.
        self.rules, self.tear = rules, 'none' if rules['tearing'] == 'never' else tear
        self.live, self.base, self.types = {}, {}, {ROOT: 'd'}
        self.pending, self.op, self.first_new, self.logged, self.settled = [], 0, ROOT, set(), {}

    def at(self, path):
        ino = ROOT
        for part in path.strip('.').split('/') if path != '.' else []:
            ino = self.live.get(('n', ino, part), 0)
        return ino

    def make(self, k, ino, grp='', role='', **more):
        e = dict(more, k=k, ino=ino, op=self.op, grp=grp, role=role)
        apply(self.live, e)
        self.pending.append(e)
        if {'n': 'names', 's': 'sizes'}.get(k) and self.rules[{'n': 'names', 's': 'sizes'}[k]] == 'at-once' \
                or k == 'm' and self.rules.get('attributes') == 'at-once':
            self.settle([e])
        elif grp == 'trunc' and k == 'd' and self.rules['sizes'] == 'at-once':
            self.settle([p for p in self.pending if p['k'] == 'd' and p['ino'] == ino and p['hi'] > e['lo']])

    def name(self, path, child, grp=''):
        parent = self.at(path.rsplit('/', 1)[0]) if '/' in path else ROOT
        self.make('n', parent, grp, name=path.rsplit('/', 1)[-1], child=child)

    def new(self, path, kind):
        ino = max(self.types) + 1
        self.types[ino] = kind
        self.live['m', ino] = self.base['m', ino] = 0o644
        self.name(path, ino)

    def write(self, ino, lo, data):
        cut = up(lo) if lo % PAGE and lo + len(data) > up(lo) else lo + len(data)
        for begin, end in ((lo, cut), (cut, lo + len(data))):   # As the kernel cuts it.
            if begin < end:
                self.make('d', ino, lo=begin, hi=end, data=data[begin - lo:end - lo])
                if end > self.live.get(('s', ino), 0):
                    self.make('s', ino, role='written', value=end)

    def step(self, words):
        self.op += 1
        call, path, args = words[0], (words + [''])[1], words[2:]
        if call == 'write' and not self.at(path):
            self.new(path, 'c')
            self.op += 1
        ino, size = self.at(path), self.live.get(('s', self.at(path)), 0)
        if call in ('create', 'mkdir', 'symlink'):
            self.new(*((args[0], 'l' + path) if args else (path, call[0].replace('m', 'd'))))
        elif call in ('unlink', 'rmdir', 'link'):
            self.name(args[0] if args else path, ino if args else 0)
        elif call == 'rename':
            self.name(path, 0, 'rename')
            self.name(args[0], ino, 'rename')
        elif call == 'chmod':
            self.make('m', ino, value=int(args[0], 8))
        elif call == 'write':
            self.write(ino, ([int(a[1:]) for a in args if a[0] == '@'] + [size])[0], runs_of(args[0]))
            if args[-1] in ('sync', 'dsync'):
                self.step(['fsync' if args[-1] == 'sync' else 'fdatasync', path])
        elif call == 'copy':
            self.write(self.at(args[0]), 0, read(self.live, ino, 0, size))
        elif call == 'store':
            data, lo = runs_of(args[0]), int(args[1][1:])
            for at in range(0, len(data), PAGE):
                self.op += 1
                self.make('d', ino, lo=lo + at, hi=lo + at + PAGE, data=data[at:at + PAGE])
        elif call == 'truncate':
            new, grp = int(args[0]), 'trunc' if int(args[0]) < size else ''
            self.make('s', ino, grp, value=new)
            if grp and size > up(new):
                self.make('d', ino, grp, lo=up(new), hi=size, data=None)
            if grp and new % PAGE:
                self.make('d', ino, role='tail', lo=new, hi=min(up(new), size), data=None)
        elif call == 'allocate' and len(args) < 3 and int(args[0]) + int(args[1]) > size:
            self.make('s', ino, value=int(args[0]) + int(args[1]))
        elif call == 'punch':
            self.make('d', ino, lo=int(args[0]), hi=min(size, int(args[0]) + int(args[1])), data=None)
        elif call in ('fsync', 'fdatasync', 'sync'):
            self.barrier(call, ino)

    def settle(self, effects):
        for e in effects:
            apply(self.base, e)
            if e['k'] == 'n':
                self.settled[e['ino']] = e['op']
        self.pending = [e for e in self.pending if not any(e is d for d in effects)]

    def barrier(self, call, ino):
        if call == 'sync':
            self.first_new, self.logged = max(self.types) + 1, set()
        elif self.types[ino] == 'c':
            self.logged = self.logged | {ino}
        every = call == 'sync' or self.rules['order'] == 'calls'
        self.settle(self.pending if every else self.scope(call, ino))

    def scope(self, call, ino):
        """What fsync or fdatasync of an inode makes durable."""
        mode, pending = self.rules['fsync'], self.pending
        data_only = call == 'fdatasync' and self.rules['fdatasync'] != 'as-fsync' and self.types[ino] == 'c'
        took = {i for i, e in enumerate(pending) if e['ino'] == ino and (not data_only or e['k'] in 'sd')}
        new_name = self.rules['fdatasync'] == 'data-and-new-name' and not links(self.base, ino)

        def names(of, every):   # Entries that lead to an inode, then those of their directories.
            leads = [i for i, e in enumerate(pending) if e['k'] == 'n' and e['child'] == of]
            for i in leads if every else leads[-1:]:
                if i not in took:
                    took.add(i)
                    names(pending[i]['ino'], False)
        if mode == 'journal' and not data_only:
            took |= {i for i, e in enumerate(pending) if self.journalled(e)}
        elif mode == 'journal' and new_name:
            took |= set([i for i, e in enumerate(pending) if e['k'] == 'n' and e['child'] == ino][:1])
        elif mode in ('names', 'last-name') and (new_name or not data_only):
            names(ino, mode == 'names' and self.types[ino] == 'c')
            past = dict(self.base)
            for i, e in enumerate(pending):
                lost = e['k'] == 'n' and not e['child'] and past.get(('n', e['ino'], e['name'])) == ino
                if lost and mode == 'names' and not data_only:
                    took.add(i)
                    names(e['ino'], False)
                apply(past, e)
        rules = dict(self.rules, fresh='zeros', reuse='after-commit', **{'lost-replacement': 'never'})
        if mode != 'journal':
            rules['order'] = 'none'
        halves = {i for i in took for j in took if pending[i]['grp'] == 'rename'} \
            if rules['rename'] == 'whole' else set()
        took |= {j for j, e in enumerate(pending) for i in halves
                 if e['grp'] == 'rename' and e['op'] == pending[i]['op']}
        atoms = self.cut(self, rules, 'page').atoms
        need, todo = set(), [i for i, a in enumerate(atoms) if any(p[0] in took for p in a['parts'])]
        while todo:
            atom = todo.pop()
            if atom not in need:
                need.add(atom)
                todo += atoms[atom]['needs']
        took |= {p[0] for a in need for p in atoms[a]['parts']
                 if mode != 'last-name' or pending[p[0]]['k'] in 'sd'}
        if mode == 'last-name':   # The log overrides older versions of the names it has.
            cells = {(e['ino'], e['name']): i for i, e in enumerate(pending) if i in took and e['k'] == 'n'}
            took |= {i for i, e in enumerate(pending)
                     if e['k'] == 'n' and i < cells.get((e['ino'], e['name']), 0)}
        return [e for i, e in enumerate(pending) if i in took]

    def journalled(self, e):
        if e['k'] == 's':
            return e['role'] != 'written' or self.rules['size-order'] == 'journal'
        if e['k'] != 'd' or e['grp'] == 'trunc':
            return True
        return self.rules['truncated-tail' if e['role'] == 'tail' else 'data'] in ('whole', 'journal')
