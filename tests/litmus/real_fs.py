#!/usr/bin/env python3
"""Every tree that a real filesystem left after a crash is allowed by the model of its configuration.

Reads the programs of tests/data/real-fs-outcomes.json, has `tornfs litmus` run each, and compares.
Prints for each model how many of the outcomes it allows were seen.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from litmus_files import runs_of

DATA = pathlib.Path(__file__).parent.parent / 'data' / 'real-fs-outcomes.json'
# Configurations without a model of their own.
MODELS = {'ext4-wb-nodelalloc': 'ext4-writeback'}
NOISE = {('ARVR-fsync', 'ext4-noauto', '{f=F[o*10000]}')}


def step_text(step):
    call, name, args = step[0], step[1] if len(step) > 1 else '.', step[2:]
    if call == 'mk':
        byte, count = (args + ['o', 4096][len(args):])[:2]
        return f'write {name} {byte}*{count}'
    if call == 'op':
        return f'truncate {name} 0' if args and args[0] & os.O_TRUNC else ''
    if call == 'w':
        return f'write {name} {args[0]}*{args[1]}' + (f' @{args[2]}' if len(args) > 2 else '')
    if call == 'tr':
        return f'truncate {name} {args[0]}'
    if call == 'posix_fallocate':
        return f'allocate {name} {args[0]} {args[1]}'
    if call == 'mark':
        return ''
    words = {'creat': 'create', 'ren': 'rename', 'unl': 'unlink', 'fsyncdir': 'fsync'}
    return ' '.join([words.get(call, call), name] + [str(a) for a in args])


def litmus_text(program, at_end):
    lines = ['crash: end'] if at_end else []
    for section, steps in (('setup', program['setup']), ('run', program['main'])):
        lines += [section] + ['  ' + text for text in map(step_text, steps) if text]
    return '\n'.join(lines) + '\n'


def real_tree(text):
    """{path: (contents or None, marks)}"""
    tree = {}
    for part in filter(None, text[1:-1].split('; ')):
        path, rest = part.split('=', 1)
        match = re.fullmatch(r'F\[(.*)\](.*)', rest)
        tree[path] = (None, '') if rest == 'D' else (
            runs_of(match[1].replace(' ', ',')) if match[1] else b'', match[2].strip())
    return tree


def model_tree(text):
    tree = {}
    for part in text.split('; ') if text != '(nothing)' else []:
        if part.endswith('/'):
            tree[part[:-1]] = (None, '')
            continue
        path, rest = part.split('=', 1)
        contents, _, marks = rest.partition(' ')
        tree[path] = (runs_of(contents) if contents else b'', marks)
    return tree


def same_bytes(allowed, real):
    """Old contents of the disk (`?`) stand for any bytes."""
    if allowed is None or real is None or len(allowed) != len(real):
        return allowed is real
    at = 0
    for stale in re.finditer(rb'\?+', allowed):
        if allowed[at:stale.start()] != real[at:stale.start()]:
            return False
        at = stale.end()
    return allowed[at:] == real[at:]


def allows(allowed, real):
    return allowed.keys() == real.keys() and all(
        allowed[path][1] == real[path][1] and same_bytes(allowed[path][0], real[path][0])
        for path in real)


def run_tornfs(text, models):
    options = [word for model in models for word in ('--model', model)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'program.litmus'
        path.write_text(text)
        tornfs = pathlib.Path(os.environ['TORNFS_BIN']) / 'tornfs'
        done = subprocess.run([tornfs, 'litmus', '--json', *options, path], capture_output=True,
                              text=True)
    if done.returncode != 0:
        sys.exit(f'tornfs litmus fails on\n{text}{done.stderr}')
    models = json.loads(done.stdout)['programs'][0]['models']
    return {each['model']: [model_tree(tree) for tree in each['outcomes']] for each in models}


def main(run=run_tornfs):
    failures, noise, trees = [], set(), 0
    seen_of, ratios = {}, {}
    for program in json.loads(DATA.read_text()):
        models = sorted({MODELS.get(name, name) for name in program['seen']})
        places = {False} | {tree['after_done'] for seen in program['seen'].values() for tree in seen}
        allowed = {at_end: run(litmus_text(program, at_end), models) for at_end in places}
        for configuration, seen in program['seen'].items():
            model = MODELS.get(configuration, configuration)
            hit = set()
            for tree in seen:
                trees += 1
                real = real_tree(tree['tree'])
                matching = any(allows(each, real) for each in allowed[tree['after_done']][model])
                key = (program['name'], configuration, tree['tree'])
                if key in NOISE and tree['after_done']:
                    noise.add(key)
                elif not matching:
                    failures.append(f"{key[0]}: {configuration} left {key[2]}"
                                    + (' at the end' if tree['after_done'] else ''))
                hit |= {i for i, each in enumerate(allowed[False][model]) if allows(each, real)}
            seen_of.setdefault(model, {}).setdefault(program['name'], set()).update(hit)
            ratios.setdefault(model, {})[program['name']] = len(allowed[False][model])
    print(f'{trees} trees; {len(failures)} not allowed')
    for model, programs in sorted(seen_of.items()):
        counts = [(len(hit), ratios[model][name]) for name, hit in programs.items()]
        share = sum(h for h, _ in counts) / sum(n for _, n in counts)
        median = statistics.median(n / max(h, 1) for h, n in counts)
        print(f'{model:16} {len(counts)} programs, {sum(n for _, n in counts)} outcomes allowed, '
              f'{share:.0%} of them seen, median {median:.1f} allowed for one seen')
    for failure in failures:
        print('NOT ALLOWED', failure)
    for key in NOISE - noise:
        print('no longer in the data:', key)
    return 1 if failures or noise != NOISE else 0


if __name__ == '__main__':
    sys.exit(main())
