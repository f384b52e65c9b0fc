// Problem: the kernel does not fault for the program. A call whose buffer lies in a unit that is
// not accessible here at that moment returns EFAULT, or that it did a part. libc's fclose, for one,
// then loses what it had to write and says nothing.
//
// Mechanism: the filter (kernel_filter.cc) sends such calls back by SIGSYS before the kernel has
// begun, whichever code makes them. The handler asks the table of effects which ranges the call
// reads and which it may write, and fetches them as an access of the program would. Then it makes
// the call at the gate, which the filter lets through. Calls that name buffers in lists, of which
// the filter sees only the list, come here by functions of their own (vector_calls.cc).
//
// Invariants:
//   1. A call is made when its ranges have been fetched. Another thread of the node may synchronize
//      meanwhile and take some away. Then the kernel returns EFAULT, having done nothing, and the
//      call is made again if any right has changed since: those taken away may be there again. (not
//      checkable: the kernel's answer says it)
//   2. What a call consumes is not lost by that: what is received, up to kMostAside bytes, goes to
//      other memory first, and from there as the program's own access (aside.cc). So a call that
//      fails consumes nothing, and what a blocked call will receive may come at any time. (not
//      checkable: what a descriptor held before nobody sees)
//   3. The program's signals are blocked while the handler is in the runtime, and as they were
//      while it is in the kernel. So a call that blocks is interrupted as usual, and a thread is
//      cancelled in it only while it holds nothing of the runtime. (not checkable: the mask is the
//      kernel's, and to ask for it costs a call each time)
//   4. The handler never holds the node's mutex while it is in the kernel. (not checkable: a mutex
//      does not say who holds it)
//   5. In a process that was forked nothing is fetched: the handler accesses the ranges itself, and
//      ends the process as the program's own access would. EFAULT would be lost: libc's fclose
//      does not report it. (not checkable: it is about another process)
//
// userfaultfd is not used: its faults of the kernel need a privilege by default
// (vm.unprivileged_userfaultfd), and each change of rights would be one of page tables, by a thread
// that serves it.
#include "dsm/system_calls/kernel_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"
#include "dsm/segment/forked.h"
#include "dsm/segment/handlers.h"
#include "dsm/segment/kernel_filter.h"
#include "dsm/system_calls/aside.h"
#include "dsm/system_calls/refused_calls.h"
#include "dsm/threads/thread.h"
#include "effects/effects.h"

namespace weir::dsm {

namespace {

constexpr uint64_t kStructure = 4096;  // bytes behind a pointer of which no more is known
constexpr uint64_t kPage = 4096;
constexpr int kFromFilter = 1;  // si_code: SYS_SECCOMP, which libc's headers lack

std::atomic<Node*> served{nullptr};
std::atomic<uint64_t> past{0}, past_size{0};  // what was shared until weir_dsm_finish
pid_t process = 0;                            // a child by fork has no part in the job

bool is_shared(const Node& node, uint64_t address) {
  return node.memory.segment.contains(reinterpret_cast<const void*>(address));
}

// The part of a range that is shared; an empty one: none.
CallRange shared_part(const Node& node, uint64_t address, uint64_t size, bool is_written) {
  const auto begin = reinterpret_cast<uint64_t>(node.memory.segment.program()),
             end = begin + node.memory.segment.size();
  const uint64_t limit = size > UINT64_MAX - address ? UINT64_MAX : address + size;
  const uint64_t from = std::max(address, begin), to = std::min(limit, end);
  return {from, to > from ? to - from : 0, is_written};
}

void fetch_range(Node& node, const CallRange& range) {
  if (range.size == 0) return;
  Thread& thread = this_thread();
  InRuntime held(thread);
  const auto* address = reinterpret_cast<const uint8_t*>(range.address);
  const tape::Extent extent = node.memory.extent_of(address, range.size);
  node.tapeworm.prefetch(extent, kNoNode, thread, held);
  for (UnitId unit : extent) {
    Page& page = node.memory.page(unit);
    if (page.kind == UnitKind::kPages)
      node.fetch(page, range.is_written, thread, held);  // others are always accessible
  }
}

// In a process that was forked, where each page that is not accessible ends the process. None can
// be written there, so a write changes nothing.
void access_in_child(const CallRange& range) {
  auto* const bytes = reinterpret_cast<volatile uint8_t*>(range.address);
  const uint64_t last = range.size - 1;
  for (uint64_t at = 0; range.size > 0; at = std::min(at + kPage, last)) {
    const uint8_t value = bytes[at];
    if (range.is_written) bytes[at] = value;
    if (at == last) return;
  }
}

// That of this process, or of the one that has forked it.
Node* inherited_node() {
  Node* const node = served.load(std::memory_order_acquire);
  return node && (is_forked() || getpid() == process) ? node : nullptr;
}

// For the table of effects, which looks into lists and messages.
bool copy_from_program(void* to, uint64_t from, uint64_t size) {
  const Node* node = served.load(std::memory_order_acquire);
  if (node && is_shared(*node, from)) {
    memcpy(to, reinterpret_cast<const void*>(from), size);  // faults as the program would
    return true;
  }
  const iovec mine = {to, size}, its = {reinterpret_cast<void*>(from), size};
  return syscall(SYS_process_vm_readv, getpid(), &mine, 1, &its, 1, 0) == static_cast<long>(size);
}

// How the program has them while its call is in the kernel.
struct Interruptible {
  sigset_t mask;
  int cancel_state;
};

long in_kernel(const effects::Request& request, const Interruptible& program) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &program.mask, &before);
  pthread_setcancelstate(program.cancel_state, nullptr);
  const long result = weir_dsm_gate(request.number, request.a);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

bool is_in_segment(uint64_t address) {
  const Node* node = served.load(std::memory_order_acquire);
  return node && is_shared(*node, address);
}

// What the call offers, of that what is shared, one range after the other.
template <typename Visit>
void each_range(const Node& node, const effects::Request& request, Visit visit) {
  effects::Before before;
  effects::prepare(request, &before);
  struct Context {
    const Node& node;
    Visit& visit;
  } context{node, visit};
  for (int i = 0; i < 6; i++) {  // structures that lead to others
    const auto argument = static_cast<uint64_t>(request.a[i]);
    if (is_pointer(request, i) && is_shared(node, argument))
      visit(shared_part(node, argument, 1, false));
  }
  const long taken = request.number == SYS_sendmmsg ? request.a[2] : 0x7ffff000;
  effects::read_memory(
      request, before, taken,
      [](void* to, uint64_t address, uint64_t size) {
        auto& its = *static_cast<Context*>(to);
        its.visit(shared_part(its.node, address, size, false));
      },
      &context);
  effects::written_memory(
      request, before, -EFAULT,
      [](void* to, uint64_t address, uint64_t size) {
        auto& its = *static_cast<Context*>(to);
        its.visit(shared_part(its.node, address, size, true));
      },
      &context);
}

// A call that moves bytes between memory and a file, of which the kernel did a part: what is left
// of it. Of a pipe or a connection a part is an answer like others.
bool leave_rest(effects::Request& request, long done) {
  const bool is_at_offset = request.number == SYS_pread64 || request.number == SYS_pwrite64;
  if (!is_at_offset && request.number != SYS_read && request.number != SYS_write) return false;
  struct stat file;
  if (done <= 0 || done >= request.a[2] ||
      syscall(SYS_fstat, static_cast<int>(request.a[0]), &file) || !S_ISREG(file.st_mode))
    return false;
  request.a[1] += done;
  request.a[2] -= done;
  if (is_at_offset) request.a[3] += done;
  return true;
}

// A call on what was shared memory: an access, which ends the process. libc would lose what a
// stream has kept there, and say nothing.
void name_past(const effects::Request& request) {
  for (const long argument : request.a) {
    if (static_cast<uint64_t>(argument) - past.load() < past_size.load())
      fail("a system call on %p, which was shared memory until weir_dsm_finish",
           reinterpret_cast<void*>(argument));
  }
}

long make(effects::Request request, const Interruptible& program) {
  Node* const node = inherited_node();
  if (!node) {
    const long result = in_kernel(request, program);
    if (result == -EFAULT) name_past(request);
    return result;
  }
  if (const int error = refused_with(request, is_in_segment, copy_from_program)) return -error;
  if (is_forked()) {
    each_range(*node, request, access_in_child);
    return in_kernel(request, program);
  }
  if (ReceivingCall receiving(request, is_in_segment); receiving.is_aside()) {
    Aside memory(receiving.size());
    if (!memory.is_there()) return -ENOMEM;
    const long result = in_kernel(receiving.aside(memory), program);
    receiving.give(result);
    return result;
  }
  long done = 0;
  for (bool is_known = true;;) {
    const uint64_t changes = node->memory.segment.changes();
    each_range(*node, request, [node](const CallRange& range) { fetch_range(*node, range); });
    if (!is_known) {
      for (const long argument : request.a) {
        if (is_shared(*node, static_cast<uint64_t>(argument)))
          fetch_range(*node, shared_part(*node, static_cast<uint64_t>(argument), kStructure, true));
      }
    }
    const long result = in_kernel(request, program);
    const bool may_be_taken_away = node->memory.segment.changes() != changes;
    if (may_be_taken_away && leave_rest(request, result)) {
      done += result;
      continue;
    }
    if (result != -EFAULT || (!is_known && !may_be_taken_away))
      return result >= 0 ? done + result : done > 0 ? done : result;
    if (may_be_taken_away) continue;
    is_known = false;  // more than the table says?
  }
}

void on_sigsys(int number, siginfo_t* info, void* context) {
  // A filter of the program's own may send calls back too.
  const bool is_ours = info->si_code == kFromFilter && info->si_errno == kFilterMark;
  if (!is_ours) return program_handler(SIGSYS).run(number, info, context);
  const int saved = errno;
  auto* const its = static_cast<ucontext_t*>(context);
  greg_t* const registers = its->uc_mcontext.gregs;
  if (info->si_call_addr == weir_dsm_gate_end) {  // the filter of a program that has executed this
                                                  // one: its gate was elsewhere
    registers[REG_RAX] = -EFAULT;
    return;
  }
  const effects::Request request = {info->si_syscall,
                                    {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                     registers[REG_R10], registers[REG_R8], registers[REG_R9]}};
  if (request.number == SYS_fork || request.number == SYS_clone) {
    registers[REG_RAX] = weir_dsm_gate(request.number, request.a);
    if (registers[REG_RAX] == 0) become_forked();
    errno = saved;
    return;
  }
  Interruptible program = {its->uc_sigmask, 0};
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &program.cancel_state);
  registers[REG_RAX] = make(request, program);
  pthread_setcancelstate(program.cancel_state, nullptr);
  errno = saved;
}

// Whether this library's functions stand before libc's: not if the program has loaded it by dlopen.
bool stands_before_libc() { return dlsym(RTLD_DEFAULT, "writev") != dlsym(RTLD_NEXT, "writev"); }

}  // namespace

void watch_calls(Node& node) {
  process = getpid();
  effects::set_fetch(copy_from_program);
  served.store(&node, std::memory_order_release);
  struct sigaction action = {};
  action.sa_sigaction = on_sigsys;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  action.sa_mask = all_signals_but_faults();
  const Segment& segment = node.memory.segment;
  struct sigaction before;
  const int installed = sigaction_of_libc(SIGSYS, &action, &before);
  if (installed == 0) program_handler(SIGSYS).set(before);
  keep_handlers();
  const int error =
      installed ? errno
                : filter_calls(reinterpret_cast<uint64_t>(segment.program()), segment.size());
  if (error) {
    fprintf(stderr,
            "weir-dsm: node %u: system calls on shared memory may fail (EFAULT), as no filter is "
            "to be had (%s): call weir_dsm_touch before\n",
            node.me(), strerror(error));
  }
  if (node.me() == 0 && !stands_before_libc()) {
    fprintf(
        stderr,
        "weir-dsm: libweir-dsm was loaded by dlopen: lists of buffers in shared memory (writev, "
        "MPI's copies between processes) may fail, and a handler of SIGSEGV that is installed "
        "from now on takes its faults; start the program with LD_PRELOAD=libweir-dsm.so\n");
  }
}

Node* served_node() {
  Node* node = served.load(std::memory_order_acquire);
  return node && getpid() == process ? node : nullptr;
}

void forget_calls() {
  const Node* const node = served.exchange(nullptr, std::memory_order_acq_rel);
  if (!node) return;
  past = reinterpret_cast<uint64_t>(node->memory.segment.program());
  past_size = node->memory.segment.size();
}

bool CallBuffers::add(const void* address, uint64_t size, bool is_written) {
  const Node* const node = inherited_node();
  if (!node) return false;
  const CallRange part = shared_part(*node, reinterpret_cast<uint64_t>(address), size, is_written);
  if (part.size == 0) return false;
  if (count_ < kMax) {
    ranges_[count_++] = part;
    return true;
  }
  CallRange& last = ranges_[kMax - 1];  // what lies between is fetched too
  const uint64_t begin = std::min(last.address, part.address),
                 end = std::max(last.address + last.size, part.address + part.size);
  last = {begin, end - begin, last.is_written || is_written};
  return true;
}

uint64_t CallBuffers::make_accessible() const {
  Node* const node = served_node();
  const uint64_t changes = node ? node->memory.segment.changes() : 0;
  for (uint32_t i = 0; i < count_ && is_forked(); i++) access_in_child(ranges_[i]);
  for (uint32_t i = 0; i < count_ && node; i++) fetch_range(*node, ranges_[i]);
  return changes;
}

bool CallBuffers::may_be_taken_away(uint64_t changes) const {
  Node* const node = served_node();
  return count_ > 0 && node && node->memory.segment.changes() != changes;
}

}  // namespace weir::dsm
