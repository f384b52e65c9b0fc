#!/usr/bin/env bash
# A program, built as users build theirs: its output, its status and what its sanitizer reports are those of a run without Weir,
# under det (three times the same), record and replay.
# usage: run.sh BUILD NAME      NAME: of tests/builds/BUILDS
#        run.sh --list          the names
# It works in a folder of its own.
set -uo pipefail
builds=$(dirname "${BASH_SOURCE[0]}")/BUILDS
if [ "$1" = --list ]; then
  sed -n 's/^\([a-z][a-z_0-9]*\)|.*/\1/p' "$builds"
  exit 0
fi
# shellcheck source=tests/work.sh
. "$(dirname "${BASH_SOURCE[0]}")/../work.sh"
name=$2
IFS='|' read -r _ compiler source options preload compared < <(grep "^$name|" "$here/BUILDS")
[ -n "$compiler" ] || { echo "builds: there is no build $name" >&2; exit 1; }
unset ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS MSAN_OPTIONS LD_PRELOAD WEIR_OPTIONS
export WEIR_CACHE=off

fail() {
  echo "builds: $name: $1" >&2
  shift
  for file; do sed "s/^/  $file: /" "$file" >&2; done
  exit 1
}

case $compiler in
  clang | clang++) compiler=$("$here/../clang" "${compiler#clang}") || exit 1 ;;
esac
libraries=$(dirname "$(gcc -print-file-name=libc.so)")
libraries=$(realpath "$libraries")
options=${options//LIB/$libraries}
[[ $options != *RUNTIME* ]] ||
  options=${options//RUNTIME/$(dirname "$("$compiler" -print-file-name=libclang_rt.asan-x86_64.so)")}
options=${options/-fuse-ld=lld/-fuse-ld=lld-${compiler##*-}}
cp "$here/$source" .
# shellcheck disable=SC2086
"$compiler" -g -O1 -pthread "$source" $options -o program >compiled 2>&1 || fail "it does not compile (tools/setup builds)" compiled

# run OUTPUT COMMAND...: its output, errors and status as files; Weir's own words in OUTPUT.weir.
run() {
  local to=$1
  shift
  timeout -k 5 100 "${how[@]}" "$@" >"$to.out" 2>"$to.err"
  echo $? >"$to.status"
}

# What differs from run to run without Weir as well: pids, addresses. Below main the C library's function that calls it is Weir's.
plain() {
  sed -E -i 's/==[0-9]+==/==PID==/; s/0x[0-9a-f]+/0xN/g; /^ +#[0-9]+ 0xN .*(__libc_start_|run_main|libc\.so|libweir\.so)/d' "$1.err"
}

same() {  # same ONE OTHER WHAT
  for part in out err status; do
    cmp -s "$1.$part" "$2.$part" || fail "$3: another $part" "$1.$part" "$2.$part"
  done
}

# Where the kernel draws addresses from more than 28 bits, the sanitizers of these releases end by a signal now and then.
how=(setarch -R)
[ -z "$preload" ] || how+=(env "LD_PRELOAD=$preload")
run native ./program
plain native
if [ "$compared" = refused ]; then
  for command in "det" "record -o recording" "check"; do
    # shellcheck disable=SC2086
    run refused "$weir" $command -- ./program
    [ "$(cat refused.status)" = 126 ] && grep -q "^weir: ./program is built with the .* sanitizer (-fsanitize=" refused.err &&
      [ "$(wc -l <refused.err)" = 1 ] || fail "$command is not refused" refused.err refused.status
  done
  run direct "$weir" run --order free --view direct -- ./program
  plain direct
  same native direct "free x direct"
  echo "builds: $name: refused by name"
  exit 0
fi

coverage() {  # how often each line was executed, and nothing is left for the next run
  [ "$compared" = coverage ] || return 0
  gcov -t ./*.gcda 2>/dev/null | grep -v ':Runs:' >"$1.lines" && rm ./*.gcda || fail "no coverage after $1"
}
coverage native
[ "$compared" != report ] || [ -s native.err ] || [ "$(cat native.status)" != 0 ] || fail "the planted bug is not reported"

for try in 1 2 3; do
  run det "$weir" det --fingerprint --virtual=random,time,pid --log det.weir -- ./program
  plain det
  same native det "det"
  coverage det
  [ "$compared" != coverage ] || cmp -s native.lines det.lines || fail "det: another coverage" native.lines det.lines
  case $compared in
    memory) sed -n 's/^weir: fingerprint: //p' det.weir >fingerprint ;;
    *) sed -n 's/^weir: fingerprint: .*schedule /schedule /p' det.weir >fingerprint ;;
  esac
  [ "$compared" != report ] || continue  # the process that looks up source lines may be killed before it has said its own
  case $compared in output | checked) continue ;; esac
  [ -s fingerprint ] || fail "det: no fingerprint" det.weir
  [ "$try" = 1 ] && mv fingerprint first && continue
  cmp -s first fingerprint || fail "det, run $try: another fingerprint" first fingerprint
done

run recorded "$weir" record -o recording --log record.weir -- ./program
coverage recorded
[ "$compared" != coverage ] || cmp -s native.lines recorded.lines || fail "record: another coverage" native.lines recorded.lines
how=(setarch -R)
run replayed "$weir" replay --log replay.weir recording
same recorded replayed "replay"
plain recorded
same native recorded "record"
if [ "$compared" = checked ]; then
  run checked "$weir" check --log check.weir -- ./program
  plain checked
  same native checked "check"
fi
echo "builds: $name: right"
