#!/usr/bin/env bash
# The long look for a run that differs: thousands of runs of each program under every circumstance that must not matter.
# Not part of ./check. A line for each series says what was seen; every difference names its seed and its command.
# usage: stress.sh [--runs N] [--repeat M] [--limit SECONDS] [--series PATTERN] [--state DIR] [--list] BUILD
#   --runs N          runs of racey for each number of threads and each circumstance (2000)
#   --repeat M        runs of each program of tests/programs at each point, every one with another delay (20)
#   --limit SECONDS   how long one run may take (60)
#   --series PATTERN  only series whose name contains the pattern, a grep -E expression
#   --state DIR       notes what is done in DIR; the same command again goes on where the last one was ended
# status: 0 all the same, 1 something differed or failed, 2 asked wrongly
set -uo pipefail
ulimit -c 0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=2000 repeat=20 limit=60 pattern=. state= list=
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=$2; shift ;;
    --repeat) repeat=$2; shift ;;
    --limit) limit=$2; shift ;;
    --series) pattern=$2; shift ;;
    --state) state=$2; shift ;;
    --list) list=1 ;;
    -*) echo "stress.sh: unknown option $1; its first lines say how it is used" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# = 1 ] || { echo "usage: stress.sh [OPTIONS] BUILD" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
if [ -n "$state" ]; then mkdir -p "$state" && state=$(cd "$state" && pwd) || exit 2; fi
work=$(mktemp -d)
. "$here/circumstances.sh"
trap 'unload; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 2
failed=0 next_word=0

# progress TEXT: at most every five seconds.
progress() {
  if [ "$SECONDS" -lt "$next_word" ]; then return; fi
  next_word=$((SECONDS + 5))
  echo "  ... $*"
}

# What the loader asks the kernel about files stays on the stack, so it is input: when it has changed (a copy, a link, a first
# access of the day), other fingerprints are to be expected.
state_of_files() {
  stat -Lc '%n %i %h %s %X %Y %Z' "$build"/lib/libweir.so "$build/tests/programs/racey" /etc/ld.so.cache \
    $(ldd "$build/tests/programs/racey" | grep -oE '/[^ ]+') 2>/dev/null
}

done_before() { [ -n "$state" ] && grep -qxF "$1" "$state/done" 2>/dev/null; }
note_done() { [ -z "$state" ] || echo "$1" >>"$state/done"; }

# wanted NAME: the series is asked for and not done yet.
wanted() {
  grep -qE -- "$pattern" <<<"$1" || return 1
  if [ -n "$list" ]; then echo "$1"; return 1; fi
  if done_before "$1 $runs $repeat"; then echo "$1: done before"; return 1; fi
}

# racey THREADS CIRCUMSTANCE: every run prints the same signature and leaves the same memory and the same schedule.
racey() {
  local threads=$1 circumstance=$2 name="racey $1 $2" run kinds files bad=0
  wanted "$name" || return
  local prefix=() options=()
  case $circumstance in *pinned*) prefix=(taskset -c "$(first_processor)") ;; esac
  case $circumstance in *loaded*) load ;; *) unload ;; esac
  : >seen
  for ((run = 1; run <= runs && bad < 5; run++)); do
    case $circumstance in *delayed*) options=(--delay $((RANDOM * 32768 + RANDOM + 1))) ;; esac
    local command=("${prefix[@]}" "$build/bin/weir" det --fingerprint --log words "${options[@]}" -- "$build/tests/programs/racey" "$threads")
    if ! result_of "$limit" "${command[@]}"; then
      bad=$((bad + 1))
      echo "FAILED $name: run $run: ${command[*]}: $why"
      continue
    fi
    echo "$result" | paste -sd' ' >line
    if [ -s seen ] && ! cmp -s <(head -n 1 seen) line && [ "$(state_of_files)" != "$files" ]; then
      echo "$name: run $run: files of the program have changed, which is other input; compared anew from here on"
      : >seen
    fi
    [ -s seen ] || files=$(state_of_files)
    if [ -s seen ] && ! cmp -s <(head -n 1 seen) line; then
      bad=$((bad + 1))
      echo "DIFFERS $name: run $run: $(cat line) instead of $(head -n 1 seen): ${command[*]}"
    fi
    cat line >>seen
    progress "$name: $run of $runs"
  done
  kinds=$(sort seen | uniq -c | sort -rn | head -n 4 | sed 's/^ *//' | paste -sd';')
  if [ "$bad" = 0 ]; then note_done "$name $runs $repeat"; else failed=$((failed + 1)); fi
  echo "$name: $((run - 1)) runs, $bad bad; seen: $kinds"
}

# programs POINT CIRCUMSTANCE: every program of the manifest, as tests/run_point.sh judges it, with another delay each time.
programs() {
  local order=${1%-*} view=${1#*-} circumstance=$2 name="programs $1 $2" program run seed bad=0 count=0 prefix=()
  wanted "$name" || return
  case $circumstance in *pinned*) prefix=(taskset -c "$(first_processor)") ;; esac
  case $circumstance in *loaded*) load ;; *) unload ;; esac
  while read -r program; do
    if done_before "$name $program $repeat"; then continue; fi
    local before=$bad
    for ((run = 1; run <= repeat; run++)); do
      seed=$((RANDOM * 32768 + RANDOM + 1))
      [[ $circumstance == *delayed* ]] || seed=
      # Two runs each time, so that what differs from run to run is seen where nothing says what must come out.
      if ! DELAY=$seed LIMIT=$limit REFERENCE=$work/$program.$order-$view "${prefix[@]}" "$here/run_point.sh" "$build" "$program" "$order" "$view" 2 >out 2>&1; then
        bad=$((bad + 1))
        echo "FAILED $name: DELAY=$seed LIMIT=$limit ${prefix[*]} tests/run_point.sh $build $program $order $view 2"
        head -n 30 out | sed 's/^/    /'
      fi
      count=$((count + 2))
      progress "$name: $program, $count runs, $bad bad"
    done
    [ "$bad" != "$before" ] || note_done "$name $program $repeat"
  done < <(grep -oE '^[a-z0-9_]+ *[|]' "$here/programs/MANIFEST" | tr -d ' |')
  if [ "$bad" = 0 ]; then note_done "$name $runs $repeat"; else failed=$((failed + 1)); fi
  echo "$name: $count runs, $bad bad"
}

for threads in 2 4 8; do
  for circumstance in idle pinned delayed loaded loaded-delayed loaded-delayed-pinned; do racey "$threads" "$circumstance"; done
done
for point in token-isolated token-direct free-isolated; do
  for circumstance in delayed delayed-pinned loaded-delayed; do programs "$point" "$circumstance"; done
done
[ -n "$list" ] || echo "$failed series with differences or failures"
[ "$failed" = 0 ]
