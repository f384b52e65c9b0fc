#!/usr/bin/env bash
# A limit reached, a thing missing, a process killed: the program goes on as it would without Weir, or Weir says why not and
# ends with the documented status; and nothing is left behind.
# usage: limits_test.sh BUILD PART       PART limits | places | kills
set -uo pipefail
ulimit -c 0

build=$1 part=$2 weir=$1/bin/weir
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
groups=() inner=
finish() {
  kill_marked
  for group in "${groups[@]}"; do rmdir "$group"; done 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work" || exit 1
# Other users are to reach the command, too: a clone may lie in a home that only its owner opens.
mkdir bin lib
cp "$build/bin/weir" bin && cp "$build/lib/libweir.so" lib || exit 1
weir=$work/bin/weir
failed=0
program=$work/limits_program
gcc -O1 -pthread "$here/limits_program.c" -o "$program" || exit 1

# Processes that a run of this script left: the mark is in their environment, and in that of no command of the script itself.
marked() { grep -lzxF "LIMITS_MARK=$work" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
kill_marked() {
  local pid
  for pid in $(marked); do kill -KILL "$pid" 2>/dev/null; done
}

fail() {
  failed=$((failed + 1))
  echo "FAILED: $1"
  echo "  $2"
}

# nothing_left WHAT: no process of a run is there any more, two seconds later at most.
nothing_left() {
  local try left
  for ((try = 0; try < 40; try++)); do
    left=$(marked)
    [ -n "$left" ] || return
    sleep 0.05
  done
  fail "$1" "left behind: $(for pid in $left; do echo "$pid: $(tr '\0' ' ' </proc/"$pid"/cmdline)"; done 2>/dev/null)"
  kill_marked
}

# outcome COMMAND...: what it printed, Weir's words too, and its status.
outcome() {
  LIMITS_MARK=$work timeout -k 2 60 "$@" >out.text 2>&1 </dev/null
  local status=$?
  # One line more, which is not the program's: what a deterministic run promises less there.
  grep -a "for Weir's tracer (cause: limit; to mend it: raise ulimit" out.text >>"$work/lesser"
  echo "$(tr '\0' ' ' <out.text | grep -av "for Weir's tracer (cause: limit") status $status"
}

# same WORDS...: PREFIX -- PROGRAM ARGS gives at every point what it gives without Weir.
# says STATUS TEXT WORDS...: the same under View direct; under View isolated this status and this text.
# says_all STATUS TEXT WORDS...: this status and this text under both Views.
same() { compare none '' '' "$@"; }
says() { compare '*isolated' "$@"; }
says_all() { compare '*' "$@"; }
compare() {
  local other=$1 status=$2 text=$3 prefix=() native got point
  shift 3
  local title=$*
  while [ "$1" != -- ]; do prefix+=("$1"); shift; done
  shift
  rm -f out
  native=$(outcome "${prefix[@]}" "$@")
  for point in "token isolated" "token direct" "free isolated"; do
    rm -f out
    got=$(outcome "${prefix[@]}" "$weir" run --order "${point% *}" --view "${point#* }" -- "$@")
    if [[ $point == $other ]]; then
      [[ $got == *"$text"*" status $status" && ($status = 0 || $got == *weir:*) ]] || fail "$title ($point)" "wanted '$text', status $status; got: $got"
    else
      [ "$got" = "$native" ] || fail "$title ($point)" "wanted: $native; got: $got"
    fi
    nothing_left "$title ($point)"
  done
}

# --- limits of a process

limits() {
  same prlimit --nofile=64 -- "$program" many 8
  same prlimit --nofile=64:4096 -- "$program" many 100
  same prlimit --nofile=256 -- "$program" map 2000
  says 0 'fewer threads: EAGAIN' prlimit --nofile=16 -- "$program" many 8
  says 0 'no descriptor is left for a thread' prlimit --nofile=16 -- "$program" many 8
  says 125 'no descriptor is left (ulimit -n)' prlimit --nofile=5 -- "$program" many 8
  grep -q 'no descriptor is left for Weir' "$work/lesser" || fail "without descriptors for a tracer nothing is said"
  same prlimit --nofile="$(ulimit -H -n)" -- "$program" many 8
  says_all 125 'ulimit -v' prlimit --as=4000000000 -- "$program" many 8
  says_all 125 'ulimit -d' prlimit --data=100000000 -- "$program" memory 200
  says 125 'ulimit -f' prlimit --fsize=4096 -- "$program" file 8
  same prlimit --fsize=4096:unlimited -- "$program" file 8
  same prlimit --stack=unlimited -- "$program" many 8
  same prlimit --stack=65536 -- "$program" many 8
  says 125 'a library lies where' setarch -L -- "$program" many 8
  same prlimit --memlock=0 -- "$program" many 8
  same prlimit --core=unlimited -- "$program" many 8
  same prlimit --cpu=1:9 -- "$program" work
  same nice -n 19 -- "$program" many 8
  same chrt -b 0 -- "$program" many 8
  if chrt -f 1 true 2>/dev/null; then same chrt -f 1 -- "$program" many 8; fi
  says_all 125 'is a limit set' -- "$program" limited 20
  says_all 125 'neither CLONE_THREAD nor CLONE_VFORK is not supported' -- "$program" shares
  limited_users
  limited_groups
  all_mappings
}

# Root has no limit on processes.
limited_users() {
  [ "$(id -u)" = 0 ] || return
  local id=$((61000 + $$ % 4000)) nobody  # of nobody else's: the kernel counts what all processes of an id have
  nobody="setpriv --reuid=$id --regid=$id --clear-groups"
  same $nobody -- "$program" many 8
  same $nobody prlimit --nproc=30 -- "$program" many 100
  says 125 'ulimit -u' $nobody prlimit --nproc=1 -- "$program" many 8
  grep -q 'no process is left for Weir' "$work/lesser" || fail "without a process for a tracer nothing is said"
}

# group CONTROLLER FILE VALUE: a control group of that name, in $inner; false where none can be made.
group() {
  inner=/sys/fs/cgroup/$1/weir-test-$$
  [ -e "/sys/fs/cgroup/$1" ] && mkdir "$inner" 2>/dev/null || return 1
  groups+=("$inner")
  echo "$3" >"$inner/$2" 2>/dev/null
}

limited_groups() {
  local enter='echo $$ >"$1"/cgroup.procs; shift; exec "$@"'
  if group pids pids.max 25; then same sh -c "$enter" sh "$inner" -- "$program" many 100; fi
  # The kernel kills a process of the group; all the others must go too.
  if group memory memory.limit_in_bytes 64M; then same sh -c "$enter" sh "$inner" -- "$program" memory 400; fi
}

# The number of mappings that the kernel allows: 65530, unless somebody has set more.
all_mappings() {
  local got count=$(($(cat /proc/sys/vm/max_map_count) + 4470))
  if [ "$count" -gt 1000000 ]; then same -- "$program" map 70000; return; fi
  got=$(outcome "$weir" det -- "$program" map "$count")
  [[ $got == "fewer mappings: ENOMEM status 0" || $got == *"vm.max_map_count"*"status 125" ]] || fail "map $count" "$got"
  nothing_left "map $count"
}

# --- what is missing or forbidden around the program

places() {
  same -- "$program" many 8
  same env -i LIMITS_MARK="$work" -- "$program" vector
  same bash -c 'exec "$@" $(seq 100000 130000)' bash -- "$program" vector
  same bash -c 'for i in {1..3000}; do printf -v V$i %0200d 1; export V$i; done; exec "$@"' bash -- "$program" vector
  same sh -c 'exec 9>&1 0<&-; exec "$@"' sh -- "$program" streams
  same sh -c 'exec 9>&1 >&-; exec "$@"' sh -- "$program" streams
  same sh -c 'exec 9>&1 2>&-; exec "$@"' sh -- "$program" streams
  same sh -c 'exec 9>&1 0<&- >&- 2>&-; exec "$@"' sh -- "$program" streams
  same sh -c 'mkdir gone; cd gone; rmdir ../gone; exec "$@"' sh -- "$program" many 8
  # Forbidden system calls, by number: ptrace, userfaultfd, memfd_create, personality.
  got=$(outcome "$program" forbid 101 "$weir" det -- "$program" many 8)
  [[ $got == *"ptrace is refused"*"all threads status 0" ]] || fail "no ptrace" "$got"
  same "$program" forbid 323 "$(command -v env)" -- "$program" many 8
  says 125 'memfd_create is refused' "$program" forbid 319 "$(command -v env)" -- "$program" many 8
  got=$(outcome "$program" forbid 135 "$weir" det -- "$program" many 8)
  [[ $got == "all threads status 0" ]] || fail "no personality" "$got"
  if unshare -U true 2>/dev/null; then same unshare -U -- "$program" many 8; fi
  if unshare -Urpf --mount-proc true 2>/dev/null; then same unshare -Urpf --mount-proc --kill-child -- "$program" many 8; fi
  if ! unshare -m true 2>/dev/null; then return; fi
  same unshare -m sh -c 'umount -l /dev/shm; exec "$@"' sh -- "$program" many 8
  same unshare -m sh -c 'mount -t tmpfs -o size=4k none /dev/shm; head -c 4096 /dev/zero >/dev/shm/full; exec "$@"' sh -- "$program" many 8
  same unshare -m sh -c 'mount --bind /tmp /tmp; mount -o remount,ro,bind /tmp; exec "$@"' sh -- "$program" many 8
  got=$(outcome unshare -m sh -c 'umount -l /proc; exec "$@"' sh "$weir" det -- "$program" many 8)
  [[ $got == "weir: "*"is /proc mounted?"*"status 125" ]] || fail "no /proc" "$got"
  # What a run that is killed leaves in a /dev/shm of its own.
  got=$(unshare -m sh -c 'mount -t tmpfs none /dev/shm; timeout -s KILL 1 "$@" >/dev/null; ls -A /dev/shm' sh "$weir" det -- "$program" work 2>/dev/null)
  [ -z "$got" ] || fail "shared memory" "left behind: $got"
}

# --- SIGKILL: to the program's process, to one of its tasks, to the whole group; at the start, and at work

# killed WHO DELAY POINT [WORK]
# Children that the program has forked live on natively when it is killed; those of `forks` soon end by themselves, however
# young they were when their parent died.
killed() {
  local who=$1 delay=$2 point=$3 kind=${4:-work} pid status tasks victim
  rm -f out.text
  LIMITS_MARK=$work setsid "$weir" run --order "${point% *}" --view "${point#* }" -- "$program" "$kind" >out.text 2>&1 </dev/null &
  pid=$!
  # A task's process is there once the program works; before that there may be Weir's tracer, which ends by itself.
  if [ "$who" = task ]; then
    for ((try = 0; try < 200; try++)); do
      ! grep -q working out.text 2>/dev/null || break
      sleep 0.02
    done
  fi
  sleep "$delay"
  victim=$pid
  case $who in
    group) victim=-$pid ;;
    task)
      tasks=($(marked | grep -vx -e "$pid"))
      [ ${#tasks[@]} = 0 ] || victim=${tasks[RANDOM % ${#tasks[@]}]}
      ;;
  esac
  # The group exists as soon as setsid has run.
  kill -KILL -- "$victim" 2>/dev/null || kill -KILL "$pid" 2>/dev/null
  # One that was at its end anyway (a slot of the pool) takes nothing with it; then the whole goes.
  if ! timeout 5 tail -s 0.02 --pid="$pid" -f /dev/null; then  # by itself it looks once a second
    [ "$who" = task ] || fail "$who killed after $delay s ($point)" "it goes on"
    kill -KILL "$pid" 2>/dev/null
  fi
  wait "$pid" 2>/dev/null
  status=$?
  [ "$status" = 137 ] || fail "$who killed after $delay s ($point)" "status $status instead of 137: $(head -n 3 out.text)"
  nothing_left "$who killed after $delay s ($point)"
}

kills() {
  local point delay run
  for point in "token isolated" "free isolated" "token direct" "free direct"; do
    for delay in 0 0.002 0.005 0.01 0.015 0.02 0.03 0.05 0.2; do
      killed whole "$delay" "$point"
      killed group "$delay" "$point"
    done
    for delay in 0 0.05 0.3; do killed task "$delay" "$point"; done
    for ((run = 0; run < 6; run++)); do
      killed whole "0.$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))" "$point" forks
      killed group "0.$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))" "$point" forks
    done
  done 2>/dev/null  # "Killed"
}

"$part"
echo "$part: $failed failures"
[ "$failed" = 0 ]
