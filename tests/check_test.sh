#!/usr/bin/env bash
# What `weir check` says of wrong programs: which line is named, and in which words.
# usage: check_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"

compile() { # NAME.c or NAME.cc, and more words for the compiler
  local source=$1
  shift
  if [[ $source == *.cc ]]; then g++ -std=c++17 -g -O1 -I"$here/../include" "$source" -o "${source%.*}" -pthread "$@"; else gcc -g -O1 -I"$here/../include" "$source" -o "${source%.*}" -pthread "$@"; fi ||
    failed=$((failed + 1))
}

# check STATUS COMMAND...: runs it, keeps what Weir says in `log`.
check() {
  local want=$1 status
  shift
  timeout 30 "$weir" check --log log "$@" >out 2>err </dev/null
  status=$?
  [ "$status" = "$want" ] && return
  failed=$((failed + 1))
  echo "FAILED: check $*: status $status instead of $want"
  cat log err
}

# says TEXT...: each is part of a line of the log. unsaid TEXT: none has it.
says() {
  local text
  for text; do
    grep -qF -- "$text" log && continue
    failed=$((failed + 1))
    echo "FAILED: '$text' is not in:"
    cat log
  done
}
unsaid() {
  grep -qF -- "$1" log || return
  failed=$((failed + 1))
  echo "FAILED: '$1' is in:"
  cat log
}

# The line that has MARK in a comment: FILE:LINE.
at() { echo "$1:$(grep -n "// $2\$" "$1" | cut -d: -f1)"; }

# --- changes of policies: the place is that of who asks for it, not weir.h's, which is inlined there
cat >changes.c <<'C'
#include <weir/weir.h>
#include <pthread.h>
static long* object;
static inline void take(void) {
  weir_acquire_write(object);  // acquire
}
static void* use(void* argument) {
  take();
  return argument;
}
int main(void) {
  pthread_t thread;
  object = weir_alloc(sizeof *object, WEIR_PRIVATE);  // alloc
  *object = 1;
  pthread_create(&thread, NULL, use, NULL);  // create
  pthread_join(thread, NULL);
  weir_release_read(object);  // release
  weir_free(object);
  weir_free(object);  // again
  return 0;
}
C
compile changes.c
check 66 -- ./changes
says "acquire for writing at $(at changes.c acquire), against change of the sharing policy at $(at changes.c alloc)" \
  "release after reading at $(at changes.c release)" "(created at $(at changes.c create) by the main thread)" \
  "change of the sharing policy at $(at changes.c again), free at changes.c:18"
unsaid weir.h:

cat >scopes.cc <<'C'
#include <thread>
#include <weir/weir.hpp>
struct Account {
  long balance;
};
int main() {
  weir::object<Account> account(WEIR_PRIVATE, Account{1});  // made
  std::thread([&] {
    const weir::write_access access(*account);  // scope
    account->balance++;
  }).join();
  std::thread([&] {
    weir::set_locked(*account, account);  // locked
  }).join();
}
C
compile scopes.cc
check 66 -- ./scopes
says "acquire for writing at $(at scopes.cc scope), against change of the sharing policy at $(at scopes.cc made)" "change to locked at $(at scopes.cc locked)"
unsaid weir.hpp:
compile scopes.cc -O0
check 66 -- ./scopes
says "acquire for writing at $(at scopes.cc scope), against change of the sharing policy at $(at scopes.cc made)" "change to locked at $(at scopes.cc locked)"
unsaid weir.hpp:

# --- annotations that make no sense
cat >misuse.c <<'C'
#include <weir/weir.h>
#include <pthread.h>
static long array[4], plain;
static void* use(void* argument) {
  long* freed = weir_alloc(8, WEIR_PRIVATE);
  weir_acquire_write(NULL);  // null
  weir_acquire_write((void*)0x7000);  // foreign
  weir_acquire_read(&plain);  // unknown
  weir_object_declare(&array[0], sizeof array, WEIR_UNTOUCHED);
  weir_object_declare(&array[1], sizeof array[0], WEIR_RACY);  // overlaps
  weir_free(freed);
  weir_acquire_write(freed);  // freed
  weir_acquire_write(array);
  weir_acquire_write(array);  // twice
  weir_release_write(array);
  weir_release_write(array);  // unheld
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, use, NULL);
  pthread_join(thread, NULL);
  return 0;
}
C
compile misuse.c
check 66 -- ./misuse
says "wrong annotation: acquire for writing at $(at misuse.c null)" "wrong annotation: acquire for writing at $(at misuse.c foreign)" \
  "wrong annotation: plain: acquire for reading at $(at misuse.c unknown)" "at $(at misuse.c overlaps)" "acquire for writing at $(at misuse.c freed)" \
  "acquire for writing at $(at misuse.c twice)" "release after writing at $(at misuse.c unheld)" \
  'why: the address is null' 'why: this is no memory' 'why: no object with a policy' 'why: it overlaps' 'why: the memory has been given back' \
  'why: the thread has acquired the object already' 'why: the thread releases what it has not acquired'

# --- locks
cat >locks.cc <<'C'
#include <mutex>
#include <pthread.h>
#include <thread>
static std::mutex mutex;
static pthread_rwlock_t* lock = new pthread_rwlock_t(PTHREAD_RWLOCK_INITIALIZER);  // new
int main() {
  std::thread([] {
    mutex.unlock();  // unlock
  }).join();
  pthread_rwlock_rdlock(lock);
  pthread_rwlock_destroy(lock);  // destroy
}
C
compile locks.cc
check 66 -- ./locks
says "wrong use of a lock: mutex: unlock at $(at locks.cc unlock)" 'why: the thread does not hold the lock that it gives back' \
  "wrong use of a lock: pthread_rwlock_t: destroy at $(at locks.cc destroy)" 'why: the lock is destroyed while a thread holds it' "$(at locks.cc new)"
printf 'mutex:main\npolicy:destroyed\n' >all.supp
check 0 --suppressions all.supp -- ./locks
says '0 races found, 2 suppressed'

# --- beside an atomic operation: the instruction behind a short one is executed in Weir's stub
cat >beside.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct box { int count; long sum; };
static void* add(void* argument) {
  struct box* box = argument;
  __atomic_fetch_add(&box->count, 1, __ATOMIC_RELAXED);
  box->sum += 3;  // sum
  return NULL;
}
int main(void) {
  struct box* box = calloc(1, sizeof *box);
  pthread_t one, two;
  pthread_create(&one, NULL, add, box);
  pthread_create(&two, NULL, add, box);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return box->sum > 6;
}
C
compile beside.c
check 66 -- ./beside
says "struct box.sum: read and write at $(at beside.c sum), read and write at $(at beside.c sum)"

[ "$failed" = 0 ]
