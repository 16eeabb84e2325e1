"""Shared by the tests that fetch: a vendor on loopback (../shared/tools/fake_vendor_server.py),
AWS's files laid out for it, the program run against it, and what the database holds."""
import csv
import decimal
import hashlib
import io
import itertools
import json
import os
import select
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

GPUTIER = os.environ.get("GPUTIER", "./gputier")
SHARED = os.environ.get("GPUTIER_SHARED", "../shared")
TOOLS = os.path.join(SHARED, "tools")
WORK = tempfile.mkdtemp(prefix="vendor.")
ROOT = os.path.join(WORK, "root")
AWS_FILE = "/offers/v1.0/aws/AmazonEC2/20260101000000/us-east-1/index."
failures = []
processes = []
numbers = itertools.count()


def say(ok, text):
    print(("ok   " if ok else "FAIL ") + text, flush=True)
    if not ok:
        failures.append(text)


def need_tools(what):
    if not os.path.exists(os.path.join(TOOLS, "fake_vendor_server.py")):
        print("SKIPPED: %s is missing; %s was not tested" % (TOOLS, what))
        sys.exit(77)
    os.makedirs(ROOT, exist_ok=True)


def main(tests):
    """Runs the tests, cleans up, ends with their verdict."""
    try:
        for t in tests:
            t()
    finally:
        for p in processes:
            p.kill()
            p.wait()
        subprocess.run(["chmod", "-R", "u+rwx", WORK], check=False)
        subprocess.run(["rm", "-rf", WORK], check=False)
    if failures:
        print("%d failed:" % len(failures))
        print("\n".join(failures))
    sys.exit(bool(failures))


def put(path, text):
    path = os.path.join(ROOT, path.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def generate(size="2M", seed=1):
    """A generated EC2 offer of us-east-1, as CSV and JSON; the name without its ending."""
    out = os.path.join(WORK, "gen-%s-%d" % (size, seed))
    subprocess.run([sys.executable, os.path.join(TOOLS, "gen_aws_offer.py"), "--size", size,
                    "--seed", str(seed), "--format", "both", "--expected-all", "--regions",
                    "us-east-1", "--out", out], check=True, stdout=subprocess.DEVNULL, timeout=240)
    return out


def lay_out_aws(text):
    """Index, region index and one file as AWS has them; text: {"csv": ..., "json": ...}."""
    base = "/offers/v1.0/aws/"
    put(base + "index.json", json.dumps({"formatVersion": "v1.0", "offers": {"AmazonEC2": {
        "offerCode": "AmazonEC2",
        "currentVersionUrl": base + "AmazonEC2/current/index.json",
        "currentRegionIndexUrl": base + "AmazonEC2/current/region_index.json"}}}))
    put(base + "AmazonEC2/current/region_index.json", json.dumps({"regions": {"us-east-1": {
        "regionCode": "us-east-1", "currentVersionUrl": AWS_FILE + "json"}}}))
    for end in text:
        put(AWS_FILE + end, text[end])


def version_2(text):
    """The same list later: all prices 1 % up, some rows gone."""
    rows = list(csv.reader(io.StringIO(text)))
    head = next(i for i, r in enumerate(rows) if r and r[0] == "SKU")
    at = rows[head].index("PricePerUnit")
    out = io.StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for i, r in enumerate(rows):
        if i > head:
            if i % 97 == 0:
                continue
            r[at] = str(decimal.Decimal(r[at]) * decimal.Decimal("1.01"))
        write.writerow(r)
    return out.getvalue()


class Server:
    """The shared vendor with a fault plan."""

    def __init__(self, *faults, extra=()):
        port_file = os.path.join(WORK, "port%d" % next(numbers))
        self.log = port_file + ".log"
        args = [sys.executable, os.path.join(TOOLS, "fake_vendor_server.py"), "--root", ROOT,
                "--port-file", port_file, "--max-seconds", os.environ.get("VENDOR_SECONDS", "230"), "--log", self.log, *extra]
        for f in faults:
            args += ["--fault", f]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        processes.append(self.process)
        for _ in range(600):
            if os.path.exists(port_file):
                break
            time.sleep(0.02)
        with open(port_file, encoding="ascii") as f:
            self.port = int(f.read())
        self.base = "http%s://127.0.0.1:%d" % ("s" if "--tls" in extra else "", self.port)

    def requests(self, part=""):
        with open(self.log, encoding="utf-8") as f:
            return [r for r in map(json.loads, f) if part in r["path"]]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Listener(threading.Thread):
    """Carries every connection to a free port of loopback in a thread of its own."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            conn, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(conn,), daemon=True).start()

    def serve(self, conn):
        try:
            self.carry(conn)
        except OSError:
            pass

    def carry(self, conn):
        raise NotImplementedError


class Proxy(Listener):
    """A CONNECT and forward proxy; counts what it was asked."""

    def __init__(self, refuse=False, to=None):
        self.refuse = refuse
        self.to = to  # port on this machine that every host stands for
        self.asked = []
        super().__init__()

    def carry(self, conn):
        head = b""
        while b"\r\n\r\n" not in head:
            more = conn.recv(65536)
            if not more:
                return
            head += more
        line = head.split(b"\r\n")[0].decode()
        self.asked.append(head.decode("latin-1"))
        method, target, _ = line.split(" ")
        if self.refuse:
            conn.sendall(b"HTTP/1.1 407 no\r\nProxy-Authenticate: Basic realm=x\r\n"
                         b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            conn.close()
            return
        host, port = (target if method == "CONNECT" else target.split("/")[2]).rsplit(":", 1)
        host = "127.0.0.1" if host.endswith(".invalid") else host
        up = socket.create_connection(("127.0.0.1", self.to) if self.to else (host, int(port)))
        if method == "CONNECT":
            conn.sendall(b"HTTP/1.1 200 ok\r\n\r\n")
        else:
            up.sendall(head)
        pair = {conn: up, up: conn}
        while True:
            for s in select.select(list(pair), [], [])[0]:
                data = s.recv(65536)
                if not data:
                    conn.close()
                    up.close()
                    return
                pair[s].sendall(data)


def certificate(folder, *names):
    """A self-signed certificate for 127.0.0.1 and these hosts: key.pem and cert.pem."""
    os.mkdir(folder)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,"
                    + ",".join("DNS:" + n for n in names)], check=True, stderr=subprocess.DEVNULL)


OWN = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY",
           "NO_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


def environment(server=None, **more):
    """Nothing of the tester's own settings; every source that a test names looks at the server."""
    env = dict(os.environ, HOME=WORK, XDG_CONFIG_HOME=os.path.join(WORK, "config"))
    for k in OWN:
        env.pop(k, None)
    if server:
        base = server if isinstance(server, str) else server.base
        env["GPUTIER_URL_AWS_OFFER"] = env["GPUTIER_URL_SKYPILOT"] = base
    env.update(more)
    return env


def run(db, *args, server=None, timeout=120, env=None):
    r = subprocess.run([GPUTIER, "--db", db, *args], env=env or environment(server),
                       timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)
    return r.returncode, r.stdout, r.stderr


def dump(db, env=None):
    """What a user reads of the prices, byte for byte."""
    out = []
    for what in ([], ["storage"]):
        rc, text, err = run(db, "prices", *what, "--format", "json", env=env)
        assert rc == 0, err
        out.append(text)
    return "".join(out)


def prices(db):
    """Everything that a fetch may change but the record of runs itself."""
    con = sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    h = hashlib.sha256()
    tables = [r[0] for r in con.execute("SELECT name FROM sqlite_master WHERE type='table' "
                                        "AND name NOT LIKE 'sqlite%' ORDER BY name")]
    for t in tables:
        if t in ("fetch_run", "feed", "meta"):
            continue
        for row in con.execute("SELECT * FROM \"%s\" ORDER BY 1, 2" % t):
            h.update(repr((t, row)).encode())
    con.close()
    return h.hexdigest()


def sound(db):
    con = sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    ok = con.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    con.close()
    return ok
