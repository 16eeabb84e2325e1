#!/usr/bin/env python3
"""The arrows between the folders and the purity of the planner, as README.md (Layout) says:
tui -> include; pricing -> include; planner -> include. planner/ outside bench/ opens no file, knows no
clock and no environment: read from its include lines and, with nm, from its objects. The fuzz targets of sources
stand in for staging_put.c as a whole: one function of it more and none of them links."""
import os
import re
import subprocess
import sys

failures = []
SYSTEM_FORBIDDEN = re.compile(r'<(sqlite3|curl/.*|n?curses|time|sys/time|unistd|fcntl|dirent|sys/stat|pthread|signal)\.h>|<sqlite3.h>')
SYMBOLS = re.compile(r'^(f?open(64)?|creat|read|write|time|clock_gettime|gettimeofday|getenv|secure_getenv|v?f?printf|puts|putchar|'
                     r'perror|fwrite|fputs|fread|rand|random|srand|exit|abort_program|sqlite3_.*|curl_.*|initscr|system|localtime.*|gmtime.*)$')


def sources(top):
    for folder, _, names in os.walk(top):
        for n in names:
            if n.endswith(('.c', '.h')):
                yield os.path.join(folder, n)


def check_includes():
    n = 0
    for top in ('planner', 'pricing', 'tui', 'include'):
        for path in sources(top):
            for number, line in enumerate(open(path, encoding='utf-8'), 1):
                m = re.match(r'\s*#\s*include\s+("([^"]+)"|<[^>]+>)', line)
                if not m:
                    continue
                n += 1
                name = m.group(2)
                if name and not name.startswith('gputier/'):
                    target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                    if not target.startswith(top + '/'):
                        failures.append(f'{path}:{number}: {top} may not include {target}')
                    elif not name.endswith(('.sql.h', '.cl.h', '.ptx.h', 'store/parsers.h')) and not os.path.exists(target):  # made by the build
                        failures.append(f'{path}:{number}: {target} does not exist')
                pure = top == 'planner' and not path.startswith('planner/bench/')
                if pure and SYSTEM_FORBIDDEN.search(m.group(1)):
                    failures.append(f'{path}:{number}: the planner is pure, {m.group(1)} is not')
    return n


def check_symbols(build):
    n = 0
    for folder, _, names in os.walk(os.path.join(build, 'planner')):
        if folder.endswith('/bench'):
            continue
        for name in names:
            if not name.endswith('.o'):
                continue
            n += 1
            out = subprocess.run(['nm', '-u', os.path.join(folder, name)], capture_output=True, text=True).stdout
            for line in out.splitlines():
                symbol = line.split()[-1].split('@')[0]
                if SYMBOLS.match(symbol):
                    failures.append(f'{folder}/{name}: uses {symbol}')
    return n


def functions(path):
    return set(re.findall(r'^[a-z].*?\b(staging_\w+)\(', open(path, encoding='utf-8').read(), re.M))


def check_fuzz_stand_in():
    real, stand_in = functions('pricing/store/staging_put.c'), functions('tests/fuzz/source.h')
    for name in sorted(real - stand_in):
        failures.append(f'tests/fuzz/source.h lacks {name}, which staging_put.c defines')
    return len(real)


def main():
    stand_ins = check_fuzz_stand_in()
    includes = check_includes()
    objects = check_symbols(os.path.dirname(os.environ.get('GPUTIER', 'build/gputier')))
    for f in failures:
        print(f)
    if includes < 200 or objects < 20 or stand_ins < 6:
        print(f'too little was looked at: {includes} include lines, {objects} objects, {stand_ins} functions of staging')
        return 1
    print(f'{includes} include lines and {objects} planner objects looked at, {len(failures)} faults')
    return 1 if failures else 0


sys.exit(main())
