// SIGSEGV. The handler runs on the stack of the thread that made the access, which is at an
// instruction of the program (or of libc, on its behalf): the runtime itself never touches the
// program's view. So the handler may lock, wait and allocate, except what the interrupted code
// holds. That may be malloc's lock, as a handler of another signal may have interrupted malloc: the
// library's memory is its own (own_memory.h). The signal is not blocked meanwhile, and errno is
// kept. Other signals are, since their handlers might fault themselves in the middle of it; but for
// those by which the library is asked or ended.
#include <errno.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "dsm/base/failure.h"
#include "dsm/base/source_lines.h"
#include "dsm/node/this_node.h"
#include "dsm/segment/forked.h"
#include "dsm/segment/handlers.h"
#include "dsm/threads/thread.h"
#include "weir/region.h"

namespace weir::dsm {

namespace {

constexpr int kNodes = 64;  // in one process: more than one is for tests
std::atomic<Node*> g_watched[kNodes];
std::atomic<uint64_t> g_past, g_past_size;  // the segment that weir_dsm_finish has taken away

void on_segv(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  // Bit 1 of the page fault's error code: it was a write.
  const bool write = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
  if (info->si_code == SEGV_ACCERR) {
    for (std::atomic<Node*>& one : g_watched) {
      Node* node = one.load(std::memory_order_acquire);
      if (!node || !node->memory.segment.contains(info->si_addr)) continue;
      if (is_forked())
        fail(
            "a process that was forked (%d) %s %p: it is no node, and of shared memory has what "
            "is accessible at that moment, to read; use weir_dsm_touch before fork, or more nodes",
            getpid(), write ? "writes" : "reads", info->si_addr);
      Thread& thread = this_thread();
      thread.diagnostics.program_counter = reinterpret_cast<const void*>(
          static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
      if (write && (node->settings.check || !node->settings.sharing.empty()))
        thread.diagnostics.program_counter = outside_libc(thread.diagnostics.program_counter);
      node->on_fault(info->si_addr, write, thread);
      errno = saved;
      return;
    }
  }
  if (info->si_code == SEGV_MAPERR &&
      reinterpret_cast<uint64_t>(info->si_addr) - g_past.load() < g_past_size.load()) {
    fail("%s of %p, which was shared memory until weir_dsm_finish", write ? "write" : "read",
         info->si_addr);
  }
  pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  if (weir_region_on_fault(signal, info, context)) {
    errno = saved;
    return;
  }
  program_handler(SIGSEGV).run(signal, info, context);
  errno = saved;
}

}  // namespace

void watch_faults(Node& node) {
  static const bool installed = [] {
    weir_region_start(nullptr);  // its handler first: this one asks it
    struct sigaction action = {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    action.sa_mask = all_signals_but_faults();
    for (const int number : {SIGQUIT, SIGTERM}) sigdelset(&action.sa_mask, number);
    struct sigaction before;
    if (sigaction_of_libc(SIGSEGV, &action, &before)) return false;
    program_handler(SIGSEGV).set(before);
    return true;
  }();
  if (!installed) fail("no handler for SIGSEGV");
  for (std::atomic<Node*>& one : g_watched) {
    Node* none = nullptr;
    if (one.compare_exchange_strong(none, &node)) return;
  }
  fail("more than %d nodes in one process", kNodes);
}

void forget_faults(Node& node) {
  g_past_size = 0;
  g_past = reinterpret_cast<uint64_t>(node.memory.segment.program());
  g_past_size = node.memory.segment.size();
  for (std::atomic<Node*>& one : g_watched) {
    Node* it = &node;
    one.compare_exchange_strong(it, nullptr);
  }
}

}  // namespace weir::dsm
