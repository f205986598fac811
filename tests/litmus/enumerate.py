#!/usr/bin/env python3
"""What each persistence model allows a litmus program to leave, worked out a second time.

Shares no code with fusefs/core; only the programs and the model files are the same. At every place
of a program its pending effects are cut into atoms with what each needs (docs/crash-models.md says
the rules); every set of atoms that has what it needs is a crash.

    enumerate.py MODELS_DIR FILE...            prints: PROGRAM MODEL COUNT FINGERPRINT LETTERS...
    enumerate.py --show MODEL MODELS_DIR FILE  prints every outcome
"""
import itertools
import pathlib
import sys

from litmus_files import read_models, read_program, runs_of, show_runs
from litmus_history import PAGE, ROOT, SECTOR, History, apply, links, mapped, read, up


class Atoms:
    """The pending effects as atoms: what each needs, and parts (place, effect, atom hiding it)."""

    def __init__(self, history, rules, tear):
        self.h, self.rules, self.tear = history, rules, tear
        self.unit = SECTOR if tear == 'sector' else PAGE
        self.base, self.now = dict(history.base), dict(history.base)
        self.atoms, self.newest, self.bundles, self.fresh = [], {}, {}, set()
        self.chain, self.this, self.overtakes = set(), set(), False
        pending = list(enumerate(history.pending))
        for op, group in itertools.groupby(pending, key=lambda pair: pair[1]['op']):
            if self.this:
                self.chain = self.this | (self.chain if self.overtakes else set())
            self.op, self.this, self.overtakes, self.replaces = op, set(), False, None
            self.pieces, self.sizes, self.waits, self.size_before = [], [], set(), {}
            self.operation(list(group))

    def operation(self, effects):
        self.grows = any(e['role'] == 'written' for _, e in effects)
        if len(effects) > 1 and effects[0][1]['grp'] == 'rename':
            self.rename(*effects[0], *effects[1])
        if effects[0][1]['grp'] == 'trunc':
            for i, e in effects:
                if e['grp'] == 'trunc' and e['k'] == 'd':
                    self.free(i, e['ino'], e['lo'])
                if e['role'] == 'tail' and self.rules['truncated-tail'] == 'first':
                    self.data(i, e)
                    self.waits |= {piece[2] for piece in self.pieces}
        for i, e in effects:
            cell = (e['k'], e['ino'], e['name']) if e['k'] == 'n' else (e['k'], e['ino'])
            if e['k'] == 'd':
                if e['role'] != 'tail' or self.rules['truncated-tail'] != 'first':
                    self.data(i, e)
            elif self.now.get(cell, 0) != e.get('value', e.get('child')):
                self.value(i, e, cell)
            apply(self.now, e)
        for i, e, before in self.sizes:
            self.written(i, e, before)

    def atom(self, bundle=None, chained=False):
        if bundle and (self.op, bundle) in self.bundles:
            return self.bundles[self.op, bundle]
        needs = set(self.chain) if chained and not self.overtakes else set()
        self.atoms.append(dict(needs=needs, parts=[]))
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

    def put(self, atom, i, e, cells, hidden_by=None):
        self.atoms[atom]['parts'].append((i, e, hidden_by))
        for cell in cells:
            self.atoms[atom]['needs'] |= {self.newest.get(cell, atom)} - {atom}
            self.newest[cell] = atom

    def units(self, e):
        return [('d', e['ino'], u) for u in range(e['lo'] // self.unit, up(e['hi'], self.unit) // self.unit)]

    def stale(self, i, ino, lo, length):
        atom, e = self.atom(), dict(k='d', ino=ino, lo=lo, hi=lo + length, data=b'?' * length)
        self.atoms[atom]['parts'].append((i, e, None))
        return atom

    def data(self, i, e):
        if e['grp'] and self.rules['truncate'] == 'whole':
            return self.put(self.atom_for(e), i, e, self.units(e))
        size = self.size_before.setdefault(e['ino'], self.now.get(('s', e['ino']), 0))
        for _, ino, unit in self.units(e):
            lo, hi = max(e['lo'], unit * self.unit), min(e['hi'], (unit + 1) * self.unit)
            data = e['data'][lo - e['lo']:hi - e['lo']] if e['data'] else bytes(hi - lo)
            if read(self.now, ino, lo, hi) == data:
                continue
            page, block = lo // PAGE, 'inside'
            if (ino, page) in self.fresh or not mapped(self.now, ino, page):
                self.fresh.add((ino, page))
                block = 'fresh'
            elif size < (page + 1) * PAGE:
                block = 'tail'
            stale = self.rules['fresh'] == 'stale' and self.tear != 'none' \
                and not mapped(self.now, ino, page) and self.stale(i, ino, unit * self.unit, self.unit)
            atom = self.data_atom(e, page, block)
            if stale is not False:
                self.atoms[stale]['needs'] |= {self.newest.get(('d', ino, unit), stale)} - {stale}
            self.put(atom, i, dict(e, lo=lo, hi=hi, data=e['data'] and data), [('d', ino, unit)])
            if stale is not False:
                self.atoms[stale]['parts'] = [p[:2] + (atom,) for p in self.atoms[stale]['parts']]
                self.atoms[atom]['needs'].add(stale)
            self.pieces.append((ino, lo, atom, block))

    def data_atom(self, e, page, block):
        if self.tear == 'none' or self.rules['order'] == 'calls':
            return self.atom_for(e)
        if e['role'] == 'tail':
            if self.rules['truncated-tail'] == 'whole':
                return self.atom_for(e)
            atom = self.atom()
            cut = self.bundles.get((self.op, 'call' if self.rules['order'] == 'journal' else 'trunc'))
            self.atoms[atom]['needs'] |= {cut} if self.rules['truncated-tail'] == 'last' else set()
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

    def value(self, i, e, cell):
        before = self.now.get(cell, 0)
        if e['role'] == 'written':
            if self.rules['size-steps'] != 'part' and self.tear != 'none':
                return self.sizes.append((i, e, before))
            return self.size_step(i, e, None, e['value'])
        if e['k'] == 'n' and not e['child'] and not e['grp'] and links(self.now, before) == 1:
            self.free(i, before, 0)
        atom = self.atom_for(e)
        self.put(atom, i, e, [cell])
        self.atoms[atom]['needs'] |= self.waits - {atom}
        rule = self.rules['replace']
        if i == self.replaces and not (rule == 'old-data' and not self.base.get(('s', e['child']), 0)):
            wanted = dict(nothing='', size='s').get(rule, 'sd')
            self.atoms[atom]['needs'] |= {
                a for key, a in self.newest.items() if key[0] in wanted and key[1] == e['child']} if wanted else set()

    def written(self, i, e, before):
        value, steps, ino = e['value'], self.rules['size-steps'], e['ino']
        mine = [piece for piece in self.pieces if piece[0] == ino]
        if steps == 'call':
            return self.size_step(i, e, 0, value)
        if steps == 'tail':
            tail = up(self.size_before[ino]) if any(p[3] == 'tail' for p in mine) else 0
            if before < tail:
                self.size_step(i, e, 0, min(value, tail))
            return self.size_step(i, e, 1, value) if value > tail else None
        step = PAGE if steps == 'page' else 2 * PAGE
        for at in range((max(before, min([value] + [p[1] for p in mine])) // step + 1) * step, value, step):
            self.size_step(i, e, at, at)
        return self.size_step(i, e, up(value, step), value)

    def size_step(self, i, e, step, value):
        journal = self.rules['order'] == 'journal' and self.h.journalled(e)
        if step is None:
            atom = self.atom_for(e)
        elif self.rules['data'] == 'journal':
            atom = self.atom('call', journal)
        else:
            atom = self.atom(('size', step), journal)
        self.put(atom, i, dict(e, value=value), [('s', e['ino'])])
        after, beyond = self.rules['size-after'], value > up(self.size_before.get(e['ino'], 0))
        waits = dict(fresh=after in ('fresh', 'tail-and-fresh', 'data'), inside=False,
                     tail=after == 'data' or beyond and after in ('tail', 'tail-and-fresh'))
        self.atoms[atom]['needs'] |= {a for ino, lo, a, block in self.pieces
                                      if ino == e['ino'] and lo < value and waits[block]} - {atom}

    def rename(self, i, source, j, target):
        cell = ('n', target['ino'], target['name'])
        old, moved = self.now.get(cell, 0), target['child']
        self.overtakes = self.rules['logged-rename'] == 'free' and moved in self.h.logged
        if not old or old == moved:
            return
        self.replaces = j
        lost = self.rules['lost-replacement'] if cell not in self.newest and old in self.h.logged \
            and old >= self.h.first_new and not links(self.base, moved) \
            and self.h.settled.get(target['ino'], 0) > target['op'] else 'never'
        if self.rules['rename'] == 'split' or lost == 'may':
            self.put(self.atom(), j, dict(target, child=0), [cell])
        if lost == 'must':
            self.base[cell] = self.now[cell] = 0

    def free(self, i, ino, lo):
        if self.rules['reuse'] == 'at-once' and self.tear != 'none':
            size = self.now.get(('s', ino), 0)
            for page in range(lo // PAGE, up(size) // PAGE):
                if mapped(self.now, ino, page):
                    atom = self.stale(i, ino, page * PAGE, min(PAGE, size - page * PAGE))
                    self.atoms[atom]['needs'] |= {
                        a for key, a in self.newest.items()
                        if key[:2] == ('d', ino) and key[2] * self.unit // PAGE == page}
                    self.waits.add(atom)

    def states(self):
        """Every crash, as the cells that differ from the durable ones. Atoms that need nothing of each
        other are independent, so their sets are worked out apart."""
        group, order = list(range(len(self.atoms))), []
        while len(order) < len(self.atoms):
            order += [i for i, atom in enumerate(self.atoms)
                      if i not in order and atom['needs'] <= set(order)]
        for i, atom in enumerate(self.atoms):
            for j in atom['needs']:
                a, b = group[i], group[j]
                group = [b if g == a else g for g in group]
        alone = []
        for g in sorted(set(group)):
            sets = [frozenset()]
            for i in [i for i in order if group[i] == g]:
                sets += [s | {i} for s in sets if self.atoms[i]['needs'] <= s]
            alone.append({frozenset(self.cells(s).items()) for s in sets})
        for choice in itertools.product(*alone):
            yield dict(itertools.chain(*choice))

    def cells(self, kept):
        cells = Over(self.base)
        parts = sorted(((i, a, e) for a in kept for i, e, hidden_by in self.atoms[a]['parts']
                        if hidden_by not in kept), key=lambda part: part[:2])
        for _, _, e in parts:
            apply(cells, e)
        return cells


class Over(dict):
    """Cells over others that stay as they are."""

    def __init__(self, under):
        super().__init__()
        self.under = under

    def get(self, key, default=None):
        return self[key] if key in self else self.under.get(key, default)


def tree_of(cells, types):
    """[(path, contents, text)]; a directory has no contents."""
    inside, reach, todo, lead = {}, [], [(ROOT, '')], {}
    for key, child in cells.items():
        if key[0] == 'n' and child:
            inside.setdefault(key[1], []).append((key[2], child))
    while todo:
        directory, at = todo.pop()
        for name, child in inside.get(directory, []):
            reach.append((at + name, child))
            lead.setdefault(child, set()).add((directory, name))
            if types[child] == 'd':
                todo.append((child, at + name + '/'))
    tree = []
    for path, ino in sorted(reach):
        if types[ino] == 'd':
            tree.append((path, None, '/', 0))
        elif types[ino][0] == 'l':
            tree.append((path, b'-> ', ' -> ' + types[ino][1:], 0))
        else:
            data, mode = read(cells, ino, 0, cells.get(('s', ino), 0)), cells['m', ino]
            tail = (f' nl{len(lead[ino])}' if len(lead[ino]) > 1 else '') + (f' m{mode:o}' if mode != 0o644 else '')
            tree.append((path, data, '=' + show_runs(data) + tail, mode))
    return tree


def letter(tree, path, letters):
    for at, data, _, mode in tree:
        if at == path:
            for name, value in letters:
                if value == f'mode:{mode:o}' or ':' not in value and data == runs_of(value):
                    return name
            return 'D' if data is None else 'E' if not data else 'G' if b'?' in data \
                else 'P' if any(data) else '0'
    return 'A'


def outcomes(program, rules):
    """{outcome as text: letters}"""
    history = History(rules, program['tear'], Atoms)
    for words in program['setup'] + [['sync']]:
        history.step(words)
    found = {}

    def look():
        atoms = Atoms(history, rules, history.tear)
        for state in atoms.states():
            tree = tree_of({**atoms.base, **state}, history.types)
            text = '; '.join(path + text for path, _, text, _ in tree) or '(nothing)'
            if text not in found:
                found[text] = ''.join(letter(tree, *seen) for seen in program['observe'])
    if program['crash'] == 'anywhere':
        look()
    for words in program['run']:
        history.step(words)
        if program['crash'] == 'anywhere':
            look()
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
    models = read_models(args[0])
    for path in map(pathlib.Path, args[1:]):
        program = read_program(path)
        for model, rules in models.items():
            found = outcomes(program, rules)
            letters = ' '.join(sorted(set(found.values())))
            print(path.stem, model, len(found), fingerprint(found), letters, flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
