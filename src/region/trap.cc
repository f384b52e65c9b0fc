// A fault in a window becomes a call of the region's handler, and the access is made again if it is
// allowed.
//
//   1. Is it ours? The address lies in a window, or in a region's own pages, and a region is there.
//   2. What was the access? Its instruction is decoded: which bytes, read or written, and by which
//      registers.
//   3. For each region that has some of these bytes: if its level, in the set that the window
//      belongs to, does not allow the access, its handler is called until it does.
//   4. Registers that point into the region are moved to the window of its level, and the
//      instruction is executed again.
// What is not ours goes to the handler that SIGSEGV had before.
//
// How it can go wrong, and what is done:
// - The level allows the access already (another thread raised it, or the pointer is an old copy):
//   no handler is called, the registers are moved.
// - A handler returns and has changed nothing: the access would trap for ever. That is said, with
//   the place, and passed on. If others lower the level as often as the handler raises it, it is
//   called again, up to kMaxTries times.
// - A handler touches its own region by a pointer that traps again: traps within traps are counted.
// - No register can be moved (an absolute address): that is said, and passed on.

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region/registers_x86_64.h"
#include "region/state.h"
#include "sys/memory.h"
#include "sys/report.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace weir::region {

namespace {

constexpr unsigned kMaxTries = 100'000, kDeepest = 64;

bool allows(unsigned window, int access) {
  return access & PROT_WRITE ? window == kWrite : window >= kRead;
}

const char* words(int access) {
  return access == PROT_READ ? "read" : access == PROT_WRITE ? "written" : "read and written";
}

void complain(const Region& region, const Touched& touched, uint64_t offset,
              const ucontext_t& context, const char* what) {
  report("region of %u bytes at 0x%x: its byte %d is %s by the instruction at 0x%x: %s",
         region.size, reinterpret_cast<uint64_t>(open_address(region.start)),
         static_cast<int64_t>(offset - region.start), words(touched.access),
         static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]), what);
}

// --- The stack that a handler runs on
//
// A trap comes in on the thread's alternate signal stack if it has one, and so does a trap within a
// handler, behind the first one's frame. Where no further frame fits, the kernel ends the process
// without a word; where one fits and the handler's own frames do not, they overwrite what lies
// below. The stack is the program's, often of a few kilobytes. So a handler that has little room
// there runs on a stack of the library's. The alternate one is off meanwhile: a trap within the
// handler comes in behind the handler's frames, not on top of the first trap's. When the first trap
// returns, the kernel sets the alternate stack again as it was.

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
  sys::protect(reinterpret_cast<uint64_t>(made), kGuard, PROT_NONE);
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

// Calls body(argument): on the stack that the trap came in on, if it has room.
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

// --- Asking

enum class Answer { kAllowed, kRefused };

// Until the region's level allows the access. `offset`: of the access's first byte.
Answer ask_handler(Region& region, int set, const Touched& touched, uint64_t offset,
                   ucontext_t& context) {
  for (unsigned tries = 0; tries < kMaxTries; tries++) {
    Level* level = level_of(region, set);
    uint32_t seen;
    weir_region_handler_fn handler;
    void* handler_context;
    {
      const OwnerGuard guard(region.lock);
      if (region.watched && touched.access & PROT_WRITE && (!level || level->level() == kWrite) &&
          make_twin(region)) {
        complain(region, touched, offset, context,
                 "its pages cannot be opened: the kernel allows no more mappings");
        return Answer::kRefused;
      }
      seen = level ? __atomic_load_n(&level->word, __ATOMIC_RELAXED) : uint32_t{kWrite};
      if (allows(effective(region, level), touched.access)) return Answer::kAllowed;
      handler = region.handler;
      handler_context = region.context;
    }
    if (!level) continue;  // watched again meanwhile
    if (!handler) {
      const OwnerGuard guard(g_state->registry);
      handler = g_state->handler;
      handler_context = g_state->context;
    }
    if (!handler) {
      complain(region, touched, offset, context, "its level forbids that, and it has no handler");
      return Answer::kRefused;
    }
    Thread& thread = t_thread;
    if (thread.depth >= kDeepest) {
      complain(region, touched, offset, context, "handlers trap within handlers without end");
      return Answer::kRefused;
    }
    weir_region_trap trap{};
    trap.start = open_address(region.start);
    trap.size = region.size;
    trap.address = open_address(offset);
    trap.access_size = touched.size;
    trap.access = touched.access;
    trap.level = (seen & 3) == kNone   ? PROT_NONE
                 : (seen & 3) == kRead ? PROT_READ
                                       : PROT_READ | PROT_WRITE;
    trap.set = set;
    trap.context = handler_context;
    trap.ucontext = &context;
    const int current = thread.current;
    thread.current = set;  // so that the handler's weir_region_protect means these pointers
    thread.depth++;
    struct {
      weir_region_handler_fn handler;
      weir_region_trap* trap;
    } call{handler, &trap};
    call_with_room(
        context,
        [](void* argument) {
          const auto& its = *static_cast<decltype(call)*>(argument);
          its.handler(its.trap);
        },
        &call);
    thread.depth--;
    thread.current = current;
    if (!region.size) {
      report("a handler has freed the region that was touched");
      return Answer::kRefused;
    }
    const uint32_t after = __atomic_load_n(&level->word, __ATOMIC_ACQUIRE);
    if (allows(after & 3, touched.access))
      continue;  // unless another thread has lowered it by then
    if (after == seen) {
      complain(region, touched, offset, context,
               "its handler has not raised the level, so the access would trap for ever");
      return Answer::kRefused;
    }
    if ((after & 3) == (seen & 3) && tries > 1000) {
      complain(region, touched, offset, context,
               "its handler sets a level that forbids the access still, again and again");
      return Answer::kRefused;
    }
  }
  complain(region, touched, offset, context,
           "its level was lowered as often as its handler raised it");
  return Answer::kRefused;
}

// Calls the handlers of all regions that have some of these bytes. NULL: refused. Otherwise the
// region of the byte that faulted.
Region* open_all(Region* faulted, int set, const Touched& touched, uint64_t offset,
                 ucontext_t& context) {
  if (!touched.exact ||
      (touched.size <= faulted->start + faulted->size - offset && offset >= faulted->start)) {
    return ask_handler(*faulted, set, touched, offset, context) == Answer::kAllowed ? faulted
                                                                                    : nullptr;
  }
  const uint64_t limit = offset + touched.size;
  for (uint64_t at = offset; at < limit;) {
    Region* region = find_first(at, limit);
    if (!region) break;
    if (ask_handler(*region, set, touched, offset, context) != Answer::kAllowed) return nullptr;
    at = region->start + region->size;
  }
  return faulted;
}

// The pointer is one to a region, though the access lies beside it.
Region* region_of_pointer(const ucontext_t& context, const Instruction& instruction,
                          const Touched& touched) {
  if (touched.operand < 0) return nullptr;
  const Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  const Operand& operand = instruction.operands[touched.operand];
  const uint8_t numbers[] = {operand.base, operand.index};
  for (const uint8_t number : numbers) {
    if (number >= 16) continue;
    const Place place = place_of(registers.general[number]);
    if (Region* region = place.inside ? find_referred(place.offset) : nullptr) return region;
  }
  return nullptr;
}

bool on_paged_fault(uint64_t fault, ucontext_t& context) {
  uint64_t offset;
  Region* region;
  if (!find_paged(fault, &offset, &region) || is_fetch(context)) return false;
  Instruction instruction;
  Touched touched{fault, 1, is_write(context) ? PROT_WRITE : PROT_READ, false, -1};
  if (instruction_at(context, instruction)) touched = touched_at(context, instruction, fault);
  return ask_handler(*region, 0, touched, region->start + (touched.address - region->paged),
                     context) == Answer::kAllowed;
}

bool on_window_fault(uint64_t fault, const Place& place, ucontext_t& context) {
  if (is_fetch(context)) return false;
  Instruction instruction;
  if (!instruction_at(context, instruction)) return false;
  const Touched touched = touched_at(context, instruction, fault);
  const uint64_t offset = place.offset - (fault - touched.address);
  Region* region = find_offset(place.offset);
  if (!region) region = touched.exact ? find_first(offset, offset + touched.size) : nullptr;
  Region* pointed = region ? nullptr : region_of_pointer(context, instruction, touched);
  if (!region && !pointed) return false;
  if (pointed) region = pointed;  // behind its end, or before it: its level says what happens
  const bool allowed =
      pointed ? ask_handler(*region, place.set, touched, offset, context) == Answer::kAllowed
              : open_all(region, place.set, touched, offset, context) != nullptr;
  if (!allowed) return false;
  const unsigned window = effective(*region, level_of(*region, place.set));
  if (!allows(window, touched.access))
    return true;  // lowered again by another thread: it traps again
  if (move_registers(context, instruction, touched, *region, place.set, window)) return true;
  complain(*region, touched, offset, context,
           "no register has its address, so it cannot be led elsewhere");
  return false;
}

// As the kernel would have called it.
void pass_on(int signal, siginfo_t* information, void* context) {
  struct sigaction& before = g_state->before;
  const bool has_handler = before.sa_flags & SA_SIGINFO ||
                           (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  if (!has_handler) {
    // By itself the fault comes again, from where it was made; a signal that was sent does not.
    struct sigaction fatal = {};
    fatal.sa_handler = SIG_DFL;
    if (information->si_code <= 0 && before.sa_handler == SIG_IGN) return;
    sigaction(signal, &fatal, nullptr);
    if (information->si_code <= 0) sys::raw(SYS_tgkill, getpid(), gettid(), signal);
    return;
  }
  sigset_t mask = before.sa_mask, old;
  if (!(before.sa_flags & SA_NODEFER)) sigaddset(&mask, signal);
  pthread_sigmask(SIG_BLOCK, &mask, &old);
  const struct sigaction called = before;
  if (called.sa_flags & SA_RESETHAND) {
    before = {};
    before.sa_handler = SIG_DFL;
  }
  if (called.sa_flags & SA_SIGINFO) {
    called.sa_sigaction(signal, information, context);
  } else {
    called.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void on_signal(int signal, siginfo_t* information, void* context) {
  const int error = errno;
  if (!on_fault(information, context)) pass_on(signal, information, context);
  errno = error;
}

}  // namespace

bool on_fault(siginfo_t* information, void* ucontext) {
  if (information->si_code <= 0) return false;  // sent by somebody
  auto& context = *static_cast<ucontext_t*>(ucontext);
  const auto fault = reinterpret_cast<uint64_t>(information->si_addr);
  if (information->si_code == SEGV_MAPERR || !fault) {
    if (const uint64_t continuation =
            continuation_of(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]))) {
      context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(continuation);
      return true;
    }
  }
  const Place place = place_of(fault);
  if (place.inside) return on_window_fault(fault, place, context);
  return on_paged_fault(fault, context) ||
         (information->si_code == SEGV_ACCERR && waits_for_conversion(fault));
}

void install_handler() {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // Regions' handlers are the program's code: they may trap themselves, and other signals come as
  // ever.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &g_state->before);
}

}  // namespace weir::region

using namespace weir::region;

int weir_region_on_fault(int signal, void* siginfo, void* ucontext) {
  if (!g_started || signal != SIGSEGV) return 0;
  const int error = errno;
  const bool ours = on_fault(static_cast<siginfo_t*>(siginfo), ucontext);
  errno = error;
  return ours;
}

void* weir_region_touch(const void* address, size_t size, int access) {
  if (started() || !size || !(access & (PROT_READ | PROT_WRITE)) ||
      access & ~(PROT_READ | PROT_WRITE)) {
    errno = EINVAL;
    return nullptr;
  }
  const auto from = reinterpret_cast<uint64_t>(address);
  uint64_t offset;
  Region* region = find(from, &offset);
  if (!region) {
    errno = ENOENT;
    return nullptr;
  }
  if (size > region->size || offset + size > region->start + region->size) {
    errno = EINVAL;
    return nullptr;
  }
  const Place place = place_of(from);
  const int set = place.inside ? place.set : 0;
  const Touched touched{from, size, access, true, -1};
  ucontext_t context = {};
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(__builtin_return_address(0));
  if (!open_all(region, set, touched, offset, context)) {
    errno = EACCES;
    return nullptr;
  }
  if (!place.inside) return const_cast<void*>(address);
  return reinterpret_cast<void*>(
      address_in(set, effective(*region, level_of(*region, set)), offset));
}
