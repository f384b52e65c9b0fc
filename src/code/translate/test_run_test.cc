#include "code/translate/test_run.h"
#include "base/hash.h"

#include <asm/prctl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>
#include <utility>

#include "base/test_libraries.h"
#include "code/decode/registers.h"
#include "code/patch/test_runtime_x86_64.h"
#include "code/translate/cache.h"
#include "code/translate/counted.h"
#include "code/translate/program_text.h"
#include "sys/syscall_x86_64.h"

extern "C" {
__attribute__((noinline)) int64_t weir_test_count_run(const void* function, int64_t a, int64_t b);
int64_t weir_test_step_run(const void* function, int64_t a, int64_t b);
void weir_test_count_entry();
void weir_test_count_stop();
void weir_test_count_on_site(weir::Frame*);
}

// The function's stack begins at the same place of a page in both: libc's string functions take
// other ways where what they read crosses into another page.
asm(R"(
    .text
weir_test_count_run:
    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rsp, %rbx
    and $-4096, %rsp
    sub $8, %rsp
    push %rbx
    mov %rsp, %gs:0x10
    mov %gs:0x18, %rsp
    push $0x7000
    jmp weir_test_count_entry
weir_test_count_stop:
    pop %rsp
    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
    ret
weir_test_step_run:
    push %rbx
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rsp, %rbx
    and $-4096, %rsp
    sub $16, %rsp
    pushfq
    orl $0x100, (%rsp)
    popfq
    call *%rax
    pushfq
    andl $~0x100, (%rsp)
    popfq
    mov %rbx, %rsp
    pop %rbx
    ret
)");
WEIR_TEST_ENTRY("weir_test_count_entry", "weir_test_count_on_site");

namespace weir::translate::test {

bool (*on_fault)(int, ucontext_t&) = nullptr;
bool flushes = false, singly = false;

namespace {

constexpr uint64_t kStart = 0x7000;

alignas(64) Task g_task;
alignas(64) char g_runtime_stack[1 << 17], g_signal_stack[1 << 17];
uint64_t g_interruptions;
uint64_t g_budget, g_executed, g_misses, g_steps, g_last_step;
bool g_native, g_interrupted;
uint64_t g_places, g_places_digest, g_registers_digest;

WEIR_TEST_HANDLER uint64_t digest(const Frame& frame) {
  uint64_t hash = 0;
  for (unsigned i = 0; i < 16; i++) hash = mix(hash ^ general_register(frame, i)) + (hash >> 31);
  return hash;
}

WEIR_TEST_HANDLER void go_on(Frame& frame, uint64_t budget) {
  const uint64_t to = budget == 0 ? 0
                      : singly    ? enter_single(g_task, frame.rip, budget)
                                  : enter(g_task, frame.rip, budget);
  if (to == 0) {
    g_native = true;
  } else {
    frame.rip = to;
  }
}

void on_signal(int signal, siginfo_t* info, void* pointer) {
  auto& context = *static_cast<ucontext_t*>(pointer);
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (signal == SIGTRAP && (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT)) {
    if (rip != g_last_step) g_steps++;
    g_last_step = rip;
    return;
  }
  if (signal == SIGALRM) {
    if (!is_inside(rip)) return;
    g_interrupted = true;
    g_interruptions++;
    interrupt(context);
    return;
  }
  if (!meet_signal(signal, info->si_code, context)) _exit(78);
  if (on_fault == nullptr || !on_fault(signal, context)) _exit(79);
}

void note_texts() {
  for (const Library& library : loaded_libraries())
    note_text({page_down(library.text.start), page_up(library.text.limit)});
}

bool prepare() {
  for (auto [at, size] : {std::pair{kCountCode, kCountCodeSize},
                          {kCountTargets, kCountTargetsSize},
                          {kCountBlocks, kCountBlocksSize},
                          {kCountState, sizeof(CountState)}}) {
    void* got = mmap(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != reinterpret_cast<void*>(at)) return false;
  }
  g_task.self = &g_task;
  g_task.stack_top = reinterpret_cast<uint64_t>(g_runtime_stack + sizeof g_runtime_stack);
  sys::raw(SYS_arch_prctl, ARCH_SET_GS, reinterpret_cast<long>(&g_task));
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  const stack_t stack = {g_signal_stack, 0, sizeof g_signal_stack};
  sigaltstack(&stack, nullptr);
  for (int signal : {SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    sigaction(signal, &action, nullptr);
  note_texts();
  return start(reinterpret_cast<uint64_t>(&weir_test_count_entry),
               reinterpret_cast<uint64_t>(&weir_test_count_stop));
}

}  // namespace

bool in_child(bool (*body)()) {
  return weir::test::in_child([=] { return prepare() && body(); });
}

Outcome run(const void* function, int64_t a, int64_t b, uint64_t budget) {
  Outcome run;
  g_budget = budget;
  g_executed = g_misses = g_places = g_places_digest = g_registers_digest = 0;
  g_interruptions = 0;
  g_native = g_interrupted = false;
  run.result = weir_test_count_run(function, a, b);
  run.executed = g_executed;
  run.misses = g_misses;
  run.interruptions = g_interruptions;
  run.was_native = g_native;
  run.places = g_places;
  run.places_digest = g_places_digest;
  run.registers_digest = g_registers_digest;
  return run;
}

uint64_t steps_of(const void* function, int64_t a, int64_t b) {
  g_steps = g_last_step = 0;
  weir_test_step_run(function, a, b);
  return g_steps - 4;  // the call, and what switches stepping off
}

}  // namespace weir::translate::test

extern "C" WEIR_TEST_HANDLER void weir_test_count_on_site(weir::Frame* frame) {
  using namespace weir;
  using namespace weir::translate;
  using namespace weir::translate::test;
  if (frame->site == kStart) {
    frame->rsp -= 8;
    *reinterpret_cast<uint64_t*>(frame->rsp) = reinterpret_cast<uint64_t>(&weir_test_count_stop);
    const uint64_t function = frame->rax;
    frame->rax = frame->rcx = frame->rdx = frame->rbx = frame->rbp = 0;
    frame->r8 = frame->r9 = frame->r10 = frame->r11 = frame->r12 = frame->r13 = frame->r14 =
        frame->r15 = 0;
    frame->rip = function;
    go_on(*frame, g_budget);
  } else if (frame->site == kCounted) {
    const bool ended = on_exhausted(*frame);
    g_executed += executed();
    if (!ended && !g_interrupted) sys::raw(SYS_exit_group, 76);
    if (!ended) {
      g_interrupted = false;
      go_on(*frame, left());
      return;
    }
    g_places++;
    g_places_digest = mix(g_places_digest ^ frame->rip) + (g_places_digest >> 29);
    g_registers_digest = mix(g_registers_digest ^ digest(*frame)) + (g_registers_digest >> 29);
    if (flushes) on_patched_text();
    go_on(*frame, g_budget);
  } else if (frame->site == kCountMiss) {
    g_misses++;
    if (is_single()) {
      if (!on_single(*frame)) sys::raw(SYS_exit_group, 75);
      g_executed += executed();
      if (frame->rip != reinterpret_cast<uint64_t>(&weir_test_count_stop)) go_on(*frame, g_budget);
      return;
    }
    on_miss(*frame);
    if (is_inside(frame->rip)) return;
    g_executed += executed();
    if (g_interrupted && frame->rip != reinterpret_cast<uint64_t>(&weir_test_count_stop)) {
      g_interrupted = false;
      go_on(*frame, left());
      return;
    }
    if (frame->rip != reinterpret_cast<uint64_t>(&weir_test_count_stop)) g_native = true;
  } else {
    sys::raw(SYS_exit_group, 77);
  }
}
