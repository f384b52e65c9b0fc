#!/usr/bin/env bash
# What `weir check` says of what it does not report, where sources are found, and what names things have in reports.
# usage: check_says_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}
# check STATUS PROGRAM [OPTION...]: what is said stands in `log`.
check() {
  local want=$1 program=$2 status
  shift 2
  rm -f log
  timeout 60 "$weir" check --log log "$@" -- "$program" >out 2>err </dev/null
  status=$?
  [ "$status" = "$want" ] || fail "check $program $*: status $status instead of $want: $(cat log err)"
}
says() { for text; do grep -qF -- "$text" log || fail "'$text' is not in: $(cat log)"; done; }
unsaid() { for text; do grep -qF -- "$text" log && fail "'$text' is in: $(cat log)"; done; }

# --- programs with and without atomic operations: what is read beside orders only where it may be atomic
for atomic in 0 1; do
  cat >page.$atomic.c <<C
#include <pthread.h>
#include <unistd.h>
#if $atomic
#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#else
#define LOAD(x) (x)
#endif
int limit = 5, work[16], value;
void* first(void* p) {
  value = 1;
  for (int i = 0; i < 5000; i++) work[i % 16] += i;
  return p;
}
void* second(void* p) {
  usleep(50000);
  int now = LOAD(limit);
  value += now;
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  return pthread_join(one, 0) + pthread_join(two, 0);
}
C
  gcc -g -O1 -pthread page.$atomic.c -o page.$atomic || fail 'gcc'
done
check 66 ./page.0
says 'data race: value: '
check 0 ./page.1
unsaid 'race: '
# Without all of its debug information, or with assembly, it is not known to have none.
gcc -O1 -c -x c - -o plain.o <<'C'
void nothing(void) {}
C
gcc -g -O1 -pthread page.0.c plain.o -o page.plain || fail 'gcc'
check 0 ./page.plain
sed 's/usleep(50000);/usleep(50000); __asm__ volatile("nop");/' page.0.c >page.assembly.c
gcc -g -O1 -pthread page.assembly.c -o page.assembly || fail 'gcc'
check 0 ./page.assembly
sed 's/usleep(50000);/usleep(50000); __asm__ volatile("" : : : "memory");/' page.0.c >page.barrier.c
gcc -g -O1 -pthread page.barrier.c -o page.barrier || fail 'gcc'
check 66 ./page.barrier
says 'data race: value: '

# --- memory that is mapped shared is named
cat >mapped.c <<'C'
#include <pthread.h>
#include <sys/mman.h>
static int* counter;
static void* count(void* p) { return ++*counter, p; }
int main(void) {
  pthread_t one, two;
  counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_create(&one, 0, count, 0);
  pthread_create(&two, 0, count, 0);
  return pthread_join(one, 0) + pthread_join(two, 0);
}
C
gcc -g -O1 -pthread mapped.c -o mapped || fail 'gcc'
check 0 ./mapped
says 'memory that is mapped shared was not: anonymous (4 KB)'

# --- a string whose members are in the C++ library, without optimization
cat >text.cc <<'C'
#include <pthread.h>
#include <unistd.h>
#include <string>
std::string text;
void* grow(void* p) {
  text += 'x';
  return p;
}
void* ask(void* p) {
  usleep(50000);
  return text.size() > 5 ? p : nullptr;
}
int main() {
  pthread_t one, two;
  pthread_create(&one, nullptr, grow, nullptr);
  pthread_create(&two, nullptr, ask, nullptr);
  return pthread_join(one, nullptr) + pthread_join(two, nullptr);
}
C
g++ -g -O0 -pthread text.cc -o text || fail 'g++'
check 66 ./text
says 'text.cc:6' 'text.cc:11'

# --- moves only: a store and a load that may be atomic operations for all that the instructions say
cat >flag.c <<'C'
#include <pthread.h>
#include <unistd.h>
int flag;
long seen;
void* setter(void* unused) {
  flag = 1;
  return unused;
}
void* getter(void* unused) {
  usleep(50000);
  long now = flag;
  seen = now;
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, setter, 0);
  pthread_create(&two, 0, getter, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
C
mkdir kept away program
gcc -g -O1 -pthread flag.c -o here || fail 'gcc'
gcc -g -O1 -pthread "-ffile-prefix-map=$PWD=/nowhere/source" flag.c -o program/moved
mv flag.c kept/flag.c
cp kept/flag.c flag.c
check 66 ./here
says 'data race: flag: ' 'weir: 1 race found; '
rm flag.c

check 0 program/moved
says '1 possible race is not reported, since both accesses may be atomic operations: flag: ' '/nowhere/source/flag.c:11' \
  'the source file /nowhere/source/flag.c is not found' '--report-unproven shows it; --source-dir or --source-map says where sources are' \
  'weir: no race found: '
[ "$(wc -l <log)" = 3 ] || fail "not three lines: $(cat log)"
check 0 program/moved --quiet
[ -s log ] && fail "--quiet says: $(cat log)"
check 66 program/moved --report-unproven
says 'possible race: flag: ' 'doubt: both accesses may be atomic operations, and then it is none: the source file' 'weir: 0 races found, 1 possible race; '
unsaid 'data race' 'is not reported'
check 0 program/moved --report-unproven --exit-code 0
echo 'race:setter' >known
check 0 program/moved --suppressions known
unsaid 'possible'
check 66 program/moved --source-map "/nowhere/source=kept"
says 'data race: flag: ' 'kept/flag.c:11'
check 66 program/moved --source-map "/nowhere/source=$PWD/kept"
says 'data race: flag: '
check 66 program/moved --source-dir away --source-dir "$PWD/kept"
says 'data race: flag: '
WEIR_OPTS='--source-dir kept' check 66 program/moved
says 'data race: flag: '
check 125 program/moved --source-map nonsense
check 125 program/moved --source-dir none
cp kept/flag.c program/flag.c # beside the program
check 66 program/moved
says 'data race: flag: '
printf 'int other;\nint main(void) { return other; }\n\n\n\n\n\n\n\n\n\n\n' >program/flag.c # one that only has the same name
check 0 program/moved
says 'it is another source file'
rm program/flag.c

# --- without debug information; moves are in doubt, an operand that is compared is not
gcc -O1 -pthread kept/flag.c -o bare
check 0 ./bare
says '1 possible race is not reported' 'no debug information in bare' 'compiled with -g there would be less doubt'
sed 's/long now = flag;/long now = flag == 7 ? 3 : 5;/' kept/flag.c >compared.c
gcc -O1 -pthread compared.c -o compared
check 66 ./compared
says 'data race: flag: read at compared+0x'
sed -e 's/flag = 1/__atomic_store_n(\&flag, 1, __ATOMIC_RELEASE)/' -e 's/= flag/= __atomic_load_n(\&flag, __ATOMIC_ACQUIRE)/' compared.c >atomic.c
gcc -O1 -pthread atomic.c -o atomic
gcc -g -O1 -pthread "-ffile-prefix-map=$PWD=/nowhere" atomic.c -o atomic_moved
gcc -g -O1 -pthread atomic.c -o atomic_here
check 0 ./atomic_here
unsaid 'data race' 'possible race'
mv atomic.c gone.c
for program in atomic atomic_moved; do
  check 0 ./$program
  unsaid 'data race'
done

# --- by its declared type: bits, and another size than the variable has
sed -e 's/^int flag;/struct { unsigned one : 8, two : 8; } flags;/' -e 's/flag\b/flags.two/g' kept/flag.c >bits.c
gcc -g -O1 -pthread "-ffile-prefix-map=$PWD=/nowhere/source" bits.c -o bits
mv bits.c away
check 66 ./bits
says 'data race: flags.two: '

# --- a header under a condition that never holds here; names in capitals that are no macros
cat >capitals.cc <<'C'
#ifdef _WIN32
#include <windows.h>
#elif defined(__APPLE__) || (defined(_MSC_VER) && _MSC_VER > 1900)
#include <mach/nothing.h>
#else
#include <unistd.h>
#endif
#if __has_include("generated_here.h")
#include "generated_here.h"
#endif
#include <thread>
namespace CFG {
enum { FIRST, SECOND };
struct TABLE {
  static long count[4];
};
long TABLE::count[4];
}  // namespace CFG
int main() {
  std::thread other([] {
    usleep(50000);
    CFG::TABLE::count[CFG::SECOND] = 5;
  });
  CFG::TABLE::count[CFG::SECOND] = 7;
  other.join();
}
C
g++ -g -O1 -pthread capitals.cc -o capitals || fail 'g++'
check 66 ./capitals
says 'data race: CFG::TABLE::count[1]: '

# --- the type and member of a heap block: by a pointer in the access, by its allocation
cat >heap.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct address {
  short street, town;
};
typedef struct {
  char name[16];
  struct address at[2];
  int hits;
} session;
static void* all[2];
static void* by_pointer(void* argument) {
  session* one = argument;
  one->at[1].town++;
  return 0;
}
static void* by_allocation(void* unused) {
  ++*(int*)((char*)all[1] + 24);
  return unused;
}
int main(void) {
  pthread_t thread[4];
  session* made = calloc(1, sizeof *made);
  all[0] = made;
  session* more = malloc(3 * sizeof(session));
  all[1] = more;
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], 0, i < 2 ? by_pointer : by_allocation, made);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
  return 0;
}
C
for words in '-O0' '-O1' '-O2' '-O1 -gdwarf-4' '-O1 -gz' '-O1 -gsplit-dwarf'; do
  gcc -g $words -pthread heap.c -o heap || fail 'gcc heap'
  check 66 ./heap
  says 'data race: session.at[1].town: ' 'data race: session[0].hits: ' ', in a heap block of 28 bytes at 0x' ', in a heap block of 84 bytes at 0x'
done

# --- two members in one line, also where a compiler makes one instruction of both
cat >two.c <<'C'
#include <pthread.h>
struct { long done, bytes; } s;
static pthread_barrier_t both;  // on a busy machine one would have ended before the other begins
static void* work(void* unused) {
  for (int round = 0; round < 20; round++) {
    pthread_barrier_wait(&both);
    for (int i = 0; i < 100; i++) { s.done++; s.bytes += 3; }
  }
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
C
for level in 0 1 3; do
  gcc -g -O$level -pthread two.c -o two
  check 66 ./two
  says 'data race: s.done: ' 'data race: s.bytes: '
done

# --- names of threads: as they are named from outside, and by themselves, at any time before the race
cat >names.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
int first, second;
static void* named(void* unused) {
  char name[16] = "";
  while (strcmp(name, "from outside") != 0) { // which orders nothing
    sched_yield();
    prctl(PR_GET_NAME, name);
  }
  first++;
  return unused;
}
static void* naming(void* unused) {
  prctl(PR_SET_NAME, "itself");
  second++;
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, named, 0);
  pthread_setname_np(one, "from outside");
  pthread_create(&two, 0, naming, 0);
  first++;
  second++;
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
C
gcc -g -O1 -pthread names.c -o names
check 66 ./names
says 'data race: first: '
grep -A8 'data race: first' log | grep -q 'thread T1 "from outside"' || fail "named from outside: $(cat log)"
grep -A8 'data race: second' log | grep -q 'thread T2 "itself"' || fail "named by itself: $(cat log)"

# --- met once, and the command line whole
cat >once.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) { pthread_mutex_unlock(&m); return unused; }
int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&m);
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  return 0;
}
C
gcc -g -O1 -pthread once.c -o once
check 66 ./once
unsaid ' met '
timeout 60 "$weir" check --format json --output once.json -- ./once
timeout 60 "$weir" check --format=sarif --output=once.sarif --exit-code 7 -- ./once 'two words' >out 2>&1
[ $? = 7 ] || fail "--exit-code 7"
# --- what is not proven, in JSON and SARIF
timeout 60 "$weir" check --format json --output silent.json -- program/moved
timeout 60 "$weir" check --format json --output told.json --report-unproven -- program/moved
timeout 60 "$weir" check --format sarif --output silent.sarif -- program/moved
timeout 60 "$weir" check --format sarif --output told.sarif --report-unproven -- program/moved
# --- fingerprints: other addresses, another folder, moved lines, and a run once more; another race has another one
mkdir moved
sed -e 's/^int main/int unrelated[1000];\n\n\/\/ A line more.\nint main/' -e 's/^int flag/long before[7];\n\nint flag/' kept/flag.c >moved/flag.c
(cd moved && gcc -g -O1 -pthread flag.c -o here)
cp kept/flag.c flag.c
timeout 60 "$weir" check --format json --output one.json -- ./here
timeout 60 "$weir" check --format json --output two.json -- ./here
(cd moved && timeout 60 "$weir" check --format json --output ../three.json -- ./here)
timeout 60 "$weir" check --format sarif --output one.sarif -- ./here
python3 - <<'P' || fail 'JSON and SARIF'
import json
def load(name): return json.load(open(name))
assert load('once.json')['races'][0]['count'] == 1, load('once.json')
run = load('once.sarif')['runs'][0]
invocation = run['invocations'][0]
assert invocation['commandLine'] == "weir check --format=sarif --output=once.sarif --exit-code 7 -- ./once 'two words'", invocation
assert invocation['arguments'][-1] == 'two words' and 'toolExecutionNotifications' not in invocation, invocation
assert run['results'][0]['level'] == 'error', run
silent, told = load('silent.json'), load('told.json')
assert silent['races'] == [] and silent['unproven'] == 1 and told['unproven'] == 0, (silent, told)
assert 'flag' in silent['unproven_pairs'][0]['title'] and 'is not found' in silent['unproven_pairs'][0]['why'], silent
race = told['races'][0]
assert (race['kind'], race['rule'], race['level']) == ('possible race', 'possible-race', 'warning') and race['doubt'], race
assert silent['looked_at']['accesses'] > 0 and silent['looked_at']['shared_pages'] > 0, silent
run = load('silent.sarif')['runs'][0]
assert run['results'] == [] and run['invocations'][0]['toolExecutionNotifications'][0]['level'] == 'note', run
run = load('told.sarif')['runs'][0]
assert run['results'][0]['level'] == 'warning' and run['results'][0]['ruleId'] == 'possible-race', run
marks = [load(name)['races'][0]['fingerprint'] for name in ('one.json', 'two.json', 'three.json')]
assert len(set(marks)) == 1 and len(marks[0]) == 32, marks
assert load('one.sarif')['runs'][0]['results'][0]['partialFingerprints'] == {'weirRace/v1': marks[0]}
assert load('once.json')['races'][0]['fingerprint'] != marks[0]
P

[ "$failed" = 0 ]
