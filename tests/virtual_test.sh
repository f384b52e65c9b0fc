#!/usr/bin/env bash
# weir det --virtual: programs whose inputs are random bytes, clocks and process ids print the same in every run, on all processors, on
# one and with delays; and compute in the same memory.
# usage: virtual_test.sh BUILD      RUNS (environment): of each program, default 20
set -uo pipefail
ulimit -c 0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/circumstances.sh"
weir=$1/bin/weir runs=${RUNS:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "$*"; failed=1; }
export PYTHONDONTWRITEBYTECODE=1

# once OUT VIEW INPUTS PREFIX... -- COMMAND...: one run, in a folder that nothing changes, as its time is input (Python 3.13 asks for it),
# beside an empty folder
mkdir still
once() {
  local out=$1 view=$2 inputs=$3 prefix=()
  shift 3
  while [ "$1" != -- ]; do prefix+=("$1"); shift; done
  shift
  rm -rf place words && mkdir place
  (cd still && timeout -k 2 30 "${prefix[@]}" "$weir" run --order token --view "$view" --fingerprint --log "$work/words" "${delay[@]}" \
    --virtual "$inputs" -- "$@") >"$out" 2>err </dev/null
  echo "status $?" >>err
  if [ "$out" = /dev/null ]; then grep -o 'memory [0-9a-f]*' words | sort >fingerprint; fi
}

# same NAME VIEW INPUTS WHAT COMMAND...: as often as asked. WHAT: output, or memory too
same() {
  local name=$1 view=$2 inputs=$3 what=$4 run memory=
  shift 4
  for ((run = 0; run < runs; run++)); do
    local prefix=()
    delay=()
    [ $((run % 4)) != 1 ] || prefix=(taskset -c "$(first_processor)")
    [ $((run % 4)) != 2 ] || delay=(--delay $((RANDOM + 1)))
    once now "$view" "$inputs" "${prefix[@]}" -- "$@"
    grep -qx 'status 0' err || { fail "$name, $view: $(tail -n 2 now) $(cat err words)"; return; }
    [ $run = 0 ] && cp now first
    cmp -s now first || { fail "$name, $view, run $run: $(diff first now | head -n 6)"; return; }
    [ "$what" = memory ] || continue
    once /dev/null "$view" "$inputs" "${prefix[@]}" -- "$@"
    [ $run = 0 ] && cp fingerprint memory
    cmp -s fingerprint memory || { fail "$name, $view, run $run: memory: $(diff memory fingerprint)"; return; }
  done
  echo "$name, $view: $runs runs, the same: $(head -c 100 first | head -n 1)"
}

# other NAME: what the last program prints with other inputs is not what it printed
other() {
  local name=$1 inputs=$2
  shift 2
  delay=()
  once now isolated "$inputs" -- "$@"
  grep -qx 'status 0' err || fail "$name, $inputs: $(tail -n 2 now) $(cat err)"
  ! cmp -s now first || fail "$name: --virtual $inputs prints the same"
}

${CC:-cc} -O1 -Wall -pthread -o inputs "$here/virtual/inputs.c" || exit 1
${CXX:-c++} -O1 -std=c++17 -pthread -o devices "$here/virtual/devices.cc" || exit 1
${CC:-cc} -O1 -Wall -pthread -o waits "$here/virtual/waits.c" || exit 1
all=random,time,pid
same "inputs, alone" isolated $all output "$work/inputs"
for view in isolated direct; do same inputs $view $all output "$work/inputs" 4; done
other "inputs, another seed" random=7,time,pid "$work/inputs" 4
other "inputs, another time" random,time=1234567890,pid "$work/inputs" 4
grep -q '^clock 0 1234567890' now || fail "time=1234567890: $(grep '^clock 0' now)"
for view in isolated direct; do runs=4 same waits $view $all output "$work/waits"; done
same devices isolated $all memory "$work/devices"
if command -v perl >/dev/null; then
  same perl isolated $all memory "$(command -v perl)" -e '%h = map { $_ => 1 } "a".."z"; print join(",", keys %h), " ", time, " $$ ", rand, "\n"'
fi
if [ -x /usr/bin/python3 ]; then
  same python isolated $all memory /usr/bin/python3 -c 'print(hash("x"))'
  other "python, another seed" random=7,time,pid /usr/bin/python3 -c 'print(hash("x"))'
  same "python, threads and children" isolated $all output /usr/bin/python3 -c '
import os, random, subprocess, threading, time, uuid
lines = [None] * 4
def work(i): lines[i] = (random.Random().random(), uuid.uuid4(), time.time(), threading.get_native_id(), hash(str(i)))
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
print(*lines, sep="\n")
print(subprocess.run(["sh", "-c", "echo $$ $PPID; date +%s; sleep 1; date +%s; od -An -N8 -tx8 /dev/urandom"], capture_output=True, text=True).stdout)'
fi
if command -v rustc >/dev/null; then
  cat >map.rs <<'RS'
use std::collections::HashMap;
fn main() {
    let map: HashMap<i32, i32> = (0..20).map(|i| (i, i)).collect();
    let handle = std::thread::spawn(|| (0..20).map(|i| (i, i)).collect::<HashMap<i32, i32>>().into_keys().collect::<Vec<_>>());
    println!("{:?} {:?} {} {:?}", map.keys().collect::<Vec<_>>(), handle.join().unwrap(), std::process::id(), std::time::SystemTime::now());
}
RS
  if rustc -O map.rs 2>/dev/null; then same "Rust's HashMap" isolated $all memory "$work/map"; fi
fi
# One kind alone leaves the others as they are: --virtual time says nothing of ids.
"$weir" det --virtual time -- sh -c 'echo $$; date +%s' >now 2>err
[ "$(sed -n 1p now)" -lt 5000000 ] && [ "$(sed -n 2p now)" = 1767225600 ] || fail "time alone: $(cat now err)"
# What cannot be: said by name.
refused() {
  local words=$1
  shift
  "$weir" "$@" >now 2>err && fail "weir $*: not refused"
  grep -q "$words" err || fail "weir $*: $(cat err)"
}
refused 'goes with --order token' run --virtual time -- true
refused 'a recording keeps' record --virtual time -- true
refused 'made constant by weir det' check --virtual time -- true
refused 'random, random=SEED' det --virtual clock -- true
refused 'not a number' det --virtual time=soon -- true
refused 'the value is missing' det --virtual -- true
exit $failed
