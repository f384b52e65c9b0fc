# Runs under circumstances that must change nothing; sourced by determinism.sh and stress.sh.

load_pids=()

# A busy process for each processor, until unload.
load() {
  [ ${#load_pids[@]} = 0 ] || return 0
  local i
  for ((i = 0; i < $(nproc); i++)); do
    (while :; do :; done) &
    load_pids+=($!)
  done
}

unload() {
  [ ${#load_pids[@]} = 0 ] || kill "${load_pids[@]}" 2>/dev/null
  load_pids=()
}

# The number of a processor on which this shell may run.
first_processor() { taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/'; }

# result_of SECONDS COMMAND...: COMMAND begins with what surrounds weir, writes weir's words to the file `words` and asks for
# the fingerprint. Leaves in `result` what the program printed and the fingerprints. False, with `why`, where it fails.
# The memory is compared of a run into /dev/null: libc asks for the state of its output, and what the kernel says of a
# file (its times, its number) is input of the program that stays on the stack of the thread that asked.
result_of() {
  local seconds=$1 out
  shift
  for out in out /dev/null; do
    rm -f words
    if ! timeout -k 2 "$seconds" "$@" >"$out" 2>err </dev/null; then
      why=$(echo "status not 0, or more than $seconds s"; tail -n 5 err words 2>/dev/null)
      return 1
    fi
  done
  if ! grep -q fingerprint words; then why="no fingerprint in the log"; return 1; fi
  result=$(cat out; grep fingerprint words)
}
