#!/usr/bin/env python3
"""Every fault of ../shared/tools/fake_vendor_server.py, one row each: the exit status, what is
said, how often the vendor was asked, how long it took, and that the prices a user reads are byte
for byte either the old ones or the whole new ones. The old are version 1 of a generated EC2 list,
the new version 2 (all prices 1 % up, some rows gone). Needs ../shared (skips loudly without it)."""
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from vendor import (SHARED, WORK, Server, dump, environment, generate, lay_out_aws, main,
                    need_tools, put, run, say, sound, version_2)

FILE = "*us-east-1/index.*"
TEMPLATE = os.path.join(WORK, "template.db")
OLD, NEW = "old", "new"
want = {}
KINDS = """429 500 502 503 403 404 redirect redirectloop slow stall stallbody trunc badlen nolen chunked
    truncchunk endless bomb badgzip fakegzip reset resetbody empty html emptybody garbage norange newetag
    bigheader manyheaders"""


def env(server=None):
    return environment(server, GPUTIER_DATA=os.path.join(WORK, "empty"),
                       GPUTIER_NOW="2026-12-02T10:00:00Z")


def fetch(db, server, *args):
    return run(db, "fetch", "aws-offer", "--region", "us-east-1", *args, env=env(server))


def prepare():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    with open(generate("2M") + ".csv", encoding="utf-8") as f:
        first = f.read()
    server = Server()
    lay_out_aws({"csv": first})
    rc, _, err = fetch(TEMPLATE, server)
    assert rc == 0, err
    want[OLD] = dump(TEMPLATE, env())
    second = version_2(first)
    lay_out_aws({"csv": second})
    put("/copy.csv", second)
    db = os.path.join(WORK, "new.db")
    shutil.copy(TEMPLATE, db)
    rc, _, err = fetch(db, server)
    assert rc == 0, err
    want[NEW] = dump(db, env())
    server.stop()
    say(len(want[OLD]) > 5000 and want[OLD] != want[NEW], "two versions to tell apart (%d bytes)" % len(want[OLD]))


# name, faults (FILE = the price list), exit, what is said, prices after, requests of the list
# (None = not counted), least and most seconds, further arguments, arguments of the server
CASES = [
    # --- what passes: tried again, all rows come
    ("429_seconds", ["FILE 429:2 1"], 0, "", NEW, 2, 2, 12),
    ("429_date", ["FILE 429:date 1"], 0, "", NEW, 2, 0.9, 12),
    ("429_no_retry_after", ["FILE 429:none 1"], 0, "", NEW, 2, 0, 12),
    ("500_once", ["FILE 500 1"], 0, "", NEW, 2, 0, 12),
    ("502_once", ["FILE 502 1"], 0, "", NEW, 2, 0, 12),
    ("503_once", ["FILE 503 1"], 0, "", NEW, 2, 0, 12),
    ("503_retry_after", ["FILE 503:2 1"], 0, "", NEW, 2, 2, 12),
    ("404_of_a_listed_file_once", ["FILE 404 1-2"], 0, "", NEW, 3, 0, 15),
    ("redirect", ["FILE redirect:/copy.csv"], 0, "", NEW, 1, 0, 8),
    ("slow", ["FILE slow:60000"], 0, "", NEW, 1, 0.5, 60),
    ("stall_before_the_status_line", ["FILE stall:6 1"], 0, "", NEW, None, 0, 20,
     ["--stall", "1s"]),
    ("stall_inside_the_body", ["FILE stallbody:20000:8 1"], 0, "", NEW, None, 0, 20,
     ["--stall", "1s"]),
    ("trunc_gzip", ["FILE trunc:50% 1"], 0, "", NEW, 3, 0, 12),
    ("trunc_plain_is_resumed", ["FILE trunc:50% 1"], 0, "", NEW, 2, 0, 12, [],
     ["--gzip", "off"]),
    ("badlen_too_long_once", ["FILE badlen:1000 1"], 0, "", NEW, 3, 0, 12),
    ("nolen", ["FILE nolen"], 0, "", NEW, 1, 0, 8),
    ("chunked", ["FILE chunked"], 0, "", NEW, 1, 0, 8),
    ("truncchunk", ["FILE truncchunk:20000 1"], 0, "", NEW, None, 0, 12),
    ("reset", ["FILE reset 1"], 0, "", NEW, None, 0, 12),
    ("resetbody", ["FILE resetbody:30000 1"], 0, "", NEW, 3, 0, 12),
    ("empty", ["FILE empty 1"], 0, "", NEW, None, 0, 12),
    ("norange", ["FILE trunc:50% 1", "FILE norange"], 0, "", NEW, 2, 0, 12, [],
     ["--gzip", "off"]),
    ("newetag", ["FILE trunc:50% 1", "FILE newetag"], 0, "", NEW, 2, 0, 12, [],
     ["--gzip", "off"]),
    ("bigheader", ["FILE bigheader:64"], 0, "", NEW, 1, 0, 8),
    ("manyheaders", ["FILE manyheaders:1000"], 0, "", NEW, 1, 0, 8),
    # --- what does not pass: said, and the old prices stand
    ("429_always", ["FILE 429:1"], 1, "HTTP 429, too many requests, after 2 tries", OLD, 2, 1, 12,
     ["--tries", "2"]),
    ("429_for_a_day", ["FILE 429:86400"], 1, "asks to wait 86400 s", OLD, 1, 0, 5),
    ("429_beyond_the_deadline", ["FILE 429:30"], 1, "asks to wait 30 s", OLD, 1, 0, 5,
     ["--max-time", "10s"]),
    ("500_always", ["FILE 500"], 1, "HTTP 500, after 2 tries", OLD, 2, 0, 8, ["--tries", "2"]),
    ("502_always", ["FILE 502"], 1, "HTTP 502, after 2 tries", OLD, 2, 0, 8, ["--tries", "2"]),
    ("503_always", ["FILE 503"], 1, "HTTP 503, after 3 tries", OLD, 3, 0, 12, ["--tries", "3"]),
    ("403", ["FILE 403"], 1, "HTTP 403, the server refuses access", OLD, 1, 0, 5),
    ("404_always", ["FILE 404"], 1, "HTTP 404, no such file", OLD, None, 0, 12, ["--tries", "2"]),
    ("redirect_to_a_file", ["FILE redirect:file:///etc/passwd"], 1, "refused", OLD, 1, 0, 5),
    ("redirect_to_ftp", ["FILE redirect:ftp://127.0.0.1/x"], 1, "refused", OLD, 1, 0, 5),
    ("redirectloop", ["FILE redirectloop"], 1, "more than 5 redirects", OLD, 6, 0, 5),
    ("slow_loris", ["FILE slow:10"], 1, "too slow", OLD, None, 2, 20,
     ["--stall", "2s", "--tries", "2"]),
    ("slow_beyond_the_deadline", ["FILE slow:2000"], 1, "not complete in the time allowed", OLD, None,
     2, 12, ["--max-time", "3s"]),
    ("stall_always", ["FILE stall:30"], 1, "after 2 tries", OLD, None, 2, 20,
     ["--stall", "1s", "--tries", "2"]),
    ("stallbody_always", ["FILE stallbody:20000:30"], 1, "after 2 tries", OLD, None, 2, 20,
     ["--stall", "1s", "--tries", "2"]),
    ("trunc_always", ["FILE trunc:20000"], 1, "after 2 tries", OLD, 3, 0, 12, ["--tries", "2"]),
    ("badlen_too_long_always", ["FILE badlen:1000"], 1, "after 2 tries", OLD, 3, 0, 12,
     ["--tries", "2"]),
    ("badlen_too_short_gzip", ["FILE badlen:-1000"], 4, "index.csv", OLD, None, 0, 12),
    ("badlen_too_short_plain", ["FILE badlen:-1000"], 4, "ends in the middle of a line", OLD, None,
     0, 12, [], ["--gzip", "off"]),
    ("truncchunk_always", ["FILE truncchunk:20000"], 1, "after 2 tries", OLD, 3, 0, 12,
     ["--tries", "2"]),
    ("endless", ["FILE endless:600"], 4, "index.csv", OLD, 1, 0, 20),
    ("bomb", ["FILE bomb:600"], 4, "index.csv", OLD, None, 0, 30),
    ("badgzip", ["FILE badgzip"], 4, "index.csv", OLD, 1, 0, 8),
    ("fakegzip", ["FILE fakegzip"], 4, "gzip", OLD, 1, 0, 8, [], ["--gzip", "off"]),
    ("reset_always", ["FILE reset"], 1, "after 2 tries", OLD, None, 0, 12, ["--tries", "2"]),
    ("resetbody_always", ["FILE resetbody:20000"], 1, "after 2 tries", OLD, 3, 0, 12,
     ["--tries", "2"]),
    ("empty_always", ["FILE empty"], 1, "after 2 tries", OLD, None, 0, 12, ["--tries", "2"]),
    ("html", ["FILE html"], 4, "an HTML page came instead of a price list", OLD, 1, 0, 5),
    ("emptybody", ["FILE emptybody"], 4, "empty", OLD, 1, 0, 5),
    ("garbage", ["FILE garbage"], 1, "index.csv", OLD, None, 0, 12, ["--tries", "2"]),
    ("bigheader_beyond_reason", ["FILE bigheader:2048"], 1, "header", OLD, None, 0, 12,
     ["--tries", "2"]),
    ("manyheaders_beyond_reason", ["FILE manyheaders:100000"], 1, "header", OLD, None, 0, 30,
     ["--tries", "2"]),
    ("index_500", ["*aws/index.json 500"], 1, "HTTP 500", OLD, 0, 0, 8, ["--tries", "2"]),
    ("index_html", ["*aws/index.json html"], 4, "HTML page", OLD, 0, 0, 8),
    ("region_index_trunc", ["*region_index* trunc:50%"], 1, "after 2 tries", OLD, 0, 0, 12,
     ["--tries", "2"]),
    ("self_signed", [], 1, "not trusted", OLD, 0, 0, 8, [], ["--tls", os.path.join(WORK, "tls")]),
]


def one(name, faults, status, text, after, requests, least, most, args=(), extra=()):
    db = os.path.join(WORK, "case", name, "x.db")
    os.makedirs(os.path.dirname(db))
    shutil.copy(TEMPLATE, db)
    server = Server(*[f.replace("FILE", FILE) for f in faults], extra=extra)
    t = time.monotonic()
    rc, _, err = fetch(db, server, *args)
    took = time.monotonic() - t
    asked = len(server.requests("us-east-1/index."))
    server.stop()
    found = dump(db, env())
    is_ = next((k for k, v in want.items() if v == found), "neither old nor new")
    faults = [w for w, ok in (
        ("exit %d" % rc, rc == status), ("prices %s" % is_, is_ == after),
        ("asked %d times" % asked, requests in (None, asked)),
        ("%.1f s" % took, least <= took <= most),
        ("does not say '%s'" % text, text in err),
        ("no address", status == 0 or "127.0.0.1" in err or name.startswith("index")),
        ("damaged", sound(db)),
        ("left %s" % os.listdir(os.path.dirname(db)),
         not [f for f in os.listdir(os.path.dirname(db)) if "staging" in f])) if not ok]
    say(not faults, "fault_%s%s" % (name, (": " + "; ".join(faults) + ": " + err[-500:])
                                    if faults else ""))
    shutil.rmtree(os.path.dirname(db))


def every_fault_has_a_row():
    with open(os.path.join(SHARED, "tools", "fake_vendor_server.py"), encoding="utf-8") as f:
        part = f.read().split("KIND", 1)[1].split('"""')[0]
    used = {w.split(":")[0] for c in CASES for f in c[1] for w in f.split()[1:2]}
    known = set(re.findall(r"[a-z0-9]+", KINDS))
    listed = set(re.findall(r"[a-z0-9]+", part))
    say(known <= used and known <= listed, "each fault of the vendor has a row: lacking %s, no "
        "longer listed %s" % (sorted(known - used), sorted(known - listed)))


def every_fault():
    chosen = [c for c in CASES if len(sys.argv) < 2 or sys.argv[1] in c[0]]
    with ThreadPoolExecutor(5) as pool:  # they mostly wait
        list(pool.map(lambda case: one(*case), chosen))


need_tools("the faults of a vendor")

main([prepare, every_fault_has_a_row, every_fault])
