#!/usr/bin/env bash
# `weir check` of programs that do not race but may go wrong: each kind of hazard with a program that has it and
# one that does the same rightly, of which nothing is said in any of several runs.
# usage: hazards_test.sh BUILD [RUNS]
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
runs=${2:-3}

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}

# program NAME [LIBRARY...] <source: builds it.
program() {
  cat >"$1.c"
  gcc -g -O1 -w -I"$here/hazards" "$1.c" -o "$1" -pthread || failed=$((failed + 1))
}

# has NAME WORDS [OPTION...]: it is reported, once. clean NAME [OPTION...]: nothing is.
has() {
  local name=$1 words=$2 status
  shift 2
  timeout 60 "$weir" check "$@" -- ./"$name" >out 2>err </dev/null
  status=$?
  [ $status = 66 ] || fail "$name: status $status: $(cat err)"
  [ "$(grep -c "^weir: $words" err)" = 1 ] || fail "$name: no '$words' in: $(cat err)"
}
clean() {
  local name=$1 status i
  shift
  for ((i = 0; i < runs; i++)); do
    timeout 60 "$weir" check "$@" -- ./"$name" >out 2>err </dev/null
    status=$?
    [ $status = 0 ] || fail "$name, run $i: status $status: $(cat err)"
  done
}

# --- orders of locks: two, three, read-write and spin locks
program two <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), p; }
static void* ba(void* p) { return nested(&b, &a), p; }
int main(void) { return run(ab), run(ba), 0; }
C
has two "lock-order inversion: lock of a at .*, lock of b at"
grep -q "holding a (mutex" err && grep -q "holding b (mutex" err || fail "the locks that are held: $(cat err)"
[ "$(grep -c "#1 [ab]* two.c" err)" = 2 ] || fail "both stacks: $(cat err)"

program three <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), p; }
static void* bc(void* p) { return nested(&b, &c), p; }
static void* ca(void* p) { return nested(&c, &a), p; }
int main(void) { return run(ab), run(bc), run(ca), 0; }
C
has three "lock-order inversion: lock of a at"
[ "$(grep -c "holding [abc] (mutex" err)" = 3 ] || fail "three sides: $(cat err)"

program readers_writer <<'C'
#include "lock_order.h"
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
static void* rs(void* p) {
  pthread_rwlock_rdlock(&r), pthread_rwlock_wrlock(&s), pthread_rwlock_unlock(&s), pthread_rwlock_unlock(&r);
  return p;
}
static void* sr(void* p) {
  pthread_rwlock_rdlock(&s), pthread_rwlock_wrlock(&r), pthread_rwlock_unlock(&r), pthread_rwlock_unlock(&s);
  return p;
}
int main(void) { return run(rs), run(sr), 0; }
C
has readers_writer "lock-order inversion: "

program spins <<'C'
#include "lock_order.h"
static pthread_spinlock_t r, s;
static void* rs(void* p) {
  pthread_spin_lock(&r), pthread_spin_lock(&s), pthread_spin_unlock(&s), pthread_spin_unlock(&r);
  return p;
}
static void* sr(void* p) {
  pthread_spin_lock(&s), pthread_spin_lock(&r), pthread_spin_unlock(&r), pthread_spin_unlock(&s);
  return p;
}
int main(void) { return pthread_spin_init(&r, 0), pthread_spin_init(&s, 0), run(rs), run(sr), 0; }
C
has spins "lock-order inversion: "

# A gate that is held at first only.
program gate_once <<'C'
#include "lock_order.h"
static void* ab(void* p) { return lock(&gate), nested(&a, &b), unlock(&gate), nested(&a, &b), p; }
static void* ba(void* p) { return nested(&b, &a), p; }
int main(void) { return run(ab), run(ba), 0; }
C
has gate_once "lock-order inversion: "

# --- no inversion: one order; a gate; one thread; trylock; readers; recursive; memory that is another lock's by then
program one_order <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), nested(&b, &c), nested(&a, &c), p; }
int main(void) { return run(ab), run(ab), 0; }
C
program gated <<'C'
#include "lock_order.h"
static void* ab(void* p) { return lock(&gate), nested(&a, &b), unlock(&gate), p; }
static void* ba(void* p) { return lock(&gate), nested(&b, &a), unlock(&gate), p; }
int main(void) { return run(ab), run(ba), 0; }
C
program one_thread <<'C'
#include "lock_order.h"
static void* both(void* p) { return nested(&a, &b), nested(&b, &a), p; }
static void* one(void* p) { return nested(&a, &c), p; }
int main(void) { return run(both), run(one), 0; }
C
program tries <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), p; }
static void* ba(void* p) {
  lock(&b);
  if (pthread_mutex_trylock(&a) == 0) count++, unlock(&a);
  unlock(&b);
  return p;
}
int main(void) { return run(ab), run(ba), 0; }
C
program readers <<'C'
#include "lock_order.h"
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
static void nest(pthread_rwlock_t* x, pthread_rwlock_t* y) {
  pthread_rwlock_rdlock(x), pthread_rwlock_rdlock(y), pthread_rwlock_unlock(y), pthread_rwlock_unlock(x);
}
static void* rs(void* p) { return nest(&r, &s), p; }
static void* sr(void* p) { return nest(&s, &r), p; }
int main(void) { return run(rs), run(sr), 0; }
C
program recursive <<'C'
#include "lock_order.h"
static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void* again(void* p) { return lock(&r), nested(&a, &r), unlock(&r), p; }
static void* other(void* p) { return nested(&r, &a), p; }
int main(void) { return run(again), run(other), 0; }
C
program reused <<'C'
#include "lock_order.h"
static pthread_mutex_t* block;
static void* before(void* p) { return nested(&a, block), p; }
static void* after(void* p) { return nested(block, &a), p; }
int main(void) {
  block = malloc(sizeof *block), pthread_mutex_init(block, NULL);
  run(before);
  pthread_mutex_destroy(block), free(block);
  block = malloc(sizeof *block), pthread_mutex_init(block, NULL);
  run(after);
  return 0;
}
C
for name in one_order gated one_thread tries readers recursive reused; do clean $name; done

# --- by an option, and by suppressions
clean two --hazards none
echo 'deadlock:^ba$' >known
clean two --suppressions known
echo 'race:^ba$' >known
has two "lock-order inversion: " --suppressions known
timeout 60 "$weir" check --format json -- ./two >out 2>err
grep -q '"kind": "lock-order inversion"' err && grep -q '"rule": "lock-order-inversion"' err || fail "JSON: $(cat err)"
timeout 60 "$weir" check --hazards nothing -- ./two >out 2>err
[ $? = 125 ] || fail "a hazard that there is not: $(cat err)"

exit $((failed != 0))
