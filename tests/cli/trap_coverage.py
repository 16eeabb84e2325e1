#!/usr/bin/env python3
"""Each trap of ../shared/docs/pricing-sources.md section 10 and each fault of
../shared/oracles/known-faults.md under the headings below has a test that is named by its number and
runs: a unit test in its program's list, or a function that a test program calls or lists."""
import ast
import os
import re
import sys
from pathlib import Path

SHARED = Path(os.environ.get("GPUTIER_SHARED", "../shared"))
TESTS = Path(__file__).resolve().parents[1]
HEADINGS = ("Prices", "GPU name", "Fetching", "Parsing", "Network", "Vendor interfaces", "Units", "Currency", "Database")
TRAPS = SHARED / "docs" / "pricing-sources.md"
FAULTS = SHARED / "oracles" / "known-faults.md"


def named_in_c(path):
    """Names in the lists of cmocka's tests."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(encoding="utf-8"), flags=re.S)
    return re.findall(r"\bcmocka_unit_test(?:_\w+)?\(\s*(\w+)", text)


def named_in_python(path):
    """Functions that the program itself calls or hands on, those reached from there too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    uses = {name: {x.id for x in ast.walk(n) if isinstance(x, ast.Name)} & set(functions) for name, n in functions.items()}
    found = {x.id for n in tree.body if not isinstance(n, ast.FunctionDef) for x in ast.walk(n) if isinstance(x, ast.Name)} & set(functions)
    while True:
        more = set().union(*(uses[f] for f in found)) - found if found else set()
        if not more:
            return sorted(found)
        found |= more


def numbers(names, kind):
    """trap_42_45_gcp -> 42, 45; f009_f011_keys and trap_07_f185_fee -> 9, 11 and 185."""
    out = {}
    for where, name in names:
        if kind == "trap":
            hit = re.match(r"trap((?:_\d\d)+)(?!\d)", name)
            found = re.findall(r"\d\d", hit[1]) if hit else []
        else:
            found = re.findall(r"(?:^|_)f(\d{3})(?!\d)", name)
        for n in found:
            out.setdefault(int(n), []).append("%s: %s" % (where, name))
    return out


def main():
    if not TRAPS.exists() or not FAULTS.exists():
        print("SKIPPED: %s or %s is missing" % (TRAPS, FAULTS))
        return 77
    names = []
    for path in sorted((TESTS / "unit").glob("*.c")):
        names += [(path.name, n) for n in named_in_c(path)]
    for path in sorted((TESTS / "cli").glob("*.py")):
        if os.access(path, os.X_OK):
            names += [(path.name, n) for n in named_in_python(path)]
    table = TRAPS.read_text(encoding="utf-8").split("\n## 10.")[1].split("\n## ")[0]
    traps = {int(n): text for n, text in re.findall(r"^\| (\d+) \| ([^|]*)", table, re.M)}
    faults, heading = {}, ""
    for line in FAULTS.read_text(encoding="utf-8").splitlines():
        heading = line[3:] if line.startswith("## ") else heading
        hit = re.match(r"### F(\d{3}) (.*)", line)
        if hit and heading.startswith(HEADINGS):
            faults[int(hit[1])] = hit[2]
    bad = 0
    for what, wanted, found in (("trap", traps, numbers(names, "trap")), ("fault", faults, numbers(names, "fault"))):
        lacking = {n: t for n, t in wanted.items() if n not in found}
        for n, text in sorted(lacking.items()):
            print("FAIL no test is named by %s %d: %s" % (what, n, text.strip()))
        bad += len(lacking)
        print("%d of %d %ss are named" % (len(set(wanted) & set(found)), len(wanted), what))
    if len(traps) < 70 or len(faults) < 30 or len(names) < 300:
        print("FAIL the tables or the tests were not read: %d traps, %d faults, %d tests" % (len(traps), len(faults), len(names)))
        bad += 1
    if "-v" in sys.argv:
        for kind in ("trap", "fault"):
            for n, where in sorted(numbers(names, kind).items()):
                print(kind, n, where)
    return bool(bad)


sys.exit(main())
