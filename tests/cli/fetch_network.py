#!/usr/bin/env python3
"""Networks that are odd or hostile: proxies (plain, CONNECT, with a password, left out by no_proxy),
IPv6 and a broken one (f135_ipv6_stall), names that are not there, nobody who listens, answers that
trickle by the byte, control characters in what a server says, pages of captive portals, certificates.
The prices stay as they were each time. Skips loudly without ../shared."""
import gzip
import os
import shutil
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from vendor import SHARED, WORK, Listener, Proxy, certificate, dump, environment, main, need_tools, run, say

need_tools("odd networks")
NOW = "2026-12-02T10:00:00Z"
with open(os.path.join(SHARED, "samples/cudo/machine-types.response.json"), "rb") as sample:
    BODY = sample.read()
DB = os.path.join(WORK, "x.db")
TLS = os.path.join(WORK, "tls")


class Vendor(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        Vendor.log.append((self.path, dict(self.headers.items())))
        path = "/" + self.path.split("/", 3)[3] if self.path.startswith("http") else self.path
        kind, status, body, headers = "application/json", 200, BODY, []
        if path == "/esc":
            body = BODY.replace(b'"sku"', b'"sku\x1b[31mRED\x07"') + b"\x1b]0;title\x07\x9b31m}"
        elif path == "/bad-json":
            body = b'{"machineTypes": [\x1b[2J\x07 7'
        elif path == "/location":
            status, headers = 302, [("Location", "ftp://x/\x1b[31m\x07\x9bred")]
        elif path == "/coding":
            headers = [("Content-Encoding", "x\x1b[31m\x07y")]
        elif path == "/etag":
            headers = [("ETag", '"a\x1b[31m\x07"')]
        elif path == "/portal":
            kind, body = "application/json", b"\xef\xbb\xbf\n <!DOCTYPE html><html>Sign in</html>"
        elif path == "/portal-gzip":
            kind, body = "text/html; charset=utf-8", gzip.compress(b"<p>Sign in</p>")
            headers = [("Content-Encoding", "gzip")]
        elif path == "/portal-redirect":
            status, headers = 302, [("Location", "/portal")]
        elif path == "/to-plain":
            status, headers = 302, [("Location", "http://127.0.0.1:%d/ok" % plain.server_port)]
        elif path.startswith("/511"):
            status, kind, body = 511, "text/html", b"<html>Network authentication required"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for k, v in headers:
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(body)


class V6(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def start(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


plain = start(ThreadingHTTPServer(("127.0.0.1", 0), Vendor))


def env(url, **more):
    return environment(GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW=NOW,
                       GPUTIER_URL_CUDO=url, GPUTIER_KEY_CUDO="KEY-cudo-8d1c", **more)


def fetch(url, *args, tries="1", **more):
    Vendor.log.clear()
    t = time.monotonic()
    rc, out, err = run(DB, "fetch", "cudo", "--tries", tries, *args, env=env(url, **more))
    text = out + err
    if any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 for c in text):
        say(False, "%s: a control character shows: %r" % (url, text[-300:]))
    if "KEY-cudo" in text or "SECRET" in text:
        say(False, "%s: a secret shows: %r" % (url, text[-300:]))
    return rc, text, time.monotonic() - t


def check(name, found, want_rc, *words):
    rc, text, took = found
    same = dump(DB, env("http://127.0.0.1:1")) == before[0]
    missing = [w for w in words if w not in text]
    ok = rc == want_rc and not missing and (same or want_rc == 0) and took < 30
    say(ok, name if ok else "%s: exit %d, lacks %s, prices %s, %.1f s: %r"
        % (name, rc, missing, "same" if same else "changed", took, text[-400:]))


before = [""]


def prepare():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    found = fetch(base("/ok"))
    before[0] = dump(DB, env(base("/ok")))
    check("a first fetch", found, 0)
    certificate(TLS, "prices.invalid")


def base(path, host="127.0.0.1"):
    return "http://%s:%d%s" % (host, plain.server_port, path)


def proxies():
    proxy = Proxy()
    at = "http://127.0.0.1:%d" % proxy.port
    check("http_proxy is used", fetch(base("/ok", "vendor.invalid"), http_proxy=at), 0)
    say(len(proxy.asked) == 1 and proxy.asked[0].startswith("GET http://vendor.invalid:"),
        "and asked for the whole address")
    check("all_proxy too", fetch(base("/ok", "vendor.invalid"), all_proxy=at), 0)
    proxy.asked.clear()
    check("no_proxy leaves a host out", fetch(base("/ok"), http_proxy=at, no_proxy="127.0.0.1"), 0)
    check("no_proxy=* leaves all out", fetch(base("/ok"), http_proxy=at, no_proxy="*"), 0)
    say(not proxy.asked and len(Vendor.log) == 1, "and goes there directly")
    check("a proxy's password is sent and never shown",
          fetch(base("/ok", "vendor.invalid"), "-v", "-v", "-v",
                http_proxy="http://user:SECRET@127.0.0.1:%d" % proxy.port), 0)
    say("Proxy-Authorization: Basic" in proxy.asked[-1], "a proxy's password was sent")
    closed = socket.create_server(("127.0.0.1", 0))
    nobody = closed.getsockname()[1]
    closed.close()
    check("a proxy that is not there", fetch(base("/ok"), http_proxy="http://user:SECRET@127.0.0.1:%d"
                                             % nobody), 1, "127.0.0.1")
    refusing = Proxy(refuse=True)
    check("a proxy that wants a password", fetch(base("/ok"), http_proxy="http://127.0.0.1:%d"
                                                 % refusing.port), 1, "407")


def https():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS + "/cert.pem", TLS + "/key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    start(server)
    url = "https://127.0.0.1:%d" % server.server_port
    ca = {"SSL_CERT_FILE": TLS + "/cert.pem"}
    check("an unknown issuer is refused", fetch(url + "/ok", tries="5"), 1, "not trusted", "SSL_CERT_FILE")
    say(not Vendor.log, "before anything was asked, and the key sent")
    check("a known one is trusted", fetch(url + "/ok", **ca), 0)
    check("CURL_CA_BUNDLE as well", fetch(url + "/ok", CURL_CA_BUNDLE=TLS + "/cert.pem"), 0)
    check("a CA file that is not there", fetch(url + "/ok", SSL_CERT_FILE="/nowhere.pem"), 1, "cert")
    check("another host's certificate is refused",
          fetch("https://localhost:%d/ok" % server.server_port, **ca), 1, "not trusted")
    check("a redirect from https to http is refused", fetch(url + "/to-plain", **ca), 1,
          "redirect from https to http")
    proxy = Proxy()
    at = "http://127.0.0.1:%d" % proxy.port
    check("https goes through a proxy by CONNECT",
          fetch("https://prices.invalid:%d/ok" % server.server_port, https_proxy=at, **ca), 0)
    say(proxy.asked[0].startswith("CONNECT prices.invalid:") and "KEY-cudo" not in proxy.asked[0],
        "and the proxy does not see the key: %s" % proxy.asked[0].split("\r\n")[0])
    check("the certificate is checked behind a proxy too",
          fetch("https://prices.invalid:%d/ok" % server.server_port, https_proxy=at), 1, "not trusted")
    check("HTTP to a port of TLS", fetch("http://127.0.0.1:%d/ok" % server.server_port), 1)
    check("TLS to a port of HTTP", fetch("https://127.0.0.1:%d/ok" % plain.server_port), 1)


def f135_ipv6_stall():
    try:
        server = start(V6(("::1", 0), Vendor))
    except OSError:
        print("SKIPPED: this machine has no ::1; IPv6 was not tested")
        return
    check("an IPv6 address is spoken to", fetch("http://[::1]:%d/ok" % server.server_port), 0)
    check("f135: -4 leaves IPv6 out", fetch("http://[::1]:%d/ok" % server.server_port, "-4"), 1)
    check("-6 leaves IPv4 out", fetch(base("/ok"), "-6"), 1)
    check("both exclude each other", fetch(base("/ok"), "-4", "-6"), 2, "exclude")
    # The same port on both: on ::1 a full queue that takes no connection (packets are dropped, as
    # where IPv6 is broken), on 127.0.0.1 the vendor.
    silent = socket.socket(socket.AF_INET6)
    silent.bind(("::1", plain.server_port))
    silent.listen(0)
    filler = []
    for _ in range(3):
        s = socket.socket(socket.AF_INET6)
        s.setblocking(False)
        s.connect_ex(("::1", plain.server_port))
        filler.append(s)
    time.sleep(0.2)
    found = fetch(base("/ok", "localhost"))
    check("f135: a broken IPv6 falls back to IPv4", found, 0)
    say(found[2] < 5, "f135: soon: %.1f s" % found[2])
    found = fetch(base("/ok", "[::1]"), "--connect-time", "1s")
    check("f135: the time for a connection is limited apart", found, 1, "after 1")
    say(1 <= found[2] < 6, "f135: as asked: %.1f s" % found[2])
    for s in filler + [silent]:
        s.close()


def nobody():
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    found = fetch("http://127.0.0.1:%d/ok" % port, tries="3")
    check("nobody listens", found, 1, "after 3 tries", "127.0.0.1:%d" % port)
    check("a name that is not there", fetch("http://vendor.invalid/ok", tries="2"), 1,
          "resolve", "vendor.invalid")
    check("no such scheme", fetch("gopher://127.0.0.1/ok"), 1, "only http:// and https://")
    check("a password in the address", fetch("http://u:SECRET@127.0.0.1/ok"), 1, "environment")


class Trickle(Listener):
    """Sends its text a byte at a time, for ever when it ends (a header line without an end)."""

    def __init__(self, text, pause=0.05):
        self.text, self.pause = text, pause
        super().__init__()
        self.url = "http://127.0.0.1:%d/ok" % self.port

    def carry(self, conn):
        conn.recv(65536)
        for c in self.text:
            conn.sendall(bytes([c]))
            time.sleep(self.pause)
        while True:
            conn.sendall(b"x" if self.pause else b"X-More: " + b"y" * 2000 + b"\r\n")
            time.sleep(self.pause)


def trickles():
    slow = Trickle(b"HTTP/1.1 200 OK\r\nX-Long: ")
    found = fetch(slow.url, "--stall", "2s", tries="1")
    check("slow loris in the header", found, 1, "too slow")
    say(found[2] < 8, "slow loris: ended after %.1f s" % found[2])
    slow = Trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n", 0.03)
    check("slow loris in the body", fetch(slow.url, "--stall", "2s"), 1, "too slow")
    check("slow loris under a deadline", fetch(slow.url, "--max-time", "2s"), 1, "time allowed")
    check("header lines without end", fetch(Trickle(b"HTTP/1.1 200 OK\r\n", 0).url), 1, "header")
    check("interim answers without end",
          fetch(Trickle(b"HTTP/1.1 100 Continue\r\n\r\n" * 20000, 0).url, "--max-time", "10s"), 1)


def control_characters():
    for path, rc, words in (("/bad-json", 4, ["cudo"]), ("/location", 1, ["refused"]),
                            ("/coding", 0, [])):
        found = fetch(base(path), "-v", "-v", "-v")
        check("control characters: %s" % path, found, found[0], *words)
        say(found[0] == rc, "control characters: %s: exit %d" % (path, found[0]))
    fetch(base("/esc"), "-v", "-v")
    copy = os.path.join(WORK, "copy.db")
    shutil.copy(DB, copy)
    rc, _, err = run(copy, "fetch", "cudo", env=env(base("/etag")))
    rc2, _, err2 = run(copy, "fetch", "cudo", env=env(base("/etag")))
    say(rc == 0 and rc2 == 0 and all("If-None-Match" not in h for _, h in Vendor.log),
        "an ETag with control characters is none: %s%s" % (err[-100:], err2[-100:]))
    _, out, _ = run(DB, "sources", env=env(base("/ok")))
    say("\x1b" not in out and "\x07" not in out, "sources shows none either")


def portals():
    for path in ("/portal", "/portal-gzip", "/portal-redirect"):
        check("captive %s" % path, fetch(base(path)), 4, "an HTML page came")
    check("a network that wants a sign-in", fetch(base("/511")), 1, "HTTP 511")


main([prepare, proxies, https, f135_ipv6_stall, nobody, trickles, control_characters, portals])
