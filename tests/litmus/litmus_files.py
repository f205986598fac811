"""The text of litmus programs and of model files."""
import pathlib
import re


def read_models(folder):
    texts = {p.stem: p.read_text() for p in pathlib.Path(folder).glob('*.model')}

    def rules(name):
        like = re.search(r'^like: (\S+)', texts[name], re.MULTILINE)
        others = {} if name == 'posix' else rules(like[1] if like else 'posix')
        return others | dict(re.findall(r'^(\S+) = (\S+) \[', texts[name], re.MULTILINE))
    return {name: rules(name) for name in sorted(texts)}


def runs_of(text):
    return b''.join((b'\0' if r[0] == '0' else r[0].encode()) * int(r[2:] or 1) for r in text.split(','))


def show_runs(data):
    runs = [run.group() for run in re.finditer(rb'(.)\1*', data, re.DOTALL)]
    return ','.join((chr(r[0]) if r[0] else '0') + (f'*{len(r)}' if len(r) > 1 else '') for r in runs)


def read_program(path):
    program = dict(tear='page', crash='anywhere', setup=[], run=[], observe=[])
    for line in path.read_text().splitlines():
        words = line.split('#')[0].split()
        if not words or words[0] in ('row:', 'allow'):
            continue
        if words[0] in ('tear:', 'crash:'):
            program[words[0][:-1]] = words[1]
        elif words[0] == 'observe':
            program['observe'].append((words[1], [(w[0], w[2:]) for w in words[2:]]))
        elif words in (['setup'], ['run']):
            section = program[words[0]]
        else:
            section.append(words)
    return program
