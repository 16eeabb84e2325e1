#!/usr/bin/env python3
"""kill -9 at any point of a fetch or an import, a full disk at any write, a folder that takes no
files, several fetches at once: afterwards the prices are byte for byte the old ones or the whole new
ones, `db check` is content, the next run leaves no staging file and takes no lock amiss.

Points: every call that changes a file is counted by a preloaded shim (tests/support/crash_at.c),
which ends the process inside the chosen one; bytes of the body (the vendor stops after N and waits);
any moment. A few of each by default, many by `make kill-test`; KILL_ROUNDS, KILL_SEED and KILL_SIZE
choose.
Skips loudly without ../shared."""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from vendor import (GPUTIER, WORK, Server, dump, environment, generate, lay_out_aws, main,
                    need_tools, run, say, sound, version_2)

ROUNDS = int(os.environ.get("KILL_ROUNDS", "8"))
SEED = int(os.environ.get("KILL_SEED", "1"))
rng = random.Random(SEED)
OLD, NEW = "old", "new"
want = {}
server = None
SHIM = os.path.join(WORK, "crash_at.so")
TEMPLATE = os.path.join(WORK, "template.db")
FILE = "*us-east-1/index.csv*"
LISTS = {k: os.path.join(WORK, k + ".csv") for k in (OLD, NEW)}


def env(**more):
    return environment(server, **{"GPUTIER_DATA": os.path.join(WORK, "empty"),
                                  "GPUTIER_NOW": "2026-12-02T10:00:00Z", **more})


FETCH = ("fetch", "aws-offer", "--region", "us-east-1")
IMPORT = ("import", "aws-offer", LISTS[NEW])


def prepare():
    global server  # pylint: disable=global-statement
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", SHIM,
                    os.path.join(here, "..", "support", "crash_at.c"), "-ldl"], check=True)
    with open(generate(os.environ.get("KILL_SIZE", "1M")) + ".csv", encoding="utf-8") as f:
        text = {OLD: f.read()}
    text[NEW] = version_2(text[OLD])
    for k, path in LISTS.items():
        with open(path, "w", encoding="utf-8") as f:
            f.write(text[k])
    server = Server()
    lay_out_aws({"csv": text[OLD]})
    for name, args in (("fetch", FETCH), ("import", ("import", "aws-offer", LISTS[OLD]))):
        db = TEMPLATE + "." + name
        rc, _, err = run(db, *args, env=env())
        assert rc == 0, err
        want[name] = {OLD: dump(db, env())}
    lay_out_aws({"csv": text[NEW]})
    for name, args in (("fetch", FETCH), ("import", IMPORT)):
        db = os.path.join(WORK, "new." + name)
        shutil.copy(TEMPLATE + "." + name, db)
        rc, _, err = run(db, *args, env=env())
        assert rc == 0, err
        want[name][NEW] = dump(db, env())
    say(want["fetch"][OLD] != want["fetch"][NEW], "two versions to tell apart")


def fresh(name):
    folder = os.path.join(WORK, "case")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    db = os.path.join(folder, "x.db")
    shutil.copy(TEMPLATE + "." + name, db)
    return db


def left(db):
    return [f for f in os.listdir(os.path.dirname(db)) if "staging" in f or "tmp" in f]


def verify(db, name, what, again=True):
    """What must hold after any end; then a whole run in its place."""
    found = dump(db, env())
    state = next((k for k, v in want[name].items() if v == found), "neither old nor new")
    bad = []
    if state not in (OLD, NEW):
        bad.append("prices are %s" % state)
    rc, _, err = run(db, "db", "check", env=env())
    if rc != 0 or not sound(db):
        bad.append("db check: %s" % err[-200:])
    if again:
        rc, _, err = run(db, *(FETCH if name == "fetch" else IMPORT), env=env(), timeout=40)
        if rc != 0 or dump(db, env()) != want[name][NEW]:
            bad.append("the next run: exit %d: %s" % (rc, err[-200:]))
    if left(db):
        bad.append("left behind: %s" % left(db))
    if bad:
        say(False, "%s: %s" % (what, "; ".join(bad)))
    return state


def tally(what, states):
    say(len(states) > 0, "%s: %d times: %s" % (what, len(states), ", ".join(
        "%d x %s" % (states.count(s), s) for s in sorted(set(states)))))


def shimmed(db, name, **variables):
    args = FETCH if name == "fetch" else IMPORT
    return subprocess.run([GPUTIER, "--db", db, *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
                          env=env(LD_PRELOAD=SHIM, **variables))


def count_calls(name):
    path = os.path.join(WORK, "count")
    r = shimmed(fresh(name), name, CRASH_COUNT=path)
    if r.returncode != 0:
        print("SKIPPED: the shim does not load here (a sanitizer?): %s" % r.stdout[-200:])
        return 0
    with open(path, encoding="ascii") as f:
        return int(f.read())


def points(total):
    """The first, the last and random others; all of them when there are rounds enough."""
    if ROUNDS >= total:
        return list(range(1, total + 1))
    return sorted({1, total, *(rng.randint(1, total) for _ in range(ROUNDS))})


def killed_inside_a_write():
    for name in ("fetch", "import"):
        total = count_calls(name)
        states = []
        for n in points(total) if total else []:
            db = fresh(name)
            r = shimmed(db, name, CRASH_AT=str(n))
            what = "%s killed at call %d of %d" % (name, n, total)
            if r.returncode != -signal.SIGKILL and n < total:
                say(False, "%s: exit %d" % (what, r.returncode))
            states.append(verify(db, name, what))
        if total:
            tally("%s killed inside a write (%d calls)" % (name, total), states)
            say(OLD in states, "%s: some kills left the old prices" % name)


def full_disk():
    for name in ("fetch", "import"):
        total = count_calls(name)
        states = []
        for n in points(total) if total else []:
            db = fresh(name)
            r = shimmed(db, name, FULL_AT=str(n))
            text = r.stdout.decode("utf-8", "replace")
            what = "%s with a full disk from call %d of %d" % (name, n, total)
            states.append(verify(db, name, what))
            if r.returncode < 0 or (states[-1] == OLD and (r.returncode == 0 or not any(
                    w in text for w in ("full", "space", "disk I/O", "cannot")))):
                say(False, "%s: exit %d, prices %s: %s" % (what, r.returncode, states[-1],
                                                           text[-300:]))
        if total:
            tally("%s on a full disk" % name, states)


def file_size_limit():
    """setrlimit as `ulimit -f` does: too small for the staging, or for the journal."""
    for kib in (1, 8, 24, 64):
        for name in ("fetch", "import"):
            db = fresh(name)
            size = kib << 10

            def limit(size=size):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            r = subprocess.run([GPUTIER, "--db", db, *(FETCH if name == "fetch" else IMPORT)],
                               env=env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=60, check=False,
                               preexec_fn=limit)  # pylint: disable=subprocess-popen-preexec-fn
            text = r.stdout.decode("utf-8", "replace")
            state = verify(db, name, "%s within files of %d KiB" % (name, kib))
            say(r.returncode >= 0 and (r.returncode > 0 or state == NEW),
                "%s within files of %d KiB: exit %d, prices %s: %s"
                % (name, kib, r.returncode, state, text.strip().splitlines()[-1:]))


def killed_at_any_byte():
    """The vendor sends N bytes and waits; the import reads N bytes from a pipe and waits."""
    size = os.path.getsize(LISTS[NEW])
    states = []
    for _ in range(max(3, ROUNDS // 4)):
        n = rng.randint(1, size - 1)
        slow = Server("%s stallbody:%d:30" % (FILE, n), extra=("--gzip", "off"))
        db = fresh("fetch")
        # pylint: disable-next=consider-using-with
        p = subprocess.Popen([GPUTIER, "--db", db, *FETCH], stdin=subprocess.DEVNULL,
                             env={**env(), "GPUTIER_URL_AWS_OFFER": slow.base},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.1, 0.6))
        p.kill()
        p.wait()
        slow.stop()
        states.append(verify(db, "fetch", "fetch killed after %d bytes" % n))
        n = rng.randint(1, size - 1)
        db = fresh("import")
        # pylint: disable-next=consider-using-with
        p = subprocess.Popen([GPUTIER, "--db", db, "import", "aws-offer", "-"],
                             stdin=subprocess.PIPE, env=env(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        with open(LISTS[NEW], "rb") as f:
            p.stdin.write(f.read(n))
            p.stdin.flush()
        time.sleep(rng.uniform(0.0, 0.2))
        p.kill()
        p.wait()
        p.stdin.close()
        states.append(verify(db, "import", "import killed after %d bytes" % n))
    say(set(states) == {OLD}, "killed in the middle of a body, %d times: %s"
        % (len(states), sorted(set(states))))


def killed_at_any_moment():
    for name, args in (("fetch", FETCH), ("import", IMPORT)):
        t = time.monotonic()
        run(fresh(name), *args, env=env())
        whole = time.monotonic() - t
        states = []
        for _ in range(ROUNDS // 2 + 1):
            db = fresh(name)
            # pylint: disable-next=consider-using-with
            p = subprocess.Popen([GPUTIER, "--db", db, *args], stdin=subprocess.DEVNULL, env=env(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait = rng.uniform(0, whole * 1.2)
            time.sleep(wait)
            p.kill()
            p.wait()
            states.append(verify(db, name, "%s killed after %.3f s" % (name, wait)))
        tally("%s killed at any moment of %.2f s" % (name, whole), states)


def several_at_once():
    db = fresh("fetch")
    slow = Server("%s slow:400000" % FILE)
    runs = []
    for i in range(4):
        args = FETCH + ("--accept-large-change",) if i < 3 else ("import", "aws-offer", LISTS[NEW])
        # pylint: disable-next=consider-using-with
        runs.append(subprocess.Popen([GPUTIER, "--db", db, *args], stdin=subprocess.DEVNULL,
                                     env={**env(), "GPUTIER_URL_AWS_OFFER": slow.base},
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    ends = [(p.communicate(timeout=90)[0], p.returncode) for p in runs]
    slow.stop()
    say(all(rc == 0 for _, rc in ends), "three fetches and an import at once end well: %s"
        % [(rc, out[-200:]) for out, rc in ends if rc])
    one = fresh("fetch")
    for args in (FETCH, ("import", "aws-offer", LISTS[NEW])):
        run(one, *args, env=env())
    rc, _, err = run(db, "db", "check", env=env())
    say(rc == 0 and sound(db) and not left(db), "db check is content, nothing is left: %s" % err)
    db = fresh("fetch")
    # pylint: disable-next=consider-using-with
    a = subprocess.Popen([GPUTIER, "--db", db, *FETCH], stdin=subprocess.DEVNULL, env=env(),
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rc, _, err = run(db, *FETCH, env=env())
    a.wait(timeout=60)
    say(rc == 0 and a.returncode == 0 and verify(db, "fetch", "two fetches", False) == NEW,
        "two fetches at once: the new prices, once: %s" % err[-200:])


def read_only_folder():
    """As another user where the tester is root, whom no mode bit stops."""
    top = tempfile.mkdtemp(prefix="ro.", dir="/tmp")  # where that user can go
    try:
        os.chmod(top, 0o755)
        read_only_in(top)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", top], check=False)
        shutil.rmtree(top)


def read_only_in(top):
    folder = os.path.join(top, "ro")
    os.mkdir(folder)
    program, new_list = os.path.join(top, "gputier"), os.path.join(top, "new.csv")
    shutil.copy(GPUTIER, program)
    shutil.copy(LISTS[NEW], new_list)
    os.chmod(new_list, 0o644)
    db = os.path.join(folder, "x.db")
    shutil.copy(TEMPLATE + ".fetch", db)
    who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    home = os.path.join(top, "home")
    os.mkdir(home)
    os.chmod(home, 0o777)
    os.chmod(db, 0o444)
    os.chmod(folder, 0o555)

    def as_other(*args):
        return subprocess.run([program, "--db", db, *args], stdin=subprocess.DEVNULL,
                              env=env(HOME=home, XDG_CONFIG_HOME=home, GPUTIER_DATA=home),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False, **who)
    for args in (FETCH, ("import", "aws-offer", new_list)):
        r = as_other(*args)
        say(r.returncode == 1 and "read-only" in r.stderr and not left(db),
            "%s into a read-only folder: exit %d: %s" % (args[0], r.returncode,
                                                         r.stderr.strip()[-200:]))
    r = as_other("prices", "--format", "json")
    s = as_other("prices", "storage", "--format", "json")
    say(r.stdout + s.stdout == want["fetch"][OLD], "its prices are read all the same: %s"
        % r.stderr[-200:])
    r = as_other("sources")
    say(r.returncode == 0 and "aws-offer" in r.stdout, "sources too: %s" % r.stderr[-200:])


need_tools("being killed")
TESTS = [killed_inside_a_write, full_disk, file_size_limit, killed_at_any_byte,
         killed_at_any_moment, several_at_once, read_only_folder]
main([prepare] + [t for t in TESTS if len(sys.argv) < 2 or sys.argv[1] in t.__name__])
