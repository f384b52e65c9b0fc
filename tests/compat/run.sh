#!/bin/bash
# Runs unmodified Debian programs natively and under Weir on the same small input and
# compares what they did. README.md beside this file tells how a case is written.
set -uo pipefail
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/games

usage() {
  cat <<'END'
usage: run.sh [options]
  --order O, --view V  the point to run at              (token, isolated)
  --threads N          threads that a program is told to make         (4)
  --weir PATH          the weir command        (build/release/bin/weir)
  --record             record each program, then replay it with its files gone
  --check              under the race checker: its reports are counted, no failure
  --native             run natively both times: tests the suite itself
  --prefix 'CMD ...'   put CMD before each program instead of `weir run`
  --limit SECONDS      for every pass, in place of the case's own limit
  --only NAMES         these cases only (comma-separated)
  --set NAME           usual (folder cases), more (large programs), all (usual)
  --family NAMES       these files of cases only (comma-separated)
  --every              cases at points that they are not for too
  --repeat N           N runs under Weir after the native one         (1)
  --size small|full    0.6 MB of input, or 3 MB                   (small)
  --jobs N             cases that run at the same time                (1)
  --strict             a program that is not installed is a failure
  --keep               keep the work directory of a failed case
  --list               print the cases (family, name) and leave
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
order=token view=isolated threads=4 size=small jobs=1 repeat=1
weir=$here/../../build/release/bin/weir
set=usual record= check= every= native= prefix= limit= only= families= strict= keep= list=
while [ $# -gt 0 ]; do
  case $1 in
    --order | --view | --threads | --weir | --prefix | --only | --size | --jobs | --repeat | --limit | --family | --set)
      [ $# -ge 2 ] || { echo "run.sh: $1 needs a value" >&2; exit 2; }
      name=${1#--}
      [ "$name" != family ] || name=families
      printf -v "$name" %s "$2"
      shift ;;
    --record | --check | --every | --native | --strict | --keep | --list) printf -v "${1#--}" yes ;;
    --help) usage; exit 0 ;;
    *) echo "run.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

source "$here/table.sh"
source "$here/leftovers.sh"
source "$here/replays.sh"
case $set in
  usual) folders=$here/cases ;;
  more) folders=$here/more ;;
  all) folders=$here/cases:$here/more ;;
  *) echo "run.sh: no set is called $set" >&2; exit 2 ;;
esac
load_cases "$folders" "$families" || exit 2
if [ -n "$list" ]; then
  for name in "${case_names[@]}"; do
    [ -z "$record" ] || { attribute_has "$name" orders record && attribute_has "$name" views "$view"; } || continue
    [ -z "$check" ] || attribute_has "$name" orders check || continue
    echo "${case_family[$name]} $name"
  done
  exit 0
fi

if [ -n "$native" ]; then
  point=native prefix=
elif [ -n "$prefix" ]; then
  point=prefix prefix=${prefix// /$'\n'}
else
  weir=$(realpath -m "$weir")
  [ -x "$weir" ] || { echo "run.sh: no weir command at $weir (build it, or --weir PATH)" >&2; exit 2; }
  point="$order x $view"
  printf -v prefix '%s\n' "$weir" run --order "$order" --view "$view" --
  [ -z "$record" ] || point="record x $view"
  [ -z "$check" ] || point=check
fi

[[ ${TMPDIR:-} != *[[:space:]]* ]] || TMPDIR=/tmp  # file:// addresses and nginx.conf hold paths
work=$(mktemp -d "${TMPDIR:-/tmp}/compat.XXXXXX") || exit 2
trap 'end_runs; [ -n "$keep" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export COMPAT_INPUT=$work/input COMPAT_THREADS=$threads COMPAT_CASES=$folders COMPAT_SIZE=$size COMPAT_ORDER=$order
"$here/make_input" "$COMPAT_INPUT" "$size" || exit 2

# One pass of a case, in a session of its own: `pass NAME DIRECTORY PREFIX`.
# PREFIX has one word a line. Leaves DIRECTORY/{stdout,stderr,seconds}; the status is the case's own, 124 = out of time.
pass() {
  local name=$1 place=$2 status session start=$EPOCHREALTIME
  mkdir -p "$place/files" "$place/tmp"
  COMPAT_PREFIX=$3 COMPAT_MARK=$place COMPAT_LIMIT=${limit:-$(attribute "$name" limit)} TMPDIR=$place/tmp \
    setsid timeout --kill-after=5 "${limit:-$(attribute "$name" limit)}" \
    bash "$here/pass.sh" "${case_family[$name]}" "$name" "$place/files" \
    >"$place/stdout" 2>"$place/stderr" </dev/null &
  session=$!
  echo "$session" >"$place/session"
  wait "$session"
  status=$?
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }' >"$place/seconds"
  return "$status"
}

# The last words of a pass, on one line.
last_words() { tail -n 4 "$1/stderr" | tr -c '[:print:]' ' ' | tail -c 300; }

# Says why a case is not for this point; nothing if it is.
not_for() {
  [ -z "$every" ] || return 0
  case $point in
    record*) attribute_has "$1" orders record || { echo "cannot be recorded, or not be replayed exactly"; return; } ;;
    check) attribute_has "$1" orders check || echo "not for the race checker"; return ;;
    "$order x $view") attribute_has "$1" orders "$order" || { echo "not for order $order"; return; } ;;
    *) return ;;
  esac
  attribute_has "$1" views "$view" || echo "not for view $view"
}

# `N races reported`, by the log of `weir check`.
races() { awk '/^weir: .*[0-9]+ races? found/ { n += $2 } END { if (n) print " " n " races reported" }' "$1" 2>/dev/null; }

# Prints the verdict of one case.
judge() {
  local name=$1 place=$work/$1 status expected i why='' seconds=0 base
  local verdict missing
  missing=$(missing_programs "$name")
  if [ -n "$missing" ]; then
    verdict=skip
    [ -z "$strict" ] || verdict=FAIL
    echo "$verdict $name 0 s (native 0 s) not installed: $missing"
    return
  fi
  why=$(not_for "$name")
  if [ -n "$why" ]; then
    echo "skip $name 0 s (native 0 s) $why"
    return
  fi

  pass "$name" "$place/native" ""
  expected=$?
  leftovers "$place/native" >/dev/null  # what a program leaves behind natively is no news
  base=$(cat "$place/native/seconds")
  if [ "$expected" -ne 0 ]; then
    echo "FAIL $name 0 s (native $base s) natively: status $expected: $(last_words "$place/native")"
    return
  fi
  for ((i = 1; i <= repeat && ${#why} == 0; i++)); do
    shared_memory_files >"$place/shared_before"
    [ -z "$record" ] || prefix=$(recording_prefix "$place/weir$i")
    # Also for a program that becomes another user.
    [ -z "$check" ] || { mkdir -p "$place"; : >"$place/races"; chmod 666 "$place/races"; }
    [ -z "$check" ] || printf -v prefix '%s\n' "$weir" check --exit-code=0 --quiet --log "$place/races" --
    pass "$name" "$place/weir$i" "$prefix"
    status=$?
    seconds=$(cat "$place/weir$i/seconds")
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
      why="out of time (${limit:-$(attribute "$name" limit)} s): $(last_words "$place/weir$i")"
    elif [ "$status" -ne 0 ]; then
      why="status $status: $(last_words "$place/weir$i")"
    elif ! cmp -s "$place/native/stdout" "$place/weir$i/stdout"; then
      why="differs: $(diff "$place/native/stdout" "$place/weir$i/stdout" | head -n 3 | tr '\n' ' ')"
    fi
    [ -z "$why" ] || [ -z "$check" ] || why+=" $(grep -v '^ ' "$place/races" 2>/dev/null | tail -n 2 | tr '\n' ' ' | tail -c 300)"
    [ -z "$why" ] || [ -z "$record" ] || why+=" $(cat "$place/weir$i"/recordings/*/log 2>/dev/null | tail -n 2 | tr '\n' ' ' | tail -c 300)"
    why+=$(leftovers "$place/weir$i")
    [ -z "$record" ] || [ -n "$why" ] || why=$(replay_all "$place/weir$i" "${limit:-$(attribute "$name" limit)}")
    why+=$(new_shared_memory "$place/shared_before")
    [ -n "$why" ] || rm -rf "$place/weir$i"
  done
  if [ -z "$why" ]; then
    echo "ok $name $seconds s (native $base s)$(races "$place/races")"
    rm -rf "$place"
  else
    echo "FAIL $name $seconds s (native $base s) $why"
    if [ -n "$keep" ]; then echo "     kept: $place"; else rm -rf "$place"; fi
  fi
}

chosen=()
for name in "${case_names[@]}"; do
  [ -z "$only" ] || [[ ,$only, == *,$name,* ]] || continue
  chosen+=("$name")
done
[ ${#chosen[@]} -gt 0 ] || { echo "run.sh: no case is called $only" >&2; exit 2; }
echo "compat: ${#chosen[@]} cases, $point, $threads threads, $size input"

running=0
for name in "${chosen[@]}"; do
  if [ "$jobs" -le 1 ]; then
    judge "$name" | tee -a "$work/verdicts"
  else
    while [ "$running" -ge "$jobs" ]; do wait -n; running=$((running - 1)); done
    judge "$name" | tee -a "$work/verdicts" &
    running=$((running + 1))
  fi
done
wait

count() { grep -c "^$1 " "$work/verdicts" || true; }
failed=$(count FAIL)
[ "$failed" -eq 0 ] || { echo "failed:"; grep '^FAIL ' "$work/verdicts" | cut -d' ' -f2 | sed 's/^/  /'; }
[ "$failed" -gt 0 ] || keep=
echo "$(count ok) passed, $failed failed, $(count skip) skipped"
[ "$failed" -eq 0 ]
