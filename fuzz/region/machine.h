// One instruction by itself, from all registers to all registers. What it raises other than traps
// of regions ends it.
#pragma once

#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

namespace fuzz {

// Layout: fuzz_enter knows the offsets. `vector` is an area of xsave.
struct alignas(64) State {
  uint64_t general[16];
  uint64_t flags;
  uint64_t unused[7];
  uint8_t vector[4096];

  uint8_t* xmm(unsigned number) { return vector + 160 + size_t{16} * (number & 15); }
  template <typename RandomByte>
  void fill_vectors(RandomByte random_byte);
};
static_assert(offsetof(State, flags) == 128 && offsetof(State, vector) == 192);

}  // namespace fuzz

extern "C" {
extern fuzz::State fuzz_state;
extern uint64_t fuzz_parts;  // of xsave
extern uint64_t fuzz_host_stack;
extern uint32_t fuzz_mxcsr;
void fuzz_enter(void* code);  // from fuzz_state; the code goes on to
extern char fuzz_leave[];     // which writes it
}

// General register n is at 8n, as instructions number them: rsp is 32(fuzz_state).
asm(R"(
  .text
fuzz_enter:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  push %rdi
  mov %rsp, fuzz_host_stack(%rip)
  mov fuzz_parts(%rip), %eax
  mov fuzz_parts+4(%rip), %edx
  xrstor64 fuzz_state+192(%rip)
  pushq fuzz_state+128(%rip)
  popfq
  mov fuzz_state(%rip), %rax
  mov fuzz_state+8(%rip), %rcx
  mov fuzz_state+16(%rip), %rdx
  mov fuzz_state+24(%rip), %rbx
  mov fuzz_state+32(%rip), %rsp
  mov fuzz_state+40(%rip), %rbp
  mov fuzz_state+48(%rip), %rsi
  mov fuzz_state+56(%rip), %rdi
  mov fuzz_state+64(%rip), %r8
  mov fuzz_state+72(%rip), %r9
  mov fuzz_state+80(%rip), %r10
  mov fuzz_state+88(%rip), %r11
  mov fuzz_state+96(%rip), %r12
  mov fuzz_state+104(%rip), %r13
  mov fuzz_state+112(%rip), %r14
  mov fuzz_state+120(%rip), %r15
  jmp *fuzz_code(%rip)
fuzz_leave:
  mov %rax, fuzz_state(%rip)
  mov %rcx, fuzz_state+8(%rip)
  mov %rdx, fuzz_state+16(%rip)
  mov %rbx, fuzz_state+24(%rip)
  mov %rsp, fuzz_state+32(%rip)
  mov %rbp, fuzz_state+40(%rip)
  mov %rsi, fuzz_state+48(%rip)
  mov %rdi, fuzz_state+56(%rip)
  mov %r8, fuzz_state+64(%rip)
  mov %r9, fuzz_state+72(%rip)
  mov %r10, fuzz_state+80(%rip)
  mov %r11, fuzz_state+88(%rip)
  mov %r12, fuzz_state+96(%rip)
  mov %r13, fuzz_state+104(%rip)
  mov %r14, fuzz_state+112(%rip)
  mov %r15, fuzz_state+120(%rip)
  mov fuzz_host_stack(%rip), %rsp
  pushfq
  popq fuzz_state+128(%rip)
  cld
  mov fuzz_parts(%rip), %eax
  mov fuzz_parts+4(%rip), %edx
  xsave64 fuzz_state+192(%rip)
  fninit
  ldmxcsr fuzz_mxcsr(%rip)
  pop %rdi
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
)");

fuzz::State fuzz_state;
uint64_t fuzz_parts;
uint64_t fuzz_host_stack;
uint32_t fuzz_mxcsr = 0x1f80;
extern "C" void* fuzz_code;
void* fuzz_code;

namespace fuzz {

alignas(4096) inline uint8_t
    code_pages[8192];  // the second may not be read: nobody needs what lies behind the jump
alignas(16) inline uint8_t scratch[4096];  // a stack
inline uint8_t signal_stack[1 << 18];
inline sigjmp_buf back;
inline volatile sig_atomic_t is_running = 0;

[[noreturn]] inline void fail(const char* what) {
  fprintf(stderr, "fuzz: %s\n", what);
  exit(1);
}

template <typename RandomByte>
void State::fill_vectors(RandomByte random_byte) {
  for (unsigned i = 32; i < 3072; i++) vector[i] = random_byte();
  memset(vector, 0, 32);
  vector[0] = 0x7f;
  vector[1] = 3;     // x87: 64 bits of precision, nothing raised
  vector[4] = 0x0f;  // four of its registers hold something
  memcpy(vector + 24, &fuzz_mxcsr, 4);
  memset(vector + 416, 0, 160);
  memcpy(vector + 512, &fuzz_parts, 8);
}

// Cases depend on addresses in places (a stored stack pointer): the same ones each time.
inline void run_at_fixed_addresses(char** argv) {
  const int now = personality(0xffffffff);
  if (now & ADDR_NO_RANDOMIZE ||
      personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1)
    return;
  execv("/proc/self/exe", argv);
}

// REQUIRES: nobody else handles these signals yet; the library comes afterwards.
inline void prepare() {
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  fuzz_parts = low & 0xe7;  // x87, sse, avx, masks of avx-512, and its two others
  if (mprotect(code_pages, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 ||
      mprotect(code_pages + 4096, 4096, PROT_NONE) != 0)
    fail("no code may be made");
  const stack_t stack = {.ss_sp = signal_stack, .ss_flags = 0, .ss_size = sizeof signal_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int signal) {
    if (is_running) siglongjmp(back, signal);
    ::signal(signal, SIG_DFL);
  };
  for (const int signal : {SIGILL, SIGFPE, SIGTRAP, SIGBUS, SIGSEGV})
    sigaction(signal, &action, nullptr);
}

// Answers the signal that ended it, or 0: then `state` is what it left.
inline int run(const uint8_t* code, size_t length, State& state) {
  uint8_t* at = code_pages + 4096 - 5 - length;
  memcpy(at, code, length);
  at[length] = 0xe9;
  const auto distance =
      static_cast<int32_t>(fuzz_leave - reinterpret_cast<char*>(code_pages + 4096));
  memcpy(at + length + 1, &distance, sizeof distance);
  fuzz_code = at;
  memcpy(&fuzz_state, &state, sizeof state);
  is_running = 1;
  const int signal = sigsetjmp(back, 1);
  if (signal == 0) fuzz_enter(at);
  is_running = 0;
  memcpy(&state, &fuzz_state, sizeof state);
  return signal;
}

}  // namespace fuzz
