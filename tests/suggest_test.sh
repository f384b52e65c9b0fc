#!/usr/bin/env bash
# weir check --suggest: which annotations it suggests, and that a program which has them runs clean under its declared policies.
# usage: suggest_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"

compile() { gcc -g -O0 -I"$here/../include" "$1.c" -o "$1" -pthread "${@:2}" || failed=$((failed + 1)); }
fails() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}

# suggests NAME TEXT...: the suggestions for NAME have these lines; MARK in one stands for the number of the line with the comment MARK.
suggests() {
  local name=$1 text number mark
  shift
  timeout 30 "$weir" check --suggest --log log -- "./$name" >out 2>&1 </dev/null || fails "$name: status $?: $(cat log out)"
  for text; do
    if [[ $text =~ :@([a-z]+) ]]; then
      mark=${BASH_REMATCH[1]}
      number=$(grep -n "// $mark\$" "$name.c" | cut -d: -f1)
      text=${text/@$mark/$number}
    fi
    grep -qF -- "$text" log || fails "$name: '$text' is not in: $(cat log)"
  done
}

# What somebody does who believes all of it: the source with the lines added.
cat >annotate.py <<'P'
import json, re, sys
name, report = sys.argv[1:]
lines = open(name + ".c").read().split("\n")
edits = [line for one in json.load(open(report))["suggestions"] for line in one["lines"]]
rank = {"after": 0, "at": 1, "before": 2}
for edit in sorted(edits, key=lambda edit: (-edit["line"], rank[edit["where"]])):
    at, text = edit["line"] - 1, edit["text"]
    if edit["where"] == "at":
        if text.startswith("WEIR_PAGES"):
            lines[at] = lines[at].replace("static ", "WEIR_PAGES static ", 1)
        else:
            lines[at] = re.sub(r"malloc\((.*)\);", r"weir_alloc(\1, " + re.search(r"WEIR_\w+", text).group() + ");", lines[at])
    else:
        lines.insert(at + (edit["where"] == "after"), text)
open(name + "_annotated.c", "w").write("#include <weir/weir.h>\n" + "\n".join(lines))
P

# round_trip NAME
round_trip() {
  local name=$1 status
  timeout 30 "$weir" check --suggest --format=json --output "$name.json" --log log -- "./$name" >native 2>err </dev/null || fails "$name: status $?: $(cat log err)"
  python3 annotate.py "$name" "$name.json" || fails "$name: annotate.py"
  compile "${name}_annotated" -Wall -Wextra -Werror
  timeout 30 "$weir" check --policies=declared --quiet --log log -- "./${name}_annotated" >out 2>err </dev/null
  status=$?
  [ "$status" = 0 ] && [ ! -s log ] && cmp -s native out || fails "$name, annotated: status $status: $(cat log err "${name}_annotated.c")"
}

# Each policy once.
cat >policies.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct job {
  long input, result;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;  // counter
static long table[16];  // table
static long flags;  // flags
static long total;  // total
static long untouched;
static void* work(void* argument) {
  struct job* block = argument;
  block->result = block->input + table[block->input % 16];  // use
  pthread_mutex_lock(&lock);
  counter++;
  pthread_mutex_unlock(&lock);
  __atomic_fetch_add(&flags, 1, __ATOMIC_RELAXED);
  return NULL;
}
static void* look(void* argument) {
  long seen = 0;
  for (int i = 0; i < 3; i++) {  // look
    seen += total;
  }  // looked
  return seen == 9 ? argument : NULL;
}
int main(void) {
  pthread_t threads[2];
  struct job* jobs[2];
  for (int i = 0; i < 16; i++) table[i] = i;
  for (int i = 0; i < 2; i++) {  // creation
    struct job* block = malloc(sizeof *block);  // allocation
    jobs[i] = block;
    block->input = i;  // fill
    pthread_create(&threads[i], NULL, work, block);
  }
  for (int i = 0; i < 2; i++) {
    struct job* block = jobs[i];
    pthread_join(threads[i], NULL);
    untouched += block->result;  // result
    free(block);
  }
  total = 3;  // write
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, look, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%ld %ld\n", counter, untouched);  // end
  return 0;
}
C
compile policies
suggests policies 'counter (long int), a static variable declared at policies.c:8: locked (seen' 'while they share it always under &lock)' \
  'at policies.c:@counter: WEIR_PAGES' 'after policies.c:@counter: WEIR_OBJECT(counter, WEIR_UNTOUCHED);' 'before policies.c:@creation: weir_set_locked(&counter, &lock);' \
  'before policies.c:@end: weir_acquire_write(&counter);' \
  'table (long int[]), a static variable declared at policies.c:9: sticky-read (seen' 'before policies.c:@creation: weir_set_sticky_read(&table);' \
  'racy (seen 2 times, by 2 threads, by atomic operations too)' 'after policies.c:@flags: WEIR_OBJECT(flags, WEIR_RACY);' \
  'total (long int), a static variable declared at policies.c:11: read-shared (seen' 'after policies.c:@write: weir_release_write(&total);' \
  'before policies.c:@look: weir_acquire_read(&total);' 'after policies.c:@looked: weir_release_read(&total);' \
  '2 blocks allocated at policies.c:34: private (seen' 'at policies.c:@allocation: weir_alloc(size, WEIR_PRIVATE)' \
  'after policies.c:@fill: weir_release_write(block);' 'before policies.c:@use: weir_acquire_write(block);' 'after policies.c:@use: weir_release_write(block);' \
  'before policies.c:@result: weir_acquire_write(block);'
grep -q 'untouched (long' log && fails "what one thread has to itself is suggested: $(cat log)"
round_trip policies

# What differs from part to part, and what is not ordered.
cat >parts.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  long mine, ours;
} both;
static long slices[64];
static long wrong;
static void* work(void* argument) {
  long index = (long)argument;
  for (int i = 0; i < 32; i++) slices[index * 32 + i] = i;
  if (index) both.mine++;
  pthread_mutex_lock(&lock);
  both.ours++;
  pthread_mutex_unlock(&lock);
  wrong++;
  usleep(20000);
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
C
compile parts
timeout 30 "$weir" check --suggest --exit-code=0 --log log -- ./parts >out 2>&1
for text in 'both.ours, a static variable declared at parts.c:6: locked' 'weir_object_declare(&both.ours, sizeof both.ours, WEIR_UNTOUCHED);' \
  'weir_set_locked(&both.ours, &lock);' 'slices (long int[]), a static variable declared at parts.c:7: parts' 'weir_array_slice(' \
  'wrong (long int), a static variable declared at parts.c:8: racy' 'nothing orders them: mend that first'; do
  grep -qF -- "$text" log || fails "parts: '$text' is not in: $(cat log)"
done

# Nothing is shared; no debug information.
printf 'int main(void) { return 0; }\n' >alone.c
compile alone
suggests alone 'no annotation to suggest'
strip -o stripped policies
suggests stripped 'no annotation to suggest' 2>/dev/null

# By hand-over through a queue: the same two places for all.
cat >queue.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct item {
  long value;
  struct item* next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item* first;
static long sum;
static void* take(void* argument) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&lock);
    while (!first) pthread_cond_wait(&filled, &lock);
    struct item* block = first;
    first = block->next;
    pthread_mutex_unlock(&lock);
    sum += block->value;
    free(block);
  }
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, take, NULL);
  for (long i = 0; i < 20; i++) {
    struct item* block = malloc(sizeof *block);
    block->value = i;
    pthread_mutex_lock(&lock);
    block->next = first;
    first = block;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
  }
  pthread_join(thread, NULL);
  printf("%ld\n", sum);
  return 0;
}
C
compile queue
suggests queue 'first (item*), a static variable declared at queue.c:10: locked' 'blocks allocated at queue.c:28' 'sum (long int), a static variable'
[ "$failed" = 0 ]
