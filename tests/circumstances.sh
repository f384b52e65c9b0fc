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

# Every run gets the same process id where this machine allows it: the fingerprint takes each word that equals the id for the
# id, also what is only a size of 4096, so that one id in some hundred gives another fingerprint.
same_id=() same_id_looked_for=
find_same_id() {
  [ -z "$same_id_looked_for" ] || return 0
  same_id_looked_for=1
  local space script='echo 29999 >/proc/sys/kernel/ns_last_pid && "$@"; exit $?'
  # The last: where / is a folder and no mount (chroot), of which nothing can be changed.
  for space in "unshare -pf --kill-child --mount-proc" "unshare -Urpf --kill-child --mount-proc" "unshare -pf --kill-child --mount-proc --propagation unchanged"; do
    if $space sh -c "$script" sh true 2>/dev/null; then same_id=($space sh -c "$script" sh); return; fi
  done
  echo "process ids cannot be the same here: a rare difference of the memory's fingerprint alone may be the id's"
}

# result_of SECONDS COMMAND...: COMMAND begins with what surrounds weir, writes weir's words to the file `words` and asks for
# the fingerprint. Leaves in `result` what the program printed and the fingerprints. False, with `why`, where it fails.
# The memory is compared of a run into /dev/null: libc asks for the state of its output, and what the kernel says of a
# file (its times, its number) is input of the program that stays on the stack of the thread that asked.
result_of() {
  local seconds=$1 out
  shift
  find_same_id
  for out in out /dev/null; do
    rm -f words
    if ! timeout -k 2 "$seconds" "${same_id[@]}" "$@" >"$out" 2>err </dev/null; then
      why=$(echo "status not 0, or more than $seconds s"; tail -n 5 err words 2>/dev/null)
      return 1
    fi
  done
  if ! grep -q fingerprint words; then why="no fingerprint in the log"; return 1; fi
  result=$(cat out; grep fingerprint words)
}
