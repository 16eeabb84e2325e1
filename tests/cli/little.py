"""Shared by the tests that make small lists of their own: a database each, without bundled prices,
the program on it, and what it answers."""
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

GPUTIER = os.environ.get("GPUTIER", "./gputier")
WORK = tempfile.mkdtemp(prefix="little.")
NOW = "2026-12-02T10:00:00Z"
numbers = itertools.count()
failures = []
passed = []


def check(name, found, wanted=True):
    if found == wanted:
        passed.append(name)
        return
    failures.append(name)
    print("FAIL %s\n  found    %s\n  expected %s" % (name, str(found)[:1500], str(wanted)[:1500]), flush=True)


def main(tests):
    """Runs the tests, each named by what it is about, cleans up, ends with their verdict."""
    try:
        for t in tests:
            before = len(failures)
            t()
            print("%s %s" % ("ok  " if len(failures) == before else "FAIL", t.__name__), flush=True)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    print("%d checks, %d failed" % (len(passed) + len(failures), len(failures)))
    sys.exit(bool(failures))


class Box:
    """A database of its own; data: a folder of bundled data, none without."""

    def __init__(self, data=None, **env):
        self.dir = os.path.join(WORK, "box%d" % next(numbers))
        os.makedirs(os.path.join(self.dir, "none"))
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith("GPUTIER_") and "proxy" not in k.lower()}
        self.env.update(HOME=self.dir, XDG_CONFIG_HOME=self.dir, XDG_CACHE_HOME=self.dir,
                        GPUTIER_DB=os.path.join(self.dir, "g.db"), GPUTIER_NOW=NOW,
                        GPUTIER_DATA=data or os.path.join(self.dir, "none"), **env)

    def run(self, *args, **env):
        return subprocess.run([GPUTIER, *args], env=dict(self.env, **env), capture_output=True, text=True,
                              errors="replace", timeout=120, stdin=subprocess.DEVNULL, check=False)

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        with (gzip.open if name.endswith(".gz") else open)(path, "wb") as f:
            f.write(data)
        return path

    def take(self, kind, text, *options, name="list", status=0, **env):
        """Imports a text (or texts that are one list); the answer of the run."""
        texts = text if isinstance(text, list) else [text]
        paths = [self.file("%s%s" % (i or "", name), t if isinstance(t, (str, bytes)) else json.dumps(t))
                 for i, t in enumerate(texts)]
        r = self.run("import", kind, *paths, *options, **env)
        if r.returncode != status:
            check("import %s: status %d" % (kind, status), "%d: %s" % (r.returncode, r.stderr), status)
        return r

    def json(self, *args, **env):
        r = self.run(*args, "--format", "json", **env)
        try:
            return json.loads(r.stdout)
        except ValueError:
            check("JSON from %s" % (args,), r.stdout + r.stderr, "JSON")
            return {}

    def offers(self, *args):
        return self.json("prices", *args).get("offers", [])

    def rows(self, *fields, args=()):
        """Those fields of every offer, sorted."""
        return sorted((tuple(o[f] for f in fields) for o in self.offers(*args)), key=repr)

    def found(self, *args):
        """(kind, instance type) of what `prices check` finds, age and unknown GPUs aside."""
        doc = self.json("prices", "check", "--limit", "100000", *args)
        return sorted({(f["kind"], f["rows"][0]["instance_type"]) for f in doc.get("findings", [])
                       if f["kind"] not in ("stale_price", "unknown_gpu")})


def csv_text(header, rows, end="\n"):
    """Rows (dicts or sequences) under a header "a,b,c"; a field with a comma is quoted."""
    names = header.split(",")

    def field(v):
        v = "" if v is None else str(v)
        return '"%s"' % v.replace('"', '""') if any(c in v for c in ',"\n\r') else v
    lines = [header]
    for r in rows:
        values = [r.get(n, "") for n in names] if isinstance(r, dict) else r
        lines.append(",".join(map(field, values)))
    return end.join(lines) + end
