#!/usr/bin/env bash
# weir record, replay, ls, dump, verify, rm: what they say, how they end, what they leave behind.
# usage: recording_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"


# What the shell says of a program that a signal ends is not looked at: { ...; } 2>/dev/null around it.
ended() { ends "$@"; } 2>/dev/null

newest() { ls -td all/*/ | head -n 1; }

# --- before there is one
ends 125 'there is no recording' "$weir" replay
ends 0 'there is no recording' "$weir" ls
ends 125 'PROGRAM is required' "$weir" record
ends 125 'HOME' env -u WEIR_RECORDINGS -u HOME -u XDG_DATA_HOME "$weir" record -- true
ends 125 'there is no such view' "$weir" record --view copied -- true
ends 125 'there is no such view' "$weir" record --view sideways -- true
ends 125 'without haste: there is no such optimization: preemption, demand, heap, pool' "$weir" record --without pool,haste -- true
ends 125 'it is View coherent that has these' "$weir" record --view isolated --without pool -- true
ends 127 'not found' "$weir" record -- no-such-program-anywhere
cp /bin/true busy
exec 6>>busy
ends 126 'Text file busy' "$weir" record -- ./busy
exec 6>&-
cat >refuses.c <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
// refuses PROGRAM...: runs it without files in memory, as a filter of system calls may do.
int main(int count, char** words) {
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, filter};
  return count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) || execvp(words[1], words + 1);
}
C
gcc -O1 refuses.c -o refuses || fail "cannot compile"
ends 125 'not permitted' ./refuses "$weir" record -- "$programs/watched_total"
ends 125 'not permitted' ./refuses "$weir" record --view isolated -- "$programs/watched_total"
ends 125 'not permitted' ./refuses "$weir" record --until-fail 5 -- "$programs/watched_total"
[ -e all ] && [ -n "$(ls all)" ] && fail "a program that could not be started left a recording: $(ls all)"
ends 125 'there is no recording' "$weir" replay --verify

# --- a recording, and its end
ends 0 'recorded in' "$weir" record -- echo some words
[ "$(cat stdout)" = 'some words' ] || fail "record: output is $(cat stdout)"
ends 0 '' "$weir" replay
[ "$(cat stdout)" = 'some words' ] || fail "replay: output is $(cat stdout)"
[ -s stderr ] && fail "replay says something: $(cat stderr)"
ends 0 'replayed as recorded (exit 0)' "$weir" replay --verify
ends 0 '' "$weir" verify
grep -q 'is whole' stdout || fail "verify: $(cat stdout)"
ends 0 '' "$weir" dump
ends 0 '' "$weir" record --quiet -- true
[ -s stderr ] && fail "record --quiet says something: $(cat stderr)"
ends 0 '' "$weir" record --log words -- true
[ -s stderr ] && fail "record --log says something to stderr: $(cat stderr)"
grep -q 'weir: recorded in' words || fail "record --log: $(cat words)"
for round in 1 2 3; do  # processes that print at the same time
  "$weir" record --quiet -o "prints.$round" -- sh -c 'for i in 1 2 3 4 5; do (echo a$i; echo b$i >&2; /bin/echo c$i) & done; wait' >/dev/null 2>&1
  "$weir" replay "prints.$round" >first 2>&1
  "$weir" replay "prints.$round" >second 2>&1
  [ "$(wc -l <first)" = 15 ] && cmp -s first second || fail "prints in another order: $(diff first second)"
done
ends 7 'recorded in' "$weir" record -o seven -- sh -c 'exit 7'
ends 7 '' "$weir" replay seven
ended 139 'recorded in' "$weir" record -o crashed -- sh -c 'kill -SEGV $$'
ended 139 '' "$weir" replay crashed
ends 0 '' "$weir" replay --verify crashed
ls core* >/dev/null 2>&1 && fail "a second core dump"
"$weir" ls . >list 2>&1
grep -Eq '^seven +(sh|dash) .* exit 7$' list && grep -Eq '^crashed +(sh|dash) .* SIGSEGV$' list || fail "ls: $(cat list)"
ends 0 '' "$weir" ls
[ "$(wc -l <stdout)" = 4 ] || fail "ls: $(cat stdout)"

# --- refused, with the reason
ends 125 'there is something already' "$weir" record -o seven -- true
ends 125 'Not a directory' "$weir" record -o seven/manifest/below -- true
ends 125 'name too long' "$weir" record -o "$(printf 'd%.0s' {1..600})" -- true
ends 125 'No such file' "$weir" replay nowhere
ends 125 'not a directory' "$weir" replay stdout
mkdir folder && echo text >folder/file
ends 125 "no file 'manifest'" "$weir" replay folder
ends 125 "no file 'manifest'" "$weir" verify folder
ends 125 "no file 'manifest'" "$weir" dump folder
ends 125 'is no recording: it stays' "$weir" rm folder
ends 125 'is no recording: it stays' "$weir" rm seven folder
[ -d seven ] || fail "rm removed one although it refused another"
echo text >folder/manifest
ends 125 'none of a recording' "$weir" replay folder
ends 125 '--kind' "$weir" dump --kind bogus seven
ends 125 '--page' "$weir" dump --page here seven
ends 125 '/proc' "$weir" record -o /proc/none -- true
cp -r seven extra && touch extra/mine
ends 125 'mine, which belongs to no recording' "$weir" rm extra
ln -s seven link
ends 125 'symbolic link' "$weir" rm link

# --- changed by hand, with a right sum
cat >edit.py <<'END'
import json, sys
def xxh64(data):
    P1, P2, P3, P4, P5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261
    M = (1 << 64) - 1
    rotl = lambda x, r: ((x << r) | (x >> (64 - r))) & M
    step = lambda a, w: rotl((a + w * P2) & M, 31) * P1 & M
    word = lambda at, size: int.from_bytes(data[at:at + size], "little")
    at, h = 0, P5
    if len(data) >= 32:
        v = [(P1 + P2) & M, P2, 0, -P1 & M]
        while at + 32 <= len(data):
            v = [step(x, word(at + 8 * i, 8)) for i, x in enumerate(v)]
            at += 32
        h = sum(rotl(x, r) for x, r in zip(v, (1, 7, 12, 18))) & M
        for x in v:
            h = ((h ^ step(0, x)) * P1 + P4) & M
    h = (h + len(data)) & M
    while at + 8 <= len(data):
        h = (rotl(h ^ step(0, word(at, 8)), 27) * P1 + P4) & M
        at += 8
    if at + 4 <= len(data):
        h = (rotl(h ^ (word(at, 4) * P1 & M), 23) * P2 + P3) & M
        at += 4
    for b in data[at:]:
        h = rotl(h ^ (b * P5 & M), 11) * P1 & M
    for shift, prime in ((33, P2), (29, P3), (32, 1)):
        h = (h ^ (h >> shift)) * prime & M
    return h
path, key, value = sys.argv[1:]
manifest = json.load(open(path))
del manifest["sum"]
if key != "-":
    manifest[key] = json.loads(value)
manifest["sum"] = "%016x" % xxh64(json.dumps(manifest, separators=(",", ":")).encode())
json.dump(manifest, open(path, "w"))
END
# edited TEXT KEY VALUE: with this change the recording is refused, and TEXT says why.
edited() {
  rm -rf edited && cp -r seven edited
  python3 edit.py edited/manifest "$2" "$3"
  ends 125 "$1" "$weir" replay edited
}
rm -rf edited && cp -r seven edited && python3 edit.py edited/manifest - -
ends 7 '' "$weir" replay edited
edited 'an older version of Weir (format 0' 'weir recording' 0
edited 'a newer version of Weir (format 99' 'weir recording' 99
edited 'another kind of processor' features '["0000000000000001"]'
edited 'with another vDSO' vdso 4096
edited 'No such file' files '[{"path": "/nowhere/lib.so", "size": 1, "modified": 2, "build": "", "sum": "0000000000000003"}]'
edited 'has changed since: it has' files '[{"path": "/bin/sh", "size": 1, "modified": 2, "build": "", "sum": "0000000000000003"}]'
edited 'there is no such view' view '"copied"'
edited 'order token' order '"token"'
edited 'order free' order '"free"'
edited 'ulimit -Hn' descriptor 900000000
edited 'names no program' arguments '[]'
sed -i 's/"view": "c/"view": "C/' edited/manifest
ends 125 'its sum is wrong' "$weir" replay edited

# --- a program that changed, and one that only was touched
cp "$(command -v sh)" shell
ends 0 '' "$weir" record --files name -o of_shell -- ./shell -c 'echo told'
touch shell
ends 0 '' "$weir" replay of_shell
(cd / && ends 0 '' "$weir" replay "$work/of_shell") 2>/dev/null
printf 'x' | dd of=shell bs=1 seek=$(($(stat -c %s shell) - 1)) conv=notrunc status=none
ends 125 'shell has changed since' "$weir" replay of_shell
rm shell
ends 125 'shell: No such file' "$weir" replay of_shell

# --- damage
cp -r seven damaged && rm damaged/end
ends 1 '' "$weir" verify damaged
grep -q 'cut short' stdout || fail "verify of a recording without an end: $(cat stdout)"
ends 7 'cut short' "$weir" replay damaged
ends 1 '' "$weir" replay --verify damaged
"$weir" ls . | grep -q '^damaged .*cut short' || fail 'ls of a recording without an end'

# --- damage in streams: replayed up to there, or refused; no crash of the command, no hang
cat >reads.c <<'END'
#include <stdio.h>
#include <sys/time.h>
int main(void) {
  struct timeval now;
  unsigned long sum = 0;
  for (int i = 0; i < 300; i++) gettimeofday(&now, 0), sum = sum * 31 + now.tv_usec;
  printf("%lu\n", sum);
}
END
gcc -O1 reads.c -o reads
ends 0 '' "$weir" record -o reading -- ./reads
cp stdout told
for stream in reading/streams/*; do
  [ -s "$stream" ] || continue
  for at in 1 70 "$(($(stat -c %s "$stream") / 2))" "$(($(stat -c %s "$stream") - 1))"; do
    for how in cut flip; do
      rm -rf hurt && cp -r reading hurt
      file=hurt/streams/$(basename "$stream")
      if [ $how = cut ]; then
        truncate -s "$at" "$file"
      else
        python3 -c 'import sys; b = bytearray(open(sys.argv[1], "rb").read()); b[int(sys.argv[2])] ^= 16; open(sys.argv[1], "wb").write(b)' "$file" "$at"
      fi
      ends 1 '' "$weir" verify hurt
      grep -q "^streams/$(basename "$stream"): " stdout || fail "verify after $how at $at of $stream: $(cat stdout)"
      timeout 30 "$weir" replay --verify hurt >stdout 2>stderr </dev/null
      status=$?
      [ $status = 1 ] && grep -q 'replayed up to there' stderr || fail "replay after $how at $at of $stream: $status, $(cat stderr)"
      [ ! -s stdout ] || cmp -s stdout told || fail "replay after $how at $at of $stream told something else: $(cat stdout)"
    done
  done
done

# --- signals. What is sent to the command alone is the program's; the program dies with the command.
cat >signals.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int seen;
static void on(int signal) { seen += signal; }
int main(int argc, char** argv) {
  signal(SIGINT, on), signal(SIGTERM, on), signal(SIGUSR1, on);
  puts("ready"), fflush(stdout);
  while (!seen) pause();
  for (int i = 0; i < 10; i++) usleep(20000);
  printf("seen %d\n", seen);
  return argc > 1 && argv[1][0] == 'n' ? 0 : seen;
}
END
gcc -O1 signals.c -o signals
# starts NAME COMMAND...: in the background, as $pid, once it has printed "ready".
starts() {
  rm -f ready && mkfifo ready
  "$@" >ready 2>stderr </dev/null &
  pid=$!
  exec 5<ready
  read -r -t 20 line <&5 || fail "$*: is not ready: $(cat stderr)"
}
for signal in INT TERM USR1; do
  # A background command of a script ignores SIGINT: python gives it back.
  starts python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
    "$weir" record --quiet -- ./signals
  kill -$signal $pid
  wait $pid
  status=$?
  [ $status = "$(kill -l $signal)" ] || fail "record: SIG$signal: status $status, $(cat stderr)"
  exec 5<&-
done
starts "$weir" record -o killed -- ./signals
child=$(cat /proc/$pid/task/$pid/children)
kill -KILL $pid
{ wait $pid; } 2>/dev/null
for _ in {1..100}; do kill -0 $child 2>/dev/null || break; sleep 0.05; done
kill -0 $child 2>/dev/null && fail "the program outlives the command"
exec 5<&-
ends 1 '' "$weir" verify killed
starts "$weir" record -o dead --quiet -- ./signals
kill -KILL $(cat /proc/$pid/task/$pid/children)
{ wait $pid; } 2>/dev/null
[ $? = 137 ] || fail "record: a killed program: status $?"
exec 5<&-
ends 0 '' "$weir" verify dead

# From a terminal: the interrupt comes to both, and to the program once.
cat >terminal.py <<'END'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
sent = False
while True:
    try:
        piece = os.read(terminal, 1000)
    except OSError:
        break
    text += piece
    if b"ready" in text and not sent:
        sent = True
        os.write(terminal, b"\x03")
    if not piece:
        break
print(text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
timeout 30 python3 terminal.py "$weir" record --quiet -- ./signals >stdout 2>&1
grep -q 'seen 2' stdout && grep -q ' 2$' stdout || fail "an interrupt from the terminal: $(cat stdout)"

# --- descendants that live longer
ends 0 '' "$weir" record -o parent -- sh -c '(sleep 0.5; echo late >late) & exit 0'
[ "$(cat late)" = late ] || fail "record did not wait for a descendant"

# --- nothing that the command needs reaches the program
"$weir" record --quiet -- sh -c 'echo $$; ulimit -Sn; ls /proc/self/fd' >inside 2>&1
[ "$(sed -n 2p inside)" = "$(ulimit -Sn)" ] || fail "the program has another limit of descriptors: $(cat inside)"

# --- limits and full disks
for limit in -f -Sf; do
  message=$(ulimit $limit 0; exec "$weir" record -o limited -- true 2>&1)
  [ $? = 125 ] && [[ $message == *'too large'* ]] || fail "ulimit $limit 0: $message"
done
[ -e limited ] && fail "a recording that could not be begun stays"
mkdir small
if mount -t tmpfs -o size=20k none small 2>/dev/null; then
  head -c 100k /dev/zero >small/filler 2>/dev/null
  ends 125 'No space left' "$weir" record -o small/one -- true
  rm small/filler
  # A file that the program maps does not fit: the reason is the disk's.
  head -c 100k /dev/urandom >mapped
  "$weir" record --files name -o small/two -- python3 -c 'import mmap
mmap.mmap(open("mapped").fileno(), 0, prot=mmap.PROT_READ)' >/dev/null 2>stderr
  grep -q 'cannot be copied: No space left' stderr || fail "a full disk: $(cat stderr)"
  umount small
fi
if [ "$(id -u)" != 0 ]; then
  mkdir locked && chmod a-w locked
  ends 125 'Permission denied' "$weir" record -o locked/one -- true
fi

# --- of what a call could write in part only, that part is shown again
WEIR_RECORDINGS=$work/parts "$weir" record --quiet -- python3 -c 'import os; os.set_blocking(1, False); os.writev(1, [b"x" * 300000, b"y" * 300000])' | { sleep 1; cat; } >part
WEIR_RECORDINGS=$work/parts "$weir" replay >part_again
[ "$(stat -c %s part)" -gt 0 ] && [ "$(stat -c %s part)" -lt 600000 ] && cmp -s part part_again || fail "replay of a part written: $(stat -c %s part part_again)"

# --- a replay that differs says where, by function and line: another process changed the file that is mapped
cat >told.c <<'C'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  const volatile char* at = mmap(0, 4096, PROT_READ, MAP_SHARED, open("told.in", O_RDONLY), 0); close(creat("told.runs", 0600));
  while (*at != 'b') usleep(10000);
  return 0;
}
C
gcc -g -O1 -o told told.c
printf '%4096s' a >told.in
{ until [ -e told.runs ]; do sleep 0.02; done; printf b | dd of=told.in conv=notrunc status=none; } &
"$weir" record --quiet -o told.recording -- ./told
ends 125 'differs from the recording' "$weir" replay told.recording
grep -q 'in main, told.c:6 (/' stderr || fail "where it differs: $(cat stderr)"

# --- progress, on a terminal only
WEIR_RECORDINGS=$work/parts "$weir" record --quiet -o long -- python3 -c 'for i in range(40000000): pass'
script -qec "'$weir' replay long" /dev/null </dev/null >shown
grep -q 'of what was recorded is replayed' shown || fail "no progress: $(cat -v shown)"
[ "$(tail -c 4 shown | cat -v)" = $'^M^[[K' ] || fail "the progress is left on the terminal: $(tail -c 40 shown | cat -v)"
ends 0 '' "$weir" replay long
[ -s stderr ] && fail "progress without a terminal: $(cat stderr)"

# --- what weir ls prints is a name for all
for place in '' all; do
  rm -rf all
  ends 0 '' "$weir" record --quiet -- echo named
  "$weir" ls $place >list
  [ "$(wc -l <list)" = 2 ] || fail "ls $place: $(cat list)"
  name=$(awk 'NR == 2 { print $1 }' list)
  ends 0 '' "$weir" replay "$name"
  [ "$(cat stdout)" = named ] || fail "replay $name: $(cat stdout)"
  ends 0 'replayed as recorded' "$weir" replay --verify "$name"
  ends 0 '' "$weir" replay --check "$name"
  for command in 'replay --goto 1' dump; do ends 0 '' "$weir" $command "$name"; done
  ends 0 '' "$weir" verify "$name"
  "$weir" ls "$name" | grep -qF "$name " || fail "ls of a recording: $("$weir" ls "$name" 2>&1)"
  (cd / && exec "$weir" verify "${name##*/}" >/dev/null) || fail "a name from elsewhere"
  ends 0 '' "$weir" rm "$name"
  [ -z "$(ls all)" ] || fail "rm $name: $(ls all)"
done
mkdir -p echo-folder && ends 125 "no file 'manifest'" "$weir" replay echo-folder
ends 125 'No such file' "$weir" replay echo-none
ends 125 'there is no such directory' "$weir" rm echo-none

# --- nobody else may read them, whatever the umask: they hold the environment
cat >maps.py <<'END'
import ctypes, mmap, os, subprocess
os.makedirs('own', exist_ok=True)
with open('own/mapped', 'wb') as file:
    file.write(b'x' * 8192)
with open('own/mapped', 'rb') as file:  # for writing it would be memory that may change
    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[0]
subprocess.run(['./own_program'])  # an executed program that is no part of the system: it is copied
END
cp /bin/true own_program
for mask in 000 022 077; do
  rm -rf all open deep
  mkdir -m 0777 open
  (umask $mask; "$weir" record --quiet -- python3 maps.py; "$weir" record --quiet -o open -- true; WEIR_RECORDINGS=$work/deep/er/all "$weir" record --quiet -- true)
  ls all/*/end all/*/streams/0-0 open/end deep/er/all/*/end >/dev/null && grep -q own/mapped all/*/files/list && grep -q own_program all/*/files/list ||
    fail "umask $mask: not recorded"
  for found in $(find all open deep -type d ! -perm 0700) $(find all open deep -type f ! -perm 0600 ! -path '*/files/*' ! -path '*/kept/*') $(find all/*/{files,kept} open/kept -type f -perm /0277 ! -path '*/files/*') $(find all/*/files -type f -perm /0077); do
    fail "umask $mask: $(stat -c '%A %n' "$found")"
  done
  ends 0 '' "$weir" replay --verify open
done

# --- removal
ends 0 '' "$weir" rm seven crashed killed
[ -e seven ] || [ -e crashed ] || [ -e killed ] && fail "rm leaves something"
ends 125 'rm: name the recordings, or say --all' "$weir" rm
ends 125 '--all' "$weir" rm --all open
[ -n "$(ls all)" ] && [ -d open ] || fail "rm with both removed something"
ends 0 '' "$weir" rm --all
[ -d all ] && [ -z "$(ls all)" ] && [ -d open ] || fail "rm --all: $(ls all)"
ends 0 'there is no recording' "$weir" rm --all

# --- a recording of nothing, as an earlier version left it
cp -r open nothing && rm nothing/streams/*
python3 edit.py nothing/end streams '{}'
ends 125 'nothing is recorded in it' "$weir" replay nothing
ends 125 'nothing is recorded in it' "$weir" replay --verify nothing
ends 1 '' "$weir" verify nothing
grep -q 'nothing is recorded in it' stdout || fail "verify of nothing: $(cat stdout)"

# --- a signal that waits for an event that does not come
cat >waits.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t seen;
static void on_alarm(int number) { seen = number; }
static void *nothing(void* argument) { return argument; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  signal(SIGALRM, on_alarm);
  alarm(1);
  while (!seen) {
  }
  return 0;
}
END
cc -O1 -pthread -o waits waits.c || fail "cannot compile"
timeout 8 "$weir" record --quiet -o stopped -- ./waits && timeout 8 "$weir" replay stopped || fail "a signal in a computation"
timeout 8 "$weir" record --view direct -o waiting -- ./waits >stdout 2>stderr
grep -q 'SIGALRM has waited 5 s for the next event of task 0-0' stderr || fail "a waiting signal: $(cat stderr)"

# --- processes that share memory, and some that do not
ends 0 'its processes share memory (anonymous)' "$weir" record --view direct -o shares -- "$programs/mutex_shared_fork"
ends 0 'recorded in' "$weir" record -o shares-well -- "$programs/shared_between_processes"
[[ $(cat stderr) == *'share memory'* ]] && fail "that is recorded: $(cat stderr)"
ends 0 'recorded in' "$weir" record -o shares-not -- sh -c 'ls; ls | cat; true'
[[ $(cat stderr) == *'share memory'* ]] && fail "nothing is shared there: $(cat stderr)"
for view in coherent isolated direct; do
  rm -rf shares
  ends 0 '' "$weir" record --view $view -o shares -- sh -c '(true; (true; (true); true); true); true'
  [[ $(cat stderr) == *'share memory'* ]] && fail "children of children share nothing: $(cat stderr)"
done

# --- timers on the CPU time of a program whose threads are processes: what they watch is said
cat >cpu_timer.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <time.h>
static void* body(void* none) { return none; }
int main(int count, char** words) {
  (void)words;
  pthread_t thread;
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  if (count > 1 && (pthread_create(&thread, 0, body, 0) || pthread_join(thread, 0))) return 1;
  if (timer_create(count > 2 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &event, &timer)) return 1;
  return pthread_create(&thread, 0, body, 0) || pthread_join(thread, 0);
}
END
cc -O1 -pthread -o cpu_timer cpu_timer.c || fail "cannot compile"
for command in det record; do
  ends 0 'watches only what the program did before its first thread' "$weir" $command -- ./cpu_timer
  ends 0 'watches only the thread that makes it' "$weir" $command -- ./cpu_timer after
  ends 0 '' "$weir" $command -- ./cpu_timer after thread
  grep -q 'watches only' stderr && fail "a timer of a thread: $(cat stderr)"
done

# --- a file that the program maps, and that a stranger writes
cat >strange.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  volatile char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("strange", O_RDWR), 0);
  for (int i = 0; i < 100; ++i) {
    memory[0]++;
    usleep(10000);
  }
  return 0;
}
END
cc -O1 -o strange-looks strange.c || fail "cannot compile"
head -c 4096 /dev/zero >strange
for i in $(seq 100); do printf %03d "$i" | dd of=strange bs=3 seek=10 conv=notrunc 2>/dev/null; sleep 0.01; done &
ends 0 'strange is written by others than the recorded program' "$weir" record -o strangers -- ./strange-looks
wait

echo "recordings: $failed failures"
[ "$failed" = 0 ]
