#!/usr/bin/env python3
"""A file that is no page of its list (nothing, an error, another document) among good pages would pass for
the end of the list, or leave a hole in it: it is refused, told by name, and the prices stay. Of every source
whose lists come in pages. Needs ../shared (skips loudly)."""
import gzip
import os
import sqlite3
import sys

from little import Box, check, main

SHARED = os.environ.get("GPUTIER_SHARED", "../shared")
SAMPLES = os.path.join(SHARED, "samples")
PAGES = {  # a good page, the member that holds its rows, an empty page of it
    "azure-retail": ("azure/retail-prices.page1.json", "Items", '{"Items":[],"NextPageLink":null}'),
    "digitalocean": ("digitalocean/sizes.json", "sizes", '{"sizes":[],"links":{}}'),
    "gcp-skus": ("gcp/skus.gpu.2025-06.trimmed.json", "skus", '{"nextPageToken":""}'),
    "oci": ("oci/cetools-products.usd.trimmed.json", "items", '{"items":[]}'),
    "vast": ("vast/search-offers.raw.2024-08.json", "offers", '{"offers":[]}'),
    "verda": ("verda/instance-types.json", "", "[]"),
    "vultr": ("vultr/plans.json", "plans", '{"plans":[],"meta":{"total":0}}'),
}
NONE = ["", "\n", " \r\n\t", "null", "7", '"page"', '{"error":{"code":503,"message":"try later"}}', '{"message":"try later"}',
        '{"LIST":null}', '{"LIST":"none"}', '{"meta":{"LIST":[]}}']
if not os.path.isdir(SAMPLES):
    print("SKIPPED: %s is missing" % SAMPLES)
    sys.exit(77)


def stored(box):
    with sqlite3.connect(box.env["GPUTIER_DB"]) as db:
        return sorted(db.execute("SELECT place, instance_type, purchase, price FROM offer WHERE known_to IS NULL"))


def each_source_refuses_what_is_no_page():
    for kind, (sample, member, empty) in PAGES.items():
        with open(os.path.join(SAMPLES, sample), "rb") as f:
            good = f.read()
        box = Box()
        box.take(kind, [good, empty])
        before = stored(box)
        check("%s: rows" % kind, len(before) > 0)
        for text in NONE:
            text = text.replace("LIST", member or "x")
            if kind == "verda" and text.startswith("{"):
                continue  # its whole document is the list
            for order in ([good, text], [text, good], [good, gzip.compress(text.encode())]):
                paths = [box.file("p%d" % i, t) for i, t in enumerate(order)]
                r = box.run("import", kind, *paths)
                bad = paths[order.index(good) ^ 1]
                check("%s: %r is refused: %s" % (kind, text, r.stderr + r.stdout), (r.returncode in (1, 4), bad in r.stderr), (True, True))
        check("%s: the prices stay" % kind, stored(box), before)


main([each_source_refuses_what_is_no_page])
