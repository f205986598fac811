#!/usr/bin/env python3
"""The golden files are what the independent enumerator says of every program and model.

    golden.py           exits with 1 if they are not
    golden.py --write   writes them
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent.parent / 'fusefs' / 'models'


def enumerated():
    """{program: lines}"""
    programs = sorted(HERE.glob('*.litmus'))
    done = subprocess.run([sys.executable, '-B', HERE / 'enumerate.py', MODELS, *programs],
                          capture_output=True, text=True, check=True)
    lines = {}
    for line in done.stdout.splitlines():
        lines.setdefault(line.split()[0], []).append(line)
    return lines


def golden():
    return {path.stem: path.read_text().splitlines() for path in (HERE / 'golden').glob('*.golden')}


def main():
    new = enumerated()
    if '--write' in sys.argv:
        for name, lines in new.items():
            (HERE / 'golden' / f'{name}.golden').write_text('\n'.join(lines) + '\n')
        return 0
    old = golden()
    for name in sorted(new.keys() | old.keys()):
        before, now = old.get(name, []), new.get(name, [])
        for line in sorted(set(before) ^ set(now)):
            print('<' if line in before else '>', line)
    print(f'{len(new)} programs, {sum(map(len, new.values()))} sets of outcomes')
    return 0 if old == new and len(new) >= 60 else 1


if __name__ == '__main__':
    sys.exit(main())
