#!/usr/bin/env bash
# What a user sees of a run: statistics, the timeline, false sharing by source line, and who waits for whom, each of a program of which it is known (sight.cc).
# usage: sight.sh BUILD
set -uo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")")/sight.cc
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"
program=$build/bin/dsm_sight
launchers=$(mpirun_of_each) || exit
has() { grep -qE -- "$1" out || bad "$2: \"$1\" is missing"; }
line_of() { grep -n "$1" "$source" | cut -d: -f1; }

for launcher in $launchers; do
  # --- a table, and the same as JSON
  WEIR_DSM_STATS=1 timeout 60 "$launcher" -n 3 "$program" shared >out 2>&1 || bad "$launcher: status $?"
  has '^weir-dsm: 3 nodes' "$launcher, statistics"
  has '^locks taken +20 +20 +20 +60$' "$launcher, statistics"
  WEIR_DSM_STATS=stats.json WEIR_DSM_TIMELINE=line.json WEIR_DSM_SHARING=sharing.txt timeout 60 "$launcher" -n 3 "$program" shared >out 2>&1 || bad "$launcher: status $?"
  python3 - >>out 2>&1 <<'END' || bad "$launcher: what the files hold"
import json, collections
stats = json.load(open("stats.json"))
assert len(stats["nodes"]) == 3 and stats["all"]["locks"] == 60, stats
for key, value in stats["all"].items():
    assert value == sum(node[key] for node in stats["nodes"]), key
assert all(node["barriers"] == 22 for node in stats["nodes"])  # with weir_dsm_share and weir_dsm_finish
assert stats["all"]["diffs_made"] > 0 and stats["all"]["bytes"] > 0

events = json.load(open("line.json"))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert sorted(names) == [0, 1, 2] and all(name.startswith(f"node {node} on ") for node, name in names.items()), names
tracks = {(e["pid"], e["args"]["name"]) for e in events if e["name"] == "thread_name"}
assert all((node, track) in tracks for node in range(3) for track in ("thread 0", "server")), tracks
spans = [e for e in events if e["ph"] == "X"]
count = collections.Counter((e["pid"], e["name"]) for e in spans)
for node in range(3):
    assert count[node, "barrier 1"] == 20 and count[node, "wait for lock 3"] == 20, count
assert sum(n for (_, name), n in count.items() if name == "miss") == stats["all"]["misses"]
assert sum(n for (_, name), n in count.items() if name == "make diff") >= stats["all"]["diffs_made"]
assert sum(e["args"]["diffs"] for e in spans if e["name"] == "apply diffs") > 0
assert all("in" in e["args"] and "unit" in e["args"] for e in spans if e["name"] in ("miss", "read fault", "write fault"))
held = collections.Counter((e["ph"], e["pid"]) for e in events if e["name"] == "lock 3 held")
assert all(held[phase, node] == 20 for phase in "be" for node in range(3)), held
# Spans of one track lie in each other or apart.
by_track = collections.defaultdict(list)
for e in spans:
    by_track[e["pid"], e["tid"]].append((e["ts"], -e["dur"]))
for track in by_track.values():
    ends = []
    for start, duration in sorted(track):
        while ends and ends[-1] <= start + 0.002:
            ends.pop()
        assert not ends or start - duration <= ends[-1] + 0.002, (start, duration, ends)
        ends.append(start - duration)
# Each request's arrow begins, is seen by a server, and ends, in this order: one host's nodes have one clock.
flows = collections.defaultdict(dict)
for e in events:
    if e["ph"] in "stf":
        flows[e["id"]].setdefault(e["ph"], e["ts"])
whole = [f for f in flows.values() if len(f) == 3]
assert len(whole) > 50, len(whole)
assert all(f["s"] <= f["t"] <= f["f"] for f in whole)
# One lock: at no time two have it.
spans = sorted((e["ts"], e["ph"]) for e in events if e["name"] == "lock 3 held")
depth = 0
for _, phase in spans:
    depth += 1 if phase == "b" else -1
    assert depth <= 1

report = open("sharing.txt").read()
print(report)
END
  cp sharing.txt out
  has "sight.cc:$(line_of ALLOCATED) in main" "$launcher, where it was allocated"
  for node in 0 1 2; do
    has "node $node writes bytes $((node * 128)) to .*, at sight.cc:$(line_of FALSELY) in count" "$launcher, node $node"
  done
  has "advice: the nodes' parts meet inside of units" "$launcher"
  for try in 1 2 3; do  # MPICH's launcher may fail itself when a process ends so early, and lose what it said
    WEIR_DSM_TIMELINE=/no/such/folder/x timeout 60 "$launcher" -n 2 "$program" shared >out 2>&1 && bad "$launcher: a file that cannot be written"
    grep -q 'assert (!closed) failed' out || break
    [ "$try" -lt 3 ] && echo "$launcher has failed, as MPICH's does at times"
  done
  has 'WEIR_DSM_TIMELINE=/no/such/folder/x: No such file' "$launcher"
done

# --- who waits for whom: asked by a signal, and by itself
launcher=$(echo "$launchers" | head -1)
rm -f go
timeout 60 "$launcher" -n 3 "$program" stuck >out 2>&1 &
job=$!
for _ in $(seq 100); do
  [ "$(grep -c ': process' out)" = 3 ] && break
  sleep 0.1
done
sleep 1.5
kill -QUIT "$(sed -n 's/^node 0: process //p' out)"
sleep 1
touch go
wait $job || bad "stuck: status $?"
has 'who waits for whom .node 0 was asked by a signal' "SIGQUIT"
has '^node 0 .*: has waited .* for barrier 5, where these are missing: node 1 \(runs\), node 2 \(waits for lock 7\)' "SIGQUIT"
has '^node 1 .*: runs; holds lock 7, for 1\.' "SIGQUIT"
has '^node 2 .*: has waited .* for lock 7, held by node 1 for 1\.' "SIGQUIT"
rm -f go
(sleep 4; touch go) &
WEIR_DSM_WAITS=1 timeout 60 "$launcher" -n 3 "$program" stuck >out 2>&1 || bad "stuck: status $?"
wait
has 'has waited for long' "WEIR_DSM_WAITS"
[ "$(grep -c 'who waits for whom' out)" -le 2 ] || bad "a long wait is told more than once"  # of node 0, then that of node 2, which began later
circle='deadlock: node [01] waits for lock [12], so for node [01], which waits for lock [12], so for node'
for waits in 0 1; do  # asked for or not: what can never go on ends
  WEIR_DSM_WAITS=$waits timeout 60 "$launcher" -n 2 "$program" circle >out 2>&1
  status=$?
  { [ "$status" != 0 ] && [ "$status" != 124 ]; } || bad "circle, WEIR_DSM_WAITS=$waits: status $status"
  has "node [01]: $circle" "deadlock, WEIR_DSM_WAITS=$waits"
done
exit "$failed"
