#!/usr/bin/env python3
"""Answers that the shared vendor server lacks: stated checksums, redirects that carry a key to
another host, shrinking and moving bodies, a proxy. Listens on 127.0.0.1 (or ::1), writes its port
to PORT_FILE, a line a request to LOG, ends by itself.

usage: odd_server.py PORT_FILE LOG [--ipv6] [--seconds N]
"""
import base64
import hashlib
import http.server
import json
import os
import socket
import sys
import threading

BODY = b"".join(b"row-%07d,1.25\n" % i for i in range(40000))
OTHER = b"".join(b"row-%07d,7.50\n" % i for i in range(35000))
SHA = base64.b64encode(hashlib.sha256(BODY).digest()).decode()
BAD = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
seen = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self):
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            pass  # a client that refuses an answer hangs up

    def log_message(self, *args):
        pass

    def reply(self, code, body=b"", headers=(), cut=None):
        self.send_response(code)
        for k, v in headers:
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def range_from(self):
        """Where the rest that is asked for begins; None: all is asked for."""
        asked = self.headers.get("Range")
        return int(asked[len("bytes="):].split("-")[0]) if asked else None

    def part(self, body, start, end, headers):
        end = min(end, len(body))
        self.reply(206, body[start:end], headers + [("Content-Range", "bytes %d-%d/%d" % (start, end - 1, len(body)))])

    def do_CONNECT(self):
        self.note()
        self.reply(403)

    def note(self):
        with open(sys.argv[2], "a", encoding="ascii", errors="replace") as f:
            f.write(json.dumps({"path": self.path, "method": self.command,
                                "headers": dict(self.headers.items())}) + "\n")

    def do_POST(self):
        n = int(self.headers.get("Content-Length", "0"))
        got = self.rfile.read(n)
        self.note()
        port = self.server.server_address[1]
        if self.path == "/post-away":
            self.reply(307, headers=[("Location", "http://localhost:%d/q" % port)])
        elif self.path == "/post-here":
            self.reply(308, headers=[("Location", "/q")])
        elif self.path == "/post-see":
            self.reply(303, headers=[("Location", "http://localhost:%d/body" % port)])
        else:
            self.reply(200, b"posted " + got + b"\n")

    def do_GET(self):
        self.note()
        path = self.path
        if path.startswith("http://"):  # asked as a proxy
            path = "/" + path.split("/", 3)[3]
        seen[path] = n = seen.get(path, 0) + 1
        port = self.server.server_address[1]
        plain = [("ETag", '"a"')]
        if path == "/digest-good":
            self.reply(200, BODY, plain + [("Repr-Digest", "sha-256=:%s:" % SHA)])
        elif path == "/digest-bad":
            self.reply(200, BODY, plain + [("x-amz-checksum-sha256", BAD)])
        elif path == "/away":  # another host name, same server
            self.reply(302, headers=[("Location", "http://localhost:%d/body" % port)])
        elif path == "/here":
            self.reply(307, headers=[("Location", "/body")])
        elif path == "/to-ftp":
            self.reply(302, headers=[("Location", "ftp://127.0.0.1/x")])
        elif path == "/to-user":
            self.reply(302, headers=[("Location", "http://user:SECRET@127.0.0.1/x")])
        elif path == "/hops":
            self.reply(302, headers=[("Location", "/hop/1")])
        elif path.startswith("/hop/"):
            i = int(path[5:])
            self.reply(302, headers=[("Location", "/hop/%d" % (i + 1) if i < 4 else "/body")])
        elif path == "/moving":  # cut, and another version when asked to go on
            if n == 1:
                self.reply(200, BODY, [("ETag", '"v1"')], cut=len(BODY) // 2)
            else:
                self.reply(200, BODY[:140], [("ETag", '"v2"')])
        elif path == "/resume":  # cut, then exactly the rest
            at = len(BODY) // 2
            if self.headers.get("Range") == "bytes=%d-" % at and self.headers["If-Range"] == '"a"':
                self.reply(206, BODY[at:], plain + [("Content-Range", "bytes %d-%d/%d"
                                                     % (at, len(BODY) - 1, len(BODY)))])
            else:
                self.reply(200, BODY, plain, cut=at)
        elif path == "/wrong-range":  # cut, then a 206 that begins elsewhere
            if n == 1:
                self.reply(200, BODY, plain, cut=len(BODY) // 2)
            elif "Range" in self.headers:
                self.reply(206, BODY[10:], plain + [("Content-Range", "bytes 10-%d/%d"
                                                     % (len(BODY) - 1, len(BODY)))])
            else:
                self.reply(200, BODY, plain)
        elif path == "/shrunk":  # same validator, shorter body
            if n == 1:
                self.reply(200, BODY, plain, cut=len(BODY) // 2)
            else:
                self.reply(200, BODY[:1000], plain)
        elif path == "/short-range":  # cut, then only a part of the rest each time
            at = self.range_from()
            if at is None:
                self.reply(200, BODY, plain, cut=len(BODY) // 2)
            else:
                self.part(BODY, at, at + 200000, plain)
        elif path == "/modified":  # no ETag; another file by its date, whose rest is sent all the same
            at = self.range_from()
            old = [("Last-Modified", "Tue, 01 Dec 2026 10:00:00 GMT")]
            new = [("Last-Modified", "Wed, 02 Dec 2026 10:00:00 GMT")]
            if n == 1:
                self.reply(200, BODY, old, cut=len(BODY) // 2)
            elif at is not None:
                self.part(OTHER, at, len(OTHER), new)
            else:
                self.reply(200, OTHER, new)
        elif path == "/same-date":  # the rest by its date alone
            at = self.range_from()
            date = [("Last-Modified", "Tue, 01 Dec 2026 10:00:00 GMT")]
            if at is not None and self.headers["If-Range"] == date[0][1]:
                self.part(BODY, at, len(BODY), date)
            else:
                self.reply(200, BODY, date, cut=len(BODY) // 2)
        elif path == "/grown":  # the same ETag, but the file is longer than it was said to be
            at = self.range_from()
            if n == 1:
                self.reply(200, BODY, plain, cut=len(BODY) // 2)
            elif at is not None:
                self.part(BODY + OTHER, at, len(BODY + OTHER), plain)
            else:
                self.reply(200, BODY + OTHER, plain)
        elif path == "/unasked-range":  # a part, though all was asked for
            self.part(BODY, 0, 1000, plain)
        elif path == "/never-whole":  # cut, and then always a part from elsewhere
            if n == 1:
                self.reply(200, BODY, plain, cut=len(BODY) // 2)
            else:
                self.part(BODY, 10, 1000, plain)
        elif path == "/br":
            self.reply(200, BODY, [("Content-Encoding", "br")])
        elif path == "/304":
            self.send_response(304)
            self.end_headers()
        elif path == "/wait-long":
            self.reply(429, headers=[("Retry-After", "86400")])
        elif path == "/401":
            self.reply(401)
        else:
            self.reply(200, BODY, plain)


class V6(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


def main():
    if "--ipv6" in sys.argv:
        server = V6(("::1", 0), Handler)
    else:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 120
    threading.Timer(seconds, lambda: os._exit(0)).start()
    with open(sys.argv[1] + ".tmp", "w", encoding="ascii") as f:
        f.write(str(server.server_address[1]))
    os.rename(sys.argv[1] + ".tmp", sys.argv[1])
    server.serve_forever(0.05)


main()
