"""Shared by the tests of inventories and tiers: the program is asked, what it should not have answered is kept and told
at the end."""
import os
import subprocess

G = os.environ.get('GPUTIER', './gputier')
failures = []


def expect(ok, what):
    if not ok:
        failures.append(what)


def run(*args, code=0, prefix=(), **kw):
    """The run, its texts as bytes unless text=True; code: the exit status that is expected, None: any."""
    p = subprocess.run([*prefix, G, *map(str, args)], capture_output=True, timeout=120, check=False, **kw)
    told = p.stderr if isinstance(p.stderr, str) else p.stderr.decode(errors='replace')
    expect(code in (None, p.returncode), f'{args}: exit {p.returncode}, expected {code}: {told[-300:]}')
    return p


def read_terminal(fd):
    """What a program writes to its terminal until it ends."""
    text = b''
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            piece = b''
        if not piece:
            return text
        text += piece


def verdict():
    """Tells what failed; the exit status."""
    for f in failures:
        print('FAIL', f)
    print(f'{len(failures)} failures')
    return 1 if failures else 0
