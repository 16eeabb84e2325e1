#!/usr/bin/env python3
"""Wrong input of every kind, to every command: options, files, streams, folders, devices, configuration.
Each ends with the documented status and one clear message; nothing is printed on standard output, nothing is
destroyed, and with --format json the error is one gputier/error/1 document."""
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

import json_schema

GPUTIER = os.environ.get("GPUTIER", "./gputier")
WORK = tempfile.mkdtemp(prefix="qa_hostile.")
NOW = "2026-12-02T00:00:00Z"
ENV = {k: v for k, v in os.environ.items() if not k.startswith("XDG_") and k != "GPUTIER_DB"}
ENV.update(HOME=os.path.join(WORK, "home"), GPUTIER_NOW=NOW)
os.makedirs(ENV["HOME"])
ERROR = json.load(open("data/schema/error.json", encoding="utf-8"))
JOB = ["plan", "--model", "resnet50", "--epochs", "9", "--samples", "1281167", "--top", "1"]
failures = []


def say(ok, text):
    if not ok:
        print("FAIL " + text, flush=True)
        failures.append(text)


def run(*args, env=None, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    r = subprocess.run([GPUTIER, *args], env=env or ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=120, **kw)
    return r.returncode, r.stdout.decode("utf-8", "replace"), r.stderr.decode("utf-8", "replace")


def path(name, data):
    p = os.path.join(WORK, name)
    with open(p, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return p


def refused(status, *args, has="", env=None):
    """For people one message; for programs one document."""
    rc, out, err = run(*args, env=env)
    say(rc == status and out == "" and err.startswith("gputier: ") and has in err,
        "%s: status %d (expected %d), %d bytes out, %r (has %r)" % (args, rc, status, len(out), err[:200], has))
    rc, out, err = run(*args, "--format", "json", env=env)
    try:
        document = json.loads(err)
        good = not json_schema.validate(document, ERROR)
    except ValueError:
        good = False
    say(rc == status and out == "" and good, "%s as JSON: status %d, %r, %r" % (args, rc, out[:80], err[:200]))


def options():
    refused(2, "nosuch", has="no command")
    refused(2, "plan", "--nosuch", has="unknown option")
    refused(2, "prices", "--limit", has="needs a value")
    refused(2, *JOB, "--seed", "18446744073709551616", has="--seed")
    refused(2, *JOB, "--seed", "-1", has="--seed")
    refused(2, *JOB, "--top", "99999999999999999999", has="--top")
    refused(2, "scenario", has="init")
    refused(2, "scenario", "init", "--model", "resnet50", has="--model")
    refused(2, "spot", "simulate", "--work", "10h", "--lambda", "0.1", has="--delta")
    refused(2, "calibrate", "--measured", "620", "--gpu", "A100", has="A100-40GB PCIe")
    refused(2, "calibrate", "--measured", "620", "--gpu", "T4", "--batch", "0", has="--batch")
    refused(2, "calibrate", "--gpu", "T4", has="--measured")
    rc, out, _ = run("calibrate", "--measured", "620", "--gpu", "RTX 3090")
    say(rc == 0 and "e+" not in out, "calibrate prints no exponents")
    for command in (["explain"], ["db", "check"], ["calibrate"], ["bench", "--list"], ["scenario", "schema"],
                    ["help"], ["fetch", "skypilot"]):
        rc, out, err = run(*command, "--format", "csv")
        say(rc == 2 and out == "" and "csv" in err, "%s refuses csv: %d %r" % (command, rc, err))


def scenarios():
    """A value that is half understood is refused, naming what is allowed."""
    for flag, value, has in (
            ("data.0.size", "150", "with its unit"), ("workload.checkpoint.size", "12", "with its unit"),
            ("workload.epochs", "9000000000", "at most 10000000"), ("workload.epochs", "-1", "above 0"),
            ("workload.batch_per_gpu", "1e30", "at most")):
        extra = ["--set", "data.0.name=d", "--set", "data.0.role=training_data"] if "data" in flag else []
        refused(4, *JOB, *extra, "--set", "%s=%s" % (flag, value), has=has)
    refused(4, *JOB, "--data", "150", has="with its unit")
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        "%s: &%s [%s]\n" % (b, b, ",".join(["*" + a] * 9)) for a, b in zip("abcdefg", "bcdefgh"))
    bad = {"empty": b"", "binary": os.urandom(3000), "bomb": bomb, "deep": "[" * 50000,
           "deep.json": "[" * 50000 + "]" * 50000, "large": b"#" * (2 << 20), "nul": b"name: \"a\\0b\"\n",
           "utf16": "name: x".encode("utf-16"), "escape": "name: \"\\e[31m\"\n", "tab": "a:\n\t- b\n"}
    for name, data in bad.items():
        p = path(name, data)
        for command in (["plan", p], ["scenario", "validate", p], ["explain", p]):
            refused(4, *command, has=WORK)
    serving = path("serving.yaml", "schema: gputier/scenario/1\nname: s\nworkload: {kind: serving}\nserving: "
                   "{demand: {shape: sine, base: 20, peak: 100, period: 24h, length: 7d}, "
                   "requests_per_s_per_node: 4}\n")
    refused(1, "plan", serving, has="training")


def files():
    """A folder, a missing file, a device: status 4 where an input file is expected."""
    for bad in (WORK, os.path.join(WORK, "missing")):
        for command in (["plan"], ["scenario", "validate"], ["tier"], ["inventory", "aggregate"],
                        ["import", "auto"], ["import", "prices-csv"], ["verify"], ["spot", "replay", "--work", "1h",
                        "--deadline", "2h", "--od-price", "3", "--spot-price", "1"]):
            refused(4, *command, bad, has=bad)
    junk = path("junk", os.urandom(3000))
    for command in (["inventory", "aggregate"], ["tier"], ["import", "auto"], ["verify"]):
        refused(4, *command, junk, has=junk)


def devices():
    """A device or pipe named as an output or a database is written to or refused, never replaced."""
    fifo = os.path.join(WORK, "fifo")
    os.mkfifo(fifo)
    refused(1, "db", "backup", fifo, has="regular")
    refused(1, "db", "backup", "/dev/null", has="regular")
    refused(1, "--db", "/dev/null", "sources", has="regular")
    refused(1, "--db", fifo, "sources", has="regular")
    refused(1, "--db", WORK, "sources", has="regular")
    say(stat.S_ISFIFO(os.stat(fifo).st_mode) and stat.S_ISCHR(os.stat("/dev/null").st_mode),
        "devices are still there")
    say(not [f for f in os.listdir(WORK) if ".tmp" in f or "-wal" in f], "nothing is left beside them")
    garbage = path("garbage.db", os.urandom(8192))
    before = open(garbage, "rb").read()
    refused(1, "--db", garbage, "sources", has="not a database")
    say(open(garbage, "rb").read() == before, "a file that is no database is left as it is")


def configuration():
    for name, data in (("bad.yaml", "sources: [1"), ("list.yaml", "- a\n"), ("bin.yaml", os.urandom(500))):
        p = path(name, data)
        for command in (["sources"], ["prices", "--limit", "1"], ["fetch", "skypilot"]):
            refused(4, "--config", p, *command, has=p)
    refused(4, "--config", os.path.join(WORK, "none.yaml"), "sources", has="none.yaml")
    rc, _, err = run("--config", path("ok.yaml", ""), "sources")
    say(rc == 0 and err == "", "an empty configuration is fine: " + err)
    rc, _, err = run("--config", path("bad.yaml", "sources: [1"), "help", "plan")
    say(rc == 0 and err == "", "help does not read the configuration")


def places():
    """HOME is not needed; /tmp is never taken in its stead; a missing data folder is said."""
    import pwd
    env = {k: v for k, v in ENV.items() if k != "HOME"}
    env["GPUTIER_DB"] = os.path.join(WORK, "nohome.db")
    rc, out, err = run("prices", "--limit", "1", env=env)
    say(rc == 0 and out != "", "works without HOME: %d %r" % (rc, err))
    say(not os.path.exists("/tmp/.local/share/gputier") and pwd.getpwuid(os.getuid()), "nothing appears in /tmp/.local")
    rc, _, err = run("prices", "--limit", "1", env=dict(ENV, GPUTIER_DATA="/nonexistent", GPUTIER_DB=os.path.join(WORK, "nodata.db")))
    say("no shipped data" in err, "a missing data folder is said: %r" % err)
    say("no shipped data" not in run("prices", "--limit", "1")[2], "… and only then")


def streams():
    rc = subprocess.run("exec %s prices --limit 1 >&-" % GPUTIER, shell=True, env=ENV, capture_output=True, timeout=60)
    say(rc.returncode == 1 and b"must be open" in rc.stderr, "a closed standard output is said: %r" % rc.stderr)
    for command in (["prices"], JOB, ["sources"], ["help"], ["scenario", "schema"], ["--version"]):
        with open("/dev/full", "wb") as full:
            r = subprocess.run([GPUTIER, *command], env=ENV, stdin=subprocess.DEVNULL, stdout=full,
                               stderr=subprocess.PIPE, timeout=60)
        say(r.returncode == 1 and b"cannot write" in r.stderr, "%s to a full disk: %d %r" % (command, r.returncode, r.stderr))
        reader, writer = os.pipe()
        os.close(reader)
        r = subprocess.run([GPUTIER, *command], env=ENV, stdin=subprocess.DEVNULL, stdout=writer,
                           stderr=subprocess.PIPE, timeout=60)
        os.close(writer)
        say(r.returncode == 0 and r.stderr == b"", "%s to a closed pipe: %d %r" % (command, r.returncode, r.stderr))


def names():
    """Saved plans have names that lists can show; what is refused is neither saved nor printed; plans are saved before
    they are printed."""
    for bad in ("a#2", " ", "   ", "a\nb", "\x1b[31mred", "x" * 201, "\x7f", b"\xff\xfe"):
        flag = b"--save=" + bad if isinstance(bad, bytes) else "--save=" + bad
        rc, out, err = run(*JOB, flag)
        say(rc == 1 and out == "" and "name" in err, "a plan named %r: %d %r" % (bad, rc, err[:100]))
    for good in ("x y", "日本語", "a'b;DROP TABLE saved_plan", "../x", "x" * 200):
        say(run(*JOB, "--save=" + good)[0] == 0 and run("explain", good)[0] == 0 and
            run("plans", "delete", good)[0] == 0 and run("explain", good)[0] == 1, "a plan named %r" % good)
    with open("/dev/full", "wb") as full:
        r = subprocess.run([GPUTIER, *JOB, "--save=kept"], env=ENV, stdin=subprocess.DEVNULL, stdout=full,
                           stderr=subprocess.PIPE, timeout=60)
    say(r.returncode == 1 and run("plans", "show", "kept")[0] == 0, "saved although it could not be printed")
    say(len(json.loads(run("plans", "--format", "json")[1])["plans"]) == 1, "nothing else is saved")


def interrupted():
    """Ctrl-C ends a command that waits for standard input; a fetch after plans were saved ends by itself."""
    for command in (["plan", "-"], ["verify", "-"], ["tier", "-"], ["inventory", "aggregate", "-"], ["import", "auto", "-"]):
        # pylint: disable-next=consider-using-with
        p = subprocess.Popen([GPUTIER, *command], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        try:
            rc = p.wait(timeout=20)
        except subprocess.TimeoutExpired:
            p.kill()
            rc = "still waiting"
        say(rc == 130, "%s after Ctrl-C: %s" % (command, rc))
        p.communicate()
    say(run(*JOB, "--save=regions")[0] == 0, "a plan is saved")
    nobody = dict(ENV, GPUTIER_URL_SKYPILOT="http://127.0.0.1:9")
    try:
        rc = run("fetch", "skypilot", "--tries", "1", env=nobody)[0]
    except subprocess.TimeoutExpired:
        rc = "still running"
    say(rc == 1, "fetch with a saved plan and nobody there: %s" % rc)


def local_time():
    """A deadline without a zone is local time of its own day, with summer time or without."""
    for zone, now, deadline, expect in (
            ("Europe/Berlin", "2026-10-01T00:00:00Z", "2026-12-11T18:00", "2026-12-11T17:00:00Z"),
            ("Europe/Berlin", "2026-12-02T00:00:00Z", "2027-07-01T18:00", "2027-07-01T16:00:00Z"),
            ("America/New_York", "2026-10-30T00:00:00Z", "2026-11-10T12:00", "2026-11-10T17:00:00Z"),
            ("Asia/Shanghai", "2026-12-02T00:00:00Z", "2026-12-11T18:00", "2026-12-11T10:00:00Z"),
            ("Europe/Berlin", "2026-10-01T00:00:00Z", "2026-12-11T18:00Z", "2026-12-11T18:00:00Z")):
        if not os.path.exists("/usr/share/zoneinfo/" + zone):
            rule = {"Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3", "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
                    "Asia/Shanghai": "CST-8"}[zone]
        else:
            rule = zone
        rc, out, err = run(*JOB, "--deadline", deadline, "--format", "json", env=dict(ENV, TZ=rule, GPUTIER_NOW=now))
        got = json.loads(out)["scenario"]["deadline_at"] if rc == 0 else err
        say(got == expect, "%s %s from %s: %s, expected %s" % (zone, deadline, now, got, expect))


options()
scenarios()
files()
devices()
configuration()
places()
streams()
names()
interrupted()
local_time()
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
