#!/usr/bin/env python3
"""golden.txt is what the independent enumerator says, and holds a line for every program and model."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent.parent / 'fusefs' / 'models'


def enumerated():
    programs = sorted(HERE.glob('*.litmus'))
    done = subprocess.run([sys.executable, '-B', HERE / 'enumerate.py', MODELS, *programs],
                          capture_output=True, text=True, check=True)
    return done.stdout


def main():
    path = HERE / 'golden.txt'
    lines = enumerated()
    if '--write' in sys.argv:
        path.write_text(lines)
        return 0
    old, new = path.read_text().splitlines(), lines.splitlines()
    for line in sorted(set(old) ^ set(new)):
        print('<' if line in old else '>', line)
    programs = len({line.split()[0] for line in new})
    print(f'{programs} programs, {len(new)} sets of outcomes')
    return 0 if old == new and programs >= 60 else 1


if __name__ == '__main__':
    sys.exit(main())
