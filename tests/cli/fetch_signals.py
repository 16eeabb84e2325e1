#!/usr/bin/env python3
"""fetch as it is watched and stopped: the moving lines on a terminal (bytes, rows, rate, what is left)
and none on a pipe; Ctrl-C (exit 130), SIGTERM, SIGHUP, a reader that goes away: each at once, what
was complete stays, the rest is as before, no file is left. Skips loudly without ../shared."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

from vendor import (GPUTIER, SHARED, WORK, Server, dump, environment, generate, lay_out_aws, main,
                    need_tools, put, run, say, sound, version_2)

NOW = "2026-12-02T10:00:00Z"
FILE = "*us-east-1/index.csv*"
TEMPLATE = os.path.join(WORK, "template.db")
want = {}
text = {}


def env(server, **more):
    return environment(server, GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW=NOW, TERM="xterm",
                       GPUTIER_URL_CUDO=server.base + "/cudo.json", GPUTIER_KEY_CUDO="K-cudo", **more)


ARGS = ("fetch", "aws-offer", "cudo", "--region", "us-east-1")


def prepare():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    with open(generate("2M") + ".csv", encoding="utf-8") as f:
        text["old"] = f.read()
    text["new"] = version_2(text["old"])
    lay_out_aws({"csv": text["old"]})
    with open(os.path.join(SHARED, "samples/cudo/machine-types.response.json"),
              encoding="utf-8") as f:
        cudo = f.read()
    put("/cudo.json", cudo)
    server = Server()
    rc, _, err = run(TEMPLATE, *ARGS, env=env(server))
    assert rc == 0, err
    want["old"] = dump(TEMPLATE, env(server))
    put("/cudo.json", re.sub(r'("value": *"?)([0-9])', r"\g<1>1\2", cudo))
    db = os.path.join(WORK, "cudo.db")
    shutil.copy(TEMPLATE, db)
    rc, _, err = run(db, *ARGS, "--accept-large-change", env=env(server))
    assert rc == 0, err
    want["cudo new"] = dump(db, env(server))
    lay_out_aws({"csv": text["new"]})
    rc, _, err = run(db, *ARGS, env=env(server))
    assert rc == 0, err
    want["new"] = dump(db, env(server))
    say(len(set(want.values())) == 3, "three states to tell apart")
    server.stop()


def case(name):
    folder = os.path.join(WORK, "case-" + name)
    os.mkdir(folder)
    db = os.path.join(folder, "x.db")
    shutil.copy(TEMPLATE, db)
    return db


def state(db, server):
    found = dump(db, env(server))
    return next((k for k, v in want.items() if v == found), "another")


class Terminal:
    """The program on a pseudo-terminal of 100 columns."""

    def __init__(self, server, *args):
        self.master, slave = pty.openpty()
        subprocess.run(["stty", "-F", os.ttyname(slave), "cols", "100", "rows", "24"], check=True)
        # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
        self.process = subprocess.Popen([GPUTIER, *args], stdin=slave, stdout=slave, stderr=slave,
                                        env=env(server), preexec_fn=lambda: (os.setsid(), __import__(
                                            "fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0)))
        os.close(slave)
        self.text = ""

    def read(self, until=None, seconds=30.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and re.search(until, self.text)):
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    break
                if not data:
                    break
                self.text += data.decode("utf-8", "replace")
            elif self.process.poll() is not None:
                break
        return self.text


def a_terminal_shows_progress():
    server = Server("%s slow:400000" % FILE, extra=("--gzip", "off"))
    db = case("terminal")
    t = Terminal(server, "--db", db, *ARGS, "--accept-large-change")
    out = t.read()
    rc = t.process.wait(timeout=30)
    lines = [x for x in re.split(r"[\r\n]+", out) if x.startswith("aws-offer")]
    say(rc == 0 and len(lines) >= 5 and "\x1b[A" in out, "lines move (%d times)" % len(lines))
    moving = [re.search(r"(\d+)/(\d+) files +([\d.]+ \w+) of ([\d.]+ \w+) +(\d+) rows +"
                        r"([\d.]+ \w+)/s, (.+?) left", x) for x in lines]
    seen = [m for m in moving if m]
    say(len(seen) >= 3, "they show bytes of all, rows, rate and time left: %s"
        % (seen[-1].group(0) if seen else lines[-3:]))
    say(len({m.group(3) for m in seen}) >= 3 and len({m.group(5) for m in seen}) >= 2,
        "bytes and rows grow")
    say(all(len(re.sub(r"\x1b\[[A-Z]", "", x)) <= 100 for x in lines), "none is wider than the "
        "terminal")
    say("2 fetched" in out and state(db, server) == "new", "and the end is told: %r" % out[-120:])
    for flag in ("--plain", "--quiet"):
        quiet = Terminal(server, "--db", case("terminal" + flag), *ARGS, flag,
                         "--accept-large-change")
        out = quiet.read()
        quiet.process.wait(timeout=30)
        say("\x1b" not in out, "%s: nothing moves: %r" % (flag, out[-80:]))
    server.stop()


def a_pipe_shows_none():
    server = Server("%s slow:1000000" % FILE, extra=("--gzip", "off"))
    db = case("pipe")
    rc, out, err = run(db, *ARGS, "--accept-large-change", env=env(server))
    lines = [x for x in err.strip().split("\n") if "warning" not in x]
    say(rc == 0 and not out and "\x1b" not in err and "\r" not in err and len(lines) == 4,
        "a pipe sees the size, an end a part, the sum: %s" % lines)
    server.stop()


def stopped(name, stop, code, says):
    """Stops a fetch whose one source is complete while the other still comes."""
    server = Server("%s slow:100000" % FILE, extra=("--gzip", "off"))
    db = case(name)
    # pylint: disable-next=consider-using-with
    p = subprocess.Popen([GPUTIER, "--db", db, *ARGS, "--accept-large-change"], env=env(server),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    seen = ""
    while "cudo: " not in seen:
        line = p.stderr.readline()
        if not line:
            break
        seen += line
    time.sleep(0.3)
    alive = p.poll() is None
    t = time.monotonic()
    stop(p)
    err = seen + (p.stderr.read() if not p.stderr.closed else "")
    p.wait(timeout=30)
    took = time.monotonic() - t
    left = [f for f in os.listdir(os.path.dirname(db)) if "staging" in f]
    say(alive and p.returncode == code and took < 3 and says in err and not left,
        "%s: exit %d after %.2f s, left %s: %s" % (name, p.returncode, took, left, err[-150:]))
    say(state(db, server) == "cudo new" and sound(db), "%s: what was complete stays, the rest is "
        "as before: %s" % (name, state(db, server)))
    rc, _, err = run(db, "db", "check", env=env(server))
    say(rc == 0, "%s: db check is content" % name)
    server.stop()
    again = Server()
    rc, _, err = run(db, *ARGS, env=env(again))
    say(rc == 0 and state(db, again) == "new", "%s: the next run completes: %s" % (name, err[-100:]))
    again.stop()


def signals():
    stopped("ctrl-c", lambda p: p.send_signal(signal.SIGINT), 130, "interrupted")
    stopped("sigterm", lambda p: p.send_signal(signal.SIGTERM), -signal.SIGTERM, "interrupted")

    def twice(p):
        p.send_signal(signal.SIGINT)
        p.send_signal(signal.SIGINT)
    stopped("ctrl-c twice", twice, 130, "")


def ctrl_c_on_a_terminal():
    server = Server("%s slow:100000" % FILE, extra=("--gzip", "off"))
    db = case("terminal-c")
    t = Terminal(server, "--db", db, *ARGS, "--accept-large-change")
    t.read(until=r"cudo +done[^\n]*\n[\s\S]*aws-offer +[^\n]*rows")
    os.write(t.master, b"\x03")
    out = t.read(seconds=10)
    rc = t.process.wait(timeout=10)
    say(rc == 130 and "interrupted" in out and state(db, server) == "cudo new",
        "the key ^C: exit %d, %s: %r" % (rc, state(db, server), out[-100:]))
    hung = Terminal(server, "--db", case("hangup"), *ARGS, "--accept-large-change")
    hung.read(until=r"aws-offer +[^\n]*rows")
    os.close(hung.master)
    hung.process.wait(timeout=10)
    db = os.path.join(WORK, "case-hangup", "x.db")
    say(state(db, server) in ("old", "cudo new") and sound(db), "a terminal that is gone: %d, %s"
        % (hung.process.returncode, state(db, server)))
    server.stop()


def a_reader_that_goes_away():
    server = Server()
    for name, to in (("stdout", "--format json | true"), ("stderr", "2>&1 >/dev/null | head -c 1")):
        db = case("gone-" + name)
        r = subprocess.run(["bash", "-c", '"$0" --db "$1" fetch aws-offer cudo --region us-east-1 '
                            '--accept-large-change %s; exit ${PIPESTATUS[0]}' % to, GPUTIER, db],
                           env=env(server), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=60, check=False)
        say(r.returncode == 0 and state(db, server) == "new", "%s closed early: exit %d, prices %s"
            % (name, r.returncode, state(db, server)))
    server.stop()


need_tools("progress and signals")
main([prepare, a_terminal_shows_progress, a_pipe_shows_none, signals, ctrl_c_on_a_terminal,
      a_reader_that_goes_away])
