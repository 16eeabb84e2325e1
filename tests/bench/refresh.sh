#!/usr/bin/env bash
# CPU time of a refresh with nothing new, over loopback: `fetch` of three sources less `fetch` of one, by
# two, so that what a process pays once (starting, loading libcurl) is shown apart. Least of 15 each.
set -eu
cd "$(dirname "$0")/../.."
shared=${GPUTIER_SHARED:-../shared}
if [ ! -d "$shared/samples/fx" ]; then echo "SKIPPED: no $shared/samples"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$work" "${GPUTIER:-./gputier}" "$shared/samples" <<'P'
import os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
work, gputier, samples = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3]
FILES = {'ecb-fx': 'fx/eurofxref-daily.2026-07-09.excerpt.xml', 'aws-spot-advisor': 'aws/spot-advisor-data.trimmed.json',
         'jarvislabs': 'jarvislabs/server-meta.json'}
body = {}
for source, path in FILES.items():
    with open(os.path.join(samples, path), 'rb') as f:
        body['/' + source] = f.read()
asked = []

class Vendor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        tag, same = '"one"', self.headers.get('If-None-Match') == '"one"'
        text = b'' if same else body[self.path]
        asked.append(304 if same else 200)
        self.send_response(asked[-1])
        self.send_header('ETag', tag)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.mkdir(work + '/empty')
os.environ.update(GPUTIER_DATA=work + '/empty', XDG_CACHE_HOME=work + '/cache', GPUTIER_KEY_JARVISLABS='none')
for source in FILES:
    os.environ['GPUTIER_URL_' + source.upper().replace('-', '_')] = f'http://127.0.0.1:{server.server_port}/{source}'

def cpu(*args):
    null = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawn(gputier, [gputier, '--db', work + '/x.db', '-q', *args], os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status, use = os.wait4(pid, 0)
    os.close(null)
    if status:
        sys.exit(f'{args} ended with status {status}')
    return (use.ru_utime + use.ru_stime) * 1000

cpu('fetch', *FILES)
del asked[:]
n = 15
start = min(cpu('sources') for _ in range(n))
first = min(cpu('fetch', 'ecb-fx') for _ in range(n))
all3 = min(cpu('fetch', *FILES) for _ in range(n))
one, each = asked == [304] * (4 * n), (all3 - first) / 2
print(f'refresh with nothing new: {len(asked) / (4 * n):g} conditional request(s), {each:.1f} ms of CPU each (at most 5);'
      f' once a process, {start:.1f} ms of starting and {first - start - each:.1f} ms of loading libcurl')
sys.exit(0 if one and each < 5 else 1)
P
