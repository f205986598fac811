#!/usr/bin/env python3
"""A model with a wrong rule is caught: some litmus program allows more or fewer outcomes than it should."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent.parent / 'fusefs' / 'models'
# For each model, rules with an answer that is wrong for it.
WRONG = {
    'ext4': [('order', 'none'), ('order', 'calls'), ('fsync', 'self'), ('fdatasync', 'data'),
             ('fdatasync', 'as-fsync'), ('truncated-tail', 'free'), ('size-after', 'nothing'),
             ('size-after', 'data'), ('size-steps', 'call'), ('size-order', 'journal'),
             ('fresh', 'stale'), ('reuse', 'at-once'), ('replace', 'nothing'), ('replace', 'data'),
             ('rename', 'split'), ('overwrite', 'call'), ('names', 'at-once')],
    'xfs': [('fsync', 'names'), ('fdatasync', 'data-and-new-name'), ('size-after', 'fresh'),
            ('size-steps', 'call'), ('replace', 'size'), ('truncated-tail', 'last')],
    'btrfs': [('fsync', 'last-name'), ('fsync', 'journal'), ('logged-names', 'ordered'),
              ('cross-rename', 'both-names'), ('lost-replacement', 'never'),
              ('lost-replacement', 'may'), ('replace', 'data'), ('overwrite', 'unit'),
              ('truncated-tail', 'first')],
    'posix': [('truncate', 'split'), ('fresh-unit', 'call'), ('tearing', 'never'),
              ('attributes', 'at-once'), ('sizes', 'at-once'), ('data', 'journal')],
}


def golden(model):
    files = (HERE / 'golden').glob('*.golden')
    lines = (line.split() for path in files for line in path.read_text().splitlines())
    return {words[0]: words[3] for words in lines if words[1] == model}


def fingerprints(model, rule, answer, folder):
    path = pathlib.Path(folder) / 'wrong.model'
    path.write_text(f'model: wrong\nabout: {model} with a mistake\nlike: {model}\n\n'
                    f'{rule} = {answer} [heuristic]\n    A mistake.\n')
    tornfs = pathlib.Path(os.environ['TORNFS_BIN']) / 'tornfs'
    done = subprocess.run([tornfs, 'litmus', '--json', '--model', path], capture_output=True,
                          text=True, check=True)
    return {each['program']: each['models'][0]['fingerprint']
            for each in json.loads(done.stdout)['programs']}


def main():
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for model, mistakes in WRONG.items():
            expected = golden(model)
            for rule, answer in mistakes:
                found = fingerprints(model, rule, answer, folder)
                differ = [name for name in expected if found[name] != expected[name]]
                print(f'{model} with {rule} = {answer}: {len(differ)} programs differ')
                if not differ:
                    missed.append((model, rule, answer))
    for mistake in missed:
        print('NOT CAUGHT:', *mistake)
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
