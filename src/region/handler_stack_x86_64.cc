// A trap comes in on the thread's alternate signal stack if it has one, and so does a trap within a
// handler, behind the first one's frame. Where no further frame fits, the kernel ends the process
// without a word; where one fits and the handler's own frames do not, they overwrite what lies
// below. The stack is the program's, often of a few kilobytes. So a handler that has little room
// there runs on a stack of the library's. The alternate one is off meanwhile: a trap within the
// handler comes in behind the handler's frames, not on top of the first trap's. When the first trap
// returns, the kernel sets the alternate stack again as it was.
#include "region/handler_stack.h"

#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "sys/report.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace weir::region {

namespace {

constexpr uint64_t kStack = 512 << 10, kGuard = 4096;  // for all traps within the handler, too
constexpr uint64_t kHandler = 12 << 10;                // that a handler may need
constexpr int kKept = 16;
char* g_stacks[kKept];  // that are in use by no thread; NULL: none

bool has_room(const ucontext_t& context) {
  const auto base = reinterpret_cast<uint64_t>(context.uc_stack.ss_sp),
             here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (context.uc_stack.ss_flags & SS_DISABLE || here - base >= context.uc_stack.ss_size)
    return true;
  return here - base >= getauxval(AT_MINSIGSTKSZ) + kHandler;
}

char* take_stack() {
  for (char*& one : g_stacks) {
    if (char* const stack = __atomic_exchange_n(&one, nullptr, __ATOMIC_ACQUIRE)) return stack;
  }
  void* const made = mmap(nullptr, kStack + kGuard, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  mprotect(made, kGuard, PROT_NONE);
  return static_cast<char*>(made);
}

void put_stack(char* stack) {
  for (char*& one : g_stacks) {
    char* none = nullptr;
    if (__atomic_compare_exchange_n(&one, &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  }
  munmap(stack, kStack + kGuard);
}

struct Call {
  void (*body)(void*);
  void* argument;
};

// On the other stack, from where the kernel lets the alternate one be changed.
void call_without_alternate(void* argument) {
  const Call& call = *static_cast<Call*>(argument);
  stack_t none = {}, before;
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, &before);
  call.body(call.argument);
  sigaltstack(&before, nullptr);
}

// function(argument), with the stack pointer at `top`.
__attribute__((naked)) void call_on(void* /*top*/, void (* /*function*/)(void*),
                                    void* /*argument*/) {
  asm("pushq %rbp\n"
      ".cfi_def_cfa_offset 16\n"
      ".cfi_offset %rbp, -16\n"
      "movq %rsp, %rbp\n"
      ".cfi_def_cfa_register %rbp\n"
      "movq %rdi, %rsp\n"
      "movq %rdx, %rdi\n"
      "callq *%rsi\n"
      "leave\n"
      ".cfi_def_cfa %rsp, 8\n"
      "ret\n");
}

}  // namespace

void call_with_room(const ucontext_t& context, void (*body)(void*), void* argument) {
  if (has_room(context)) return body(argument);
  char* const stack = take_stack();
  if (!stack) {
    report(
        "no memory for a stack, and the alternate signal stack is small: a handler may overflow "
        "it");
    return body(argument);
  }
  Call call{body, argument};
  call_on(stack + kGuard + kStack, call_without_alternate, &call);
  put_stack(stack);
}

}  // namespace weir::region
