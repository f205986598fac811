#!/usr/bin/env python3
"""The table of litmus outcomes in docs/crash-models.md is that of the golden files.

    table.py           exits with 1 if it is not
    table.py --write   writes it
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent.parent / 'docs' / 'crash-models.md'
BEGIN = '<!-- written by tests/litmus/table.py -->\n'
END = '<!-- end of the table -->\n'
# In this order, each with a short name.
MODELS = {'posix-minimal': 'minimal', 'posix': 'posix', 'ext4-writeback': 'e4-writeback',
          'ext4-noauto': 'e4-noauto', 'ext4': 'ext4', 'ext4-diolock': 'e4-diolock',
          'ext4-nodelalloc': 'e4-nodelalloc', 'ext4-journal': 'e4-journal', 'xfs': 'xfs',
          'btrfs': 'btrfs', 'f2fs': 'f2fs', 'f2fs-strict': 'f2fs-strict', 'lazyfs': 'lazyfs',
          'prefix-torn': 'prefix-torn', 'strict': 'strict'}
MOST = 9   # Letters in a cell; more are counted.


def about(name):
    first = (HERE / f'{name}.litmus').read_text().splitlines()[0]
    return first.removeprefix('# ').rstrip('.')


def table():
    cells = {}
    for path in (HERE / 'golden').glob('*.golden'):
        for line in path.read_text().splitlines():
            program, model, _, _, *letters = line.split()
            cells.setdefault(program, {})[model] = \
                ' '.join(letters) if len(letters) <= MOST else f'{len(letters)} ways'
    rows = ['| program | ' + ' | '.join(MODELS.values()) + ' |', '|---' * (len(MODELS) + 1) + '|']
    for program in sorted(cells):
        row = cells[program]
        rows.append(f'| **{program}**: {about(program)} | '
                    + ' | '.join(row[model] for model in MODELS) + ' |')
    return '\n'.join(rows) + '\n'


def main():
    text = DOCS.read_text()
    head, rest = text.split(BEGIN)
    current, tail = rest.split(END)
    if '--write' in sys.argv:
        DOCS.write_text(head + BEGIN + table() + END + tail)
        return 0
    if current != table():
        print('the table in docs/crash-models.md is not current: tests/litmus/table.py --write')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
