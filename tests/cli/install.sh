#!/usr/bin/env bash
# make install with any PREFIX and DESTDIR: the installed program finds its shipped data by itself, also
# after the tree was moved; uninstall leaves nothing.
set -eu
O=$(dirname "$GPUTIER")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset GPUTIER_DATA
make -s install O="$O" DESTDIR="$dir/stage" PREFIX=/opt/tools >/dev/null
mv "$dir/stage/opt/tools" "$dir/moved"
cd "$dir"
moved/bin/gputier --db "$dir/x.db" prices --gpu H100 --limit 1 | grep -q H100
moved/bin/gputier --db "$dir/x.db" plan moved/share/gputier/examples/vision-team.yaml --top 1 | grep -q 'Why plan 1'
cd - >/dev/null
make -s install O="$O" DESTDIR="$dir/again" PREFIX=/usr >/dev/null
make -s uninstall DESTDIR="$dir/again" PREFIX=/usr
left=$(find "$dir/again" -type f | wc -l)
[ "$left" -eq 0 ]
