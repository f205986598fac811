#!/usr/bin/env python3
"""What each persistence model allows a litmus program to leave, worked out a second time.

Shares no code with fusefs/core; only the programs and the model files are the same. At every place
of a program its pending effects are cut into atoms with what each needs (docs/crash-models.md has
the rules); every set of atoms that has what it needs is a crash.

    enumerate.py MODELS_DIR FILE...            prints: PROGRAM MODEL COUNT FINGERPRINT LETTERS...
    enumerate.py --show MODEL MODELS_DIR FILE  prints every outcome
"""
import itertools
import pathlib
import sys

from litmus_files import read_models, read_program, runs_of, show_runs
from litmus_history import PAGE, ROOT, History, links, up


class Atoms:
    """The pending effects as atoms: what versions each puts into cells, what it needs, whose it is."""

    def __init__(self, history, rules, tear):
        self.h, self.rules, self.tear = history, rules, tear
        self.base, self.now = dict(history.base), dict(history.base)
        self.atoms, self.newest, self.bundles, self.fresh = [], {}, {}, set()
        self.chain, self.this, self.overtakes = set(), set(), False
        for op, effects in itertools.groupby(history.pending, key=lambda e: e['op']):
            if self.this:
                self.chain = self.this | (self.chain if self.overtakes else set())
            self.op, self.this, self.overtakes, self.replaces = op, set(), False, None
            self.pieces, self.sizes, self.waits, self.size_before = [], [], set(), {}
            self.operation(list(effects))

    def operation(self, effects):
        self.grows = any(e['role'] == 'written' for e in effects)
        if len(effects) > 1 and effects[0]['grp'] == 'rename':
            self.rename(*effects)
        first = [e for e in effects if e['role'] == 'tail' and self.rules['truncated-tail'] == 'first']
        for e in effects:
            if e['grp'] == 'trunc' and e['k'] == 'd':
                self.free(e, e['ino'], e['lo'])
        for e in first:
            self.data(e)
            self.waits |= {piece[2] for piece in self.pieces}
        for e in effects:
            if e['k'] == 'd' and e not in first:
                self.data(e)
            elif e['k'] != 'd' and self.now.get(e['put'][0][0], 0) != e['put'][0][1]:
                self.value(e, *e['put'][0])
            self.now.update(e['put'])
        for e, before in self.sizes:
            self.written(e, before, e['put'][0][1])

    def atom(self, bundle=None, chained=False):
        """A new atom, or that of the op's bundle."""
        if bundle and (self.op, bundle) in self.bundles:
            return self.bundles[self.op, bundle]
        needs = set(self.chain) if chained and not self.overtakes else set()
        self.atoms.append(dict(needs=needs, put=[], of=set()))
        self.bundles[self.op, bundle] = new = len(self.atoms) - 1
        self.this |= {new} if chained else set()
        return new

    def atom_for(self, e):
        order, content, alone = self.rules['order'], e['k'] in 'sd', not e['grp']
        ordered = order == 'calls' or order == 'journal' and self.h.journalled(e)
        written = e['role'] == 'written' or e['k'] == 'd' and alone and e['role'] != 'tail'
        if order == 'journal' and ordered and (not written or self.rules['data'] == 'journal'):
            return self.atom('call', True)
        if order == 'calls' and alone and e['role'] != 'tail' and (not content or self.tear == 'none'):
            return self.atom('call', True)
        if e['role'] == 'tail' and self.rules['truncated-tail'] == 'whole':
            return self.atom('trunc', ordered)
        if self.tear == 'none' and content and alone:
            sized = order == 'journal' and 'journal' in (self.rules['size-order'], self.rules['data'])
            return self.atom('write', ordered or sized and self.grows)
        whole = e['grp'] and self.rules[{'trunc': 'truncate'}.get(e['grp'], e['grp'])] == 'whole'
        return self.atom(e['grp'] if whole else None, ordered)

    def put(self, atom, e, versions):
        self.atoms[atom]['of'].add(e['number'])
        for cell, version in versions:
            self.atoms[atom]['needs'] |= {self.newest.get(cell, atom)} - {atom}
            self.atoms[atom]['put'].append((cell, version))
            self.newest[cell] = atom

    def need(self, atom, others):
        self.atoms[atom]['needs'] |= set(others) - {atom}

    def data(self, e):
        if e['grp'] and self.rules['truncate'] == 'whole':
            return self.put(self.atom_for(e), e, e['put'])
        ino, unit = e['ino'], self.h.unit
        size = self.size_before.setdefault(ino, self.now.get(('s', ino), 0))
        for cell, version in e['put']:
            if (self.now.get(cell) or bytes(unit)) == (version or bytes(unit)):
                continue
            page, block = cell[2] * unit // PAGE, 'inside'
            mapped = self.h.mapped(self.now, ino, page)
            if (ino, page) in self.fresh or not mapped:
                self.fresh.add((ino, page))
                block = 'fresh'
            elif size < (page + 1) * PAGE:
                block = 'tail'
            if self.rules['fresh'] == 'stale' and self.tear != 'none' and not mapped:
                self.put(self.atom(), e, [(cell, b'?' * unit)])
            atom = self.data_atom(e, page, block)
            self.put(atom, e, [(cell, version)])
            self.pieces.append((ino, max(e['lo'], cell[2] * unit), atom, block))

    def data_atom(self, e, page, block):
        whole_tail = e['role'] == 'tail' and self.rules['truncated-tail'] == 'whole'
        if self.tear == 'none' or self.rules['order'] == 'calls' or whole_tail:
            return self.atom_for(e)
        if e['role'] == 'tail':
            atom = self.atom()
            cut = self.bundles.get((self.op, 'call' if self.rules['order'] == 'journal' else 'trunc'))
            self.need(atom, {cut} if self.rules['truncated-tail'] == 'last' else ())
            return atom
        if self.rules['data'] == 'journal':
            if self.grows:
                return self.atom('call', True)
            new = (self.op, ('block', page)) not in self.bundles
            atom = self.atom(('block', page), True)
            if new:
                self.chain = self.this = {atom}
            return atom
        if block == 'fresh':
            unit = self.rules['fresh-unit']
            return self.atom(None if unit == 'page' else ('fresh', page // 2 if unit == 'two-pages' else 0))
        return self.atom('over' if self.rules['overwrite'] == 'call' else None)

    def value(self, e, cell, version):
        before = self.now.get(cell, 0)
        if e['role'] == 'written':
            if self.rules['size-steps'] != 'part' and self.tear != 'none':
                return self.sizes.append((e, before))
            return self.size_step(e, None, version)
        if e['k'] == 'n' and not e['grp']:
            self.overtakes = self.rules['logged-names'] == 'free' and (version or before) in self.h.logged
            if not version and links(self.now, before) == 1:
                self.free(e, before, 0)
        atom = self.atom_for(e)
        self.put(atom, e, e['put'])
        self.need(atom, self.waits)
        rule = self.rules['replace']
        if e is self.replaces and not (rule == 'old-data' and not self.base.get(('s', version), 0)):
            wanted = dict(nothing='', size='s').get(rule, 'sd')
            self.need(atom, {a for key, a in self.newest.items() if key[0] in wanted and key[1] == version})

    def written(self, e, before, value):
        steps, ino = self.rules['size-steps'], e['ino']
        mine = [piece for piece in self.pieces if piece[0] == ino]
        if steps == 'call':
            return self.size_step(e, 0, value)
        if steps == 'tail':
            tail = up(self.size_before[ino]) if any(p[3] == 'tail' for p in mine) else 0
            if before < tail:
                self.size_step(e, 0, min(value, tail))
            return self.size_step(e, 1, value) if value > tail else None
        step = PAGE if steps == 'page' else 2 * PAGE
        for at in range((max(before, min([value] + [p[1] for p in mine])) // step + 1) * step, value, step):
            self.size_step(e, at, at)
        return self.size_step(e, up(value, step), value)

    def size_step(self, e, step, value):
        journal = self.rules['order'] == 'journal' and self.h.journalled(e)
        if step is None:
            atom = self.atom_for(e)
        else:
            atom = self.atom('call' if self.rules['data'] == 'journal' else ('size', step), journal)
        self.put(atom, e, [(('s', e['ino']), value)])
        after, beyond = self.rules['size-after'], value > up(self.size_before.get(e['ino'], 0))
        waits = dict(fresh=after in ('fresh', 'tail-and-fresh', 'data'), inside=False,
                     tail=after == 'data' or beyond and after in ('tail', 'tail-and-fresh'))
        self.need(atom, {a for ino, lo, a, block in self.pieces
                         if ino == e['ino'] and lo < value and waits[block]})

    def rename(self, source, target):
        cell, moved = target['put'][0]
        old = self.now.get(cell, 0)
        self.overtakes = self.rules['logged-names'] == 'free' and moved in self.h.logged
        if not old or old == moved:
            return
        self.replaces = target
        lost = self.rules['lost-replacement'] != 'never' and cell not in self.newest \
            and old in self.h.logged and old >= self.h.first_new and not links(self.base, moved)
        younger = self.h.settled.get(target['ino'], 0) > target['op']
        if lost and self.rules['lost-replacement'] == 'must' and younger:
            self.base[cell] = self.now[cell] = 0
        elif lost or self.rules['rename'] == 'split':
            self.put(self.atom(), target, [(cell, 0)])

    def free(self, e, ino, lo):
        """The blocks of a file from there on may hold other bytes, before they are gone."""
        size, unit = self.now.get(('s', ino), 0), self.h.unit
        if self.rules['reuse'] == 'after-commit' or self.tear == 'none':
            return
        for page in range(lo // PAGE, up(size) // PAGE):
            if self.h.mapped(self.now, ino, page):
                atom = self.atom()
                self.waits.add(atom)
                for at in range(page * PAGE, min(size, (page + 1) * PAGE), unit):
                    shown, cell = min(unit, size - at), ('d', ino, at // unit)
                    rest = (self.now.get(cell) or bytes(unit))[shown:]
                    self.put(atom, e, [(cell, b'?' * shown + rest)])

    def states(self):
        """Every crash, as the cells that differ from the durable ones."""
        left, states = set(range(len(self.atoms))), {frozenset(): {}}
        while left:
            i = next(i for i in sorted(left) if not self.atoms[i]['needs'] & left)
            left.remove(i)
            for kept, cells in list(states.items()):
                if self.atoms[i]['needs'] <= kept:
                    states[kept | {i}] = cells | dict(self.atoms[i]['put'])
        return states.values()


def tree_of(cells, history):
    """{path: (contents, text, marks)}; a directory has no contents."""
    inside, reach, names, todo = {}, [], {}, [(ROOT, '')]
    for cell, child in cells.items():
        if cell[0] == 'n' and child:
            inside.setdefault(cell[1], []).append((cell[2], child))
    while todo:
        directory, at = todo.pop()
        for name, child in inside.get(directory, []):
            reach.append((at + name, child))
            names.setdefault(child, set()).add((directory, name))
            todo += [(child, at + name + '/')] if history.types[child] == 'd' else []
    tree = {}
    for path, ino in sorted(reach):
        kind, mode = history.types[ino], cells['m', ino]
        if kind == 'd':
            tree[path] = None, '/', []
        elif kind[0] == 'l':
            tree[path] = b'-> ', ' -> ' + kind[1:], []
        else:
            data = history.read(cells, ino, 0, cells.get(('s', ino), 0))
            marks = [f' nl{len(names[ino])}', f' m{mode:o}']
            marks += sorted(' x' + cell[2] for cell in cells if cell[:2] == ('x', ino))
            shown = ''.join(mark for mark in marks if mark not in (' nl1', ' m644'))
            tree[path] = data, '=' + show_runs(data) + shown, marks
    return tree


def letter(tree, path, letters):
    if path not in tree:
        return 'A'
    data, _, marks = tree[path]
    for name, value in letters:
        mark = value.replace('mode:', ' m').replace('xattr:', ' x')
        if mark in marks or ':' not in value and data == runs_of(value):
            return name
    return 'D' if data is None else 'E' if not data else 'G' if b'?' in data else 'P' if any(data) else '0'


def outcomes(program, rules):
    """{outcome as text: letters}"""
    history, found = History(rules, program['tear'], Atoms), {}

    def look():
        atoms = Atoms(history, rules, history.tear)
        for cells in {frozenset(state.items()) for state in atoms.states()}:
            tree = tree_of(atoms.base | dict(cells), history)
            text = '; '.join(path + text for path, (_, text, _) in tree.items()) or '(nothing)'
            found[text] = ''.join(letter(tree, *seen) for seen in program['observe'])
    for words in program['setup'] + [['sync']]:
        history.step(words)
    for words in program['run']:
        if program['crash'] == 'anywhere':
            look()
        history.step(words)
    look()
    return found


def fingerprint(lines):
    value = 0xcbf29ce484222325
    for byte in ''.join(line + '\n' for line in sorted(lines)).encode():
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f'{value:016x}'


def main(args):
    if args[0] == '--show':
        program, rules = read_program(pathlib.Path(args[3])), read_models(args[2])[args[1]]
        print('\n'.join(sorted(outcomes(program, rules))))
        return
    for path in map(pathlib.Path, args[1:]):
        program = read_program(path)
        for model, rules in read_models(args[0]).items():
            found = outcomes(program, rules)
            letters = ' '.join(sorted(set(found.values())))
            print(path.stem, model, len(found), fingerprint(found), letters, flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
