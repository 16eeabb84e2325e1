#!/usr/bin/env python3
"""Values that are none, for every option of the commands about prices: empty, huge, negative, no number, impossible dates,
other scripts, control characters. Each is refused (exit 2) before anything is asked of a vendor or written, says which
option, what was found (shortened, safe to show) and what was expected, and nothing goes to standard output."""
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

GPUTIER = os.environ.get("GPUTIER", "./gputier")
failures, count = [], [0]
HUGE = "9" * 5000
COUNT = ["", " ", "-1", "nan", "inf", "1e99", "2.5", "0x10", "1,000", "٣", "abc", HUGE, "18446744073709551616", "1 2"]
DURATION = ["", "0", "-1s", "nan", "inf", "5", "h", "1e30h", "1 fortnight", "10min,", "٣h", HUGE + "h", "\x1b[31m1h"]
DATE = ["", "0", "-1", "nan", "yesterday", "1d", "2026-13-01", "2026-00-01", "2026-02-30", "2026-1-1", "2026-11-01T25:00:00Z",
        "2026-11-01T10:60:00Z", "2026-11-01T10:00:00+99:00", "2026-11-01x", "01/02/2026", "٢٠٢٦-٠١-٠١", "99999-01-01",
        HUGE, "2026-11-01\x1b[31m"]
NAME = ["", "nosuchthing", "é", "\x1b[31mred", "A" * 100000, "a,b"]
REGION = ["", "/", "aws/", "us-east-1", "\x07", HUGE]
# command, option -> values
OPTIONS = {
    ("fetch", "ecb-fx"): {"tries": ["0", *COUNT], "max-time": DURATION, "stall": DURATION, "connect-time": DURATION,
                          "region": ["", "/", "aws/", "/x", "nobody/x", "é", "a b", HUGE]},
    ("watch", "ecb-fx"): {"every": ["59s", *DURATION], "for": DURATION, "seed": COUNT,
                          "region": ["", "/", "aws/", "/x", "nobody/x", "é", "a b", HUGE]},
    ("changes",): {"since": ["9999-12-31", *DATE], "limit": COUNT, "vendor": NAME, "region": ["", "/", "é"], "gpu": ["é", HUGE]},
    ("history", "--instance", "p5.48xlarge", "--region", "aws/us-east-1"): {
        "since": DATE, "until": DATE, "purchase": NAME},
    ("history", "--instance", "p5.48xlarge"): {"region": REGION},
    ("prices",): {"limit": COUNT[2:8], "as-of": DATE[4:9], "vendor": NAME[:3], "region": ["", "/", "é", HUGE], "gpu": ["", "é", HUGE],
                  "gpus": ["", "-1", "nan", "1/0", "5-1", "1-2-3", "-", "abc", HUGE], "vcpus": ["", "-1", "nan", "5-1"],
                  "gpu-mem": ["", "-1", "nan", "5-1", "5 parsecs"], "mem": ["", "-1", "5-1"], "purchase": ["spot,", *NAME[:4]],
                  "max-price": ["", "-1", "nan", "1e300", "1,5", "0x10", "1ZZZ", "\t1", HUGE], "sort": ["price,", "-", *NAME[:3]],
                  "per": ["", "h", "0h", "-5h", "nanh", "1e30h", "day", HUGE], "instance": ["", "é", HUGE],
                  "currency": ["", "euro", "XXX", "€", HUGE],
                  "fx": ["", "EUR", "EUR=", "EUR=nan@2026-01-01", "EUR=-1@2026-01-01", "EUR=0@2026-01-01", "EUR=0.9",
                         "EUR=0.9@2026-02-30", "=1@2026-01-01", "EUR=1e400@2026-01-01", HUGE]},
    ("prices", "storage"): {"amount": ["", "-1", "nan", "1e300TiB", "5 parsecs", HUGE], "tier": NAME[:3], "limit": COUNT[:3]},
    ("prices", "storage", "--amount", "1TiB"): {"reads": ["", "-1", "nan", "inf", "1e99", "٣", HUGE]},
    ("prices", "transfer"): {"to": NAME[:3]},
    ("spot", "trace", "--instance", "x", "--region", "aws/us-east-1"): {
        "step": ["100d", *DURATION], "since": DATE[:9], "until": DATE[9:], "value": NAME, "gaps": NAME},
    ("spot", "trace", "--instance", "x"): {"region": REGION},
}
WORDS = [  # words of a command that are none
    (("prices", "nosuch"), "found 'nosuch', expected one of check"), (("prices", "check", "more"), "found 'more', expected"),
    (("sources", "more"), "found 'more', expected no argument"), (("fetch", "nosuch"), "unknown source"),
    (("fetch", ""), "unknown source"), (("fetch", "ecb\x1b[31m"), "unknown source"), (("watch", ""), "found ''"),
    (("watch", "nosuch"), "found 'nosuch'"), (("watch", "prices-csv"), "its files are imported"),
    (("history",), "expected --instance NAME and --region VENDOR/CODE"), (("spot", "trace"), "expected --instance NAME"),
    (("import",), "expected a kind"), (("import", "nosuch", "/dev/null"), "known kinds are"),
    (("fetch", "--format", "csv"), "fetch writes table or json"), (("fetch", "--nosuch"), "unknown option '--nosuch'"),
    (("fetch", "ecb-fx", "-4", "-6"), "exclude each other"), (("watch", "ecb-fx", "--once", "--for", "1d"), "exclude each other"),
    (("history", "--instance", "a", "--region", "aws/b", "--since", "2026-11-01", "--until", "2026-10-01"), "not before"),
]


def run(args, work):
    env = dict(os.environ, HOME=work, XDG_CACHE_HOME=work, GPUTIER_DB=os.path.join(work, "x.db"), http_proxy="http://127.0.0.1:1",
               https_proxy="http://127.0.0.1:1", GPUTIER_NOW="2026-12-02T10:00:00Z")
    started = time.monotonic()
    p = subprocess.run([GPUTIER, *args], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                       check=False, close_fds=False)
    return p.returncode, p.stdout, p.stderr, time.monotonic() - started


def judge(args, words, work):
    count[0] += 1
    rc, out, err, took = run(args, work)
    wrong = [w for w, bad in (
        ("exit %d" % rc, rc != 2), ("writes to standard output", out != ""), ("more than one line", err.count("\n") != 1),
        ("%d bytes of message" % len(err), len(err) > 800), ("%.0f s" % took, took > 30),
        ("a control character", re.search("[\x00-\x09\x0b-\x1f\x7f]", err)), ("asks a vendor", "127.0.0.1" in err),
        ("lacks %s" % (words,), not any(w in err for w in words[0]) or not any(w in err for w in words[1]))) if bad]
    if wrong:
        failures.append("%s: %s: %r" % ([a[:40] for a in args], "; ".join(wrong), err[:300]))


def main():
    jobs = []
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        for command, options in OPTIONS.items():
            for option, values in options.items():
                for v in values:
                    expected = ("expected", "which no ", "of which no exchange rate", "no vendor is called", "is not a ")
                    jobs.append(pool.submit(judge, (*command, "--%s=%s" % (option, v)), (["--" + option], expected), work))
        for command, words in WORDS:
            jobs.append(pool.submit(judge, command, ([words], [words]), work))
        for j in jobs:
            j.result()
    print("%d values, %d failed" % (count[0], len(failures)))
    print("\n".join(failures))
    sys.exit(bool(failures) or count[0] != sum(len(v) for o in OPTIONS.values() for v in o.values()) + len(WORDS))


main()
