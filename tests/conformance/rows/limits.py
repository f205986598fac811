"""Counts that are large: seconds for each row."""

from run import Row

ROWS = [
    Row("link", "65,000 names of one file", "file('a'); [os.link('a', f'l{i}') for i in range(64999)]",
        "(links_of('a'), linkat('a', 'more'), unlink('l0'), linkat('a', 'more'), linkat('a', 'more2'))",
        ignore=("tree",)),
    Row("mkdir", "more than 65,000 in one directory", "dir('d'); [os.mkdir(f'd/{i}') for i in range(64997)]",
        "(links_of('d'), mkdir('d/a'), links_of('d'), mkdir('d/b'), links_of('d'), mkdir('d/c'), links_of('d'), "
        "mkdir('e'), rename('e', 'd/e'), links_of('d'), rmdir('d/1'), links_of('d/2'), len(names('d')))",
        ignore=("tree",)),
    Row("mkdir", "1,000 within each other", "[(os.mkdir('d' * 200), os.chdir('d' * 200)) for _ in range(1000)]",
        "(opens('f', O_CREAT | O_RDWR), len(attempt(os.getcwd)) > 200000, names(), names('..') == ['d' * 200])",
        ignore=("tree",)),
    Row("names", "20,000 of 255 bytes", "dir('d'); [file('d/' + f'{i:05}' * 51) for i in range(20000)]",
        "(len(names('d')), [os.unlink(e.path) for e in os.scandir('d')][0], names('d'), rmdir('d'))", ignore=("tree",)),
]
