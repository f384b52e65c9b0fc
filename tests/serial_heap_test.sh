#!/usr/bin/env bash
# --heap guard: each misuse of the heap ends the program, and is told; what is none goes on.
# usage: serial_heap_test.sh BUILD
set -uo pipefail
ulimit -c 0

sources=$(realpath "$(dirname "$0")")/serial/heap
. "$(dirname "$0")/recordings.sh"
guard=("$weir" run --order serial --heap guard --)
gcc -O1 -g -w -pthread "$sources/misuse.c" -o misuse || fail "compile misuse.c"

told() {  # NAME WORDS: the misuse NAME is told as WORDS, with stacks
  timeout 60 "${guard[@]}" ./misuse "$1" >stdout 2>stderr
  local status=$?
  [ $status = 66 ] || fail "$1: status $status: $(cat stdout stderr)"
  grep -q "weir: heap: $2" stderr || fail "$1: not told as '$2': $(cat stderr)"
  grep -q "weir: heap:     0x[0-9a-f]* .*/misuse+0x" stderr || fail "$1: no stack: $(cat stderr)"
  [ ! -s stdout ] || fail "$1: it went on: $(cat stdout)"
}
told read 'use after free: read of 0x[0-9a-f]*, 3 bytes into a block of 20 bytes, by thread T0'
grep -q 'freed by thread T0' stderr && grep -q 'allocated by thread T0' stderr || fail "stacks: $(cat stderr)"
told write 'use after free: write to'
told double 'double free: free() is given'
told realloc 'double free: realloc() is given'
told inside 'invalid free: free() is given 0x[0-9a-f]*, 8 bytes into a block of 20 bytes'
told behind 'heap overflow: write to 0x[0-9a-f]*, 12 bytes behind a block of 20 bytes, by'
told slack 'heap overflow: write to 0x[0-9a-f]*, 0 bytes behind a block of 20 bytes, found later'
told end 'heap overflow: .* found later'
told before 'heap underflow: write to 0x[0-9a-f]*, 1 byte before a block of 20 bytes, found later'
told variable 'invalid free: free() is given'
told global 'invalid free: free() is given'
told call 'use after free: a system call is given'
told handler 'use after free: write to'  # the program's handler does not run
told thread 'use after free: write to .* by thread T0'
grep -q 'freed by thread T1' stderr || fail "thread: $(cat stderr)"
told child 'use after free: write to'
told marked-double 'double free: free() is given'
told marked-inside 'invalid free: free() is given 0x[0-9a-f]*, 16 bytes into a block of 40 bytes'
told marked-behind 'heap overflow: .*, 0 bytes behind a block of 40 bytes, found later'
told marked-later 'use after free: .*, 3 bytes into a block of 40 bytes, found later'
told marked-pointer 'use after free: access through a pointer that was read from a freed block'

# --- no misuse
for program in './misuse' './misuse wild'; do
  read -ra words <<<"$program"
  timeout 60 "${guard[@]}" "${words[@]}" >stdout 2>stderr || fail "$program: $(cat stdout stderr)"
done
grep -q swallowed stdout || fail "a fault of the program's own: $(cat stdout stderr)"
timeout 60 "${guard[@]}" ./misuse many 2>stderr || fail "many: $(cat stderr)"
grep -q 'weir: heap: [0-9]* of 300[0-9] blocks had pages of their own' stderr || fail "many: $(cat stderr)"
{ timeout 60 "$weir" run --order serial -- ./misuse double; } 2>/dev/null  # not "Aborted"
[ $? = 134 ] || fail "without --heap guard"
ends 125 '--heap guard goes with --order serial' "$weir" run --heap guard -- ./misuse

# --- the same run each time, to the address
for i in 1 2; do timeout 60 "${guard[@]}" ./misuse thread >/dev/null 2>said.$i; done
cmp -s said.1 said.2 || fail "two runs: $(diff said.1 said.2)"

# --- allocators of others
cat >own.c <<'END2'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char memory[1 << 20];
static size_t used;
void* malloc(size_t size) { used = (used + 15) & ~(size_t)15; void* at = memory + used; used += size; return at; }
void free(void* block) { (void)block; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* block, size_t size) { void* at = malloc(size); if (block) memcpy(at, block, size); return at; }
int main(void) {
  volatile char* block = malloc(8);
  free((void*)block);
  block[0] = 1;
  return 0;
}
END2
gcc -O1 -fno-builtin -w own.c -o own || fail "compile own.c"
ends 0 'no block was looked at' "${guard[@]}" ./own
gcc -O1 -w -static -pthread "$sources/misuse.c" -o misuse.static || fail "compile it statically"
timeout 60 "${guard[@]}" ./misuse.static wild >stdout 2>stderr
grep -q 'no block was looked at' stderr || fail "a static program: $(cat stdout stderr)"

[ "$failed" = 0 ] || exit 1
echo "misuse of the heap is told under --heap guard"
