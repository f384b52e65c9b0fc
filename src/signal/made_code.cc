// Code that the program makes itself (a JIT compiler's) is in no file, so nothing of it is patched
// when it is mapped. In most Views that does no harm: an atomic operation on the one real memory,
// or on a page that its task owns, is atomic. At View isolated it works on the task's own copy of a
// page, and the other tasks would never see the exclusion that the program relies on.
//
// So at View isolated such memory is open for writing or for execution, never for both. When a task
// comes to execute a page that may have been written since, its sites are found
// (code/find/made_code.h), and each gets a byte that faults, in a copy of the page that only this
// process has and nobody publishes (memory/code/executed.h). There the task enters the runtime.
// Each process decides for itself which of the two a page is open for, and that is no event.
//
// Memory that processes share has no copies. If code in it has a site, the program ends here, and
// the message says how it can run.
//
// What cpuid returns depends on which processor the task is on. From the first code of the
// program's own making on, cpuid faults in it if the processor can do so, and is an event as it is
// in the program's file.
//
// REG_ERR's bits are the processor's.

#include <sys/mman.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "code/decode/registers.h"
#include "code/decode/shape.h"
#include "code/find/made_code.h"
#include "code/program/text_patches.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/code/executed.h"
#include "memory/code/mapped_twice.h"
#include "record/shared_memory.h"
#include "signal/page_fault.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "sys/cpuid_x86_64.h"
#include "sys/maps.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "view/isolated/isolated.h"

namespace weir::trap {

namespace {

constexpr greg_t kWrite = 2, kFetch = 16;

MadePage g_page;
uint16_t g_positions[kPageSize];

// The program's own bytes at [start, start + size), as many of them as can be read.
uint32_t read_own(uint64_t start, uint8_t* bytes, uint32_t size) {
  const long got = sys::read_safely(bytes, start, size);
  if (got <= 0) return 0;
  page::executed::restore(page_down(start), static_cast<uint32_t>(start % kPageSize), bytes,
                          static_cast<uint32_t>(got));
  return static_cast<uint32_t>(got);
}

// The page, which can be read, and what of its neighbours belongs to the same memory.
void read_page(uint64_t page, const Range& code) {
  g_page.address = page;
  g_page.code = code;
  g_page.first = MadePage::kBefore;
  g_page.limit = MadePage::kPageLimit;
  copy_bytes(g_page.bytes + MadePage::kBefore, reinterpret_cast<const void*>(page), kPageSize);
  if (page > code.start &&
      read_own(page - MadePage::kBefore, g_page.bytes, MadePage::kBefore) == MadePage::kBefore)
    g_page.first = 0;
  if (page + kPageSize < code.limit)
    g_page.limit += read_own(page + kPageSize, g_page.bytes + g_page.limit, MadePage::kBehind);
}

bool is_shared(uint64_t page) {
  page::LimitLifted descriptors(RLIMIT_NOFILE);
  sys::MapLine line;
  return !sys::find_map_line(page, &line) || line.shared;
}

[[noreturn]] void refuse(uint64_t address) {
  if (__atomic_exchange_n(&shared().memory.code_refused, 1u, __ATOMIC_RELAXED)) die(125);
  report(
      "the program makes code with atomic operations in memory that processes share (at %x), and "
      "View isolated does not see them there: a "
      "result would be wrong. View coherent, which weir record has, and View direct hold such "
      "programs: "
      "weir record -- PROGRAM, or weir run --order token --view direct -- PROGRAM",
      address);
  die(125);
}

// Opens the page for execution. Control is at `entry`.
bool open_to_execute(uint64_t page, uint64_t entry, const Range& code, int protection) {
  using page::executed::Bytes;
  const bool is_backed = page::backing_bytes_at(page) != 0;
  // Of memory that processes share, reading it is what has the page given (record/shared_memory.h).
  if ((is_backed || !(protection & PROT_READ)) && page::protect(page, kPageSize, PROT_READ) != 0)
    return false;
  const SharedMapping* shared = is_backed ? nullptr : page::twice::find(page);
  const Bytes bytes = shared                                 ? Bytes::kShared
                      : !is_backed                           ? Bytes::kNoOne
                      : view::isolated::is_unpublished(page) ? Bytes::kOwn
                                                             : Bytes::kBackings;
  if (shared) page::twice::close_to_write(page);
  read_page(page, code);
  const auto at = static_cast<uint32_t>(entry + MadePage::kBefore - page);
  const uint32_t count =
      find_made_sites(g_page, at, runtime::first_patch_kinds() | kPatchAtomic, g_positions);
  const bool is_known = is_backed || (shared && !page::twice::is_incomplete());
  if (count && !is_known && (shared || is_shared(page))) refuse(page + g_positions[0]);
  return page::executed::open(page, g_positions, count, bytes, protection);
}

// A locked instruction on memory that is not there, or that the program has closed: as the
// processor would tell it.
bool is_denied(const AtomicOp& op, siginfo_t& info, ucontext_t& context) {
  const Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  Frame frame{};
  for (unsigned i = 0; i < 16; i++) general_register(frame, i) = registers.general[i];
  const uint64_t address = atomic_address(op, frame, sys::fs_base_untouched());
  uint8_t byte;
  const int code = page::code_protection(address);
  const bool is_there = page::backing_bytes_at(address) || sys::read_safely(&byte, address, 1) == 1;
  const bool may = code ? code & PROT_WRITE : page::may_access(page_down(address), true);
  if (op.kind == AtomicKind::kFence || (is_there && may)) return false;
  constexpr greg_t kUser = 4, kPageFault = 14;
  const greg_t present = is_there;
  info.si_code = is_there ? SEGV_ACCERR : SEGV_MAPERR;
  info.si_addr = reinterpret_cast<void*>(address);
  auto& gregs = context.uc_mcontext.gregs;
  gregs[REG_ERR] = present | kWrite | kUser;
  gregs[REG_TRAPNO] = kPageFault;
  gregs[REG_CR2] = static_cast<greg_t>(address);
  return true;
}

}  // namespace

namespace {

// A page that is open for writing and execution, for one instruction.
struct {
  uint64_t page;  // 0: there is none
  uint64_t rip;
  bool was_stepped;  // by somebody else
} g_open_both;

// Whether the instruction at `rip` lies on the page, in part at least.
bool lies_on(uint64_t rip, uint64_t page) {
  if (rip >= page) return rip < page + kPageSize;
  uint8_t code[kMaxInstructionSize];
  Shape shape;
  if (page - rip >= kMaxInstructionSize) return false;
  const long got = sys::read_safely(code, rip, sizeof code);
  return got > 0 && read_shape(code, static_cast<size_t>(got), shape) && rip + shape.length > page;
}

// What writes to the page lies on it, and so needs both at once: for one step the page is open for
// both, with the program's bytes. What writes is no site: that would have faulted before.
bool open_both(uint64_t page, int protection, ucontext_t& context) {
  auto& flags = context.uc_mcontext.gregs[REG_EFL];
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (page::protect(page, kPageSize, protection) != 0) return false;
  g_open_both = {page, rip, (flags & static_cast<greg_t>(sys::kTrapFlag)) != 0};
  flags |= static_cast<greg_t>(sys::kTrapFlag);
  return true;
}

}  // namespace

bool end_own_write(int signal, const siginfo_t& info, ucontext_t& context) {
  if (!g_open_both.page) return false;
  auto& gregs = context.uc_mcontext.gregs;
  const bool is_step =
      signal == SIGTRAP && (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT);
  const bool is_ours = is_step && !g_open_both.was_stepped;
  const bool stands_there = static_cast<uint64_t>(gregs[REG_RIP]) == g_open_both.rip;
  if (is_ours && stands_there) return true;     // one round of many, of rep movs
  if (!is_step && !stands_there) return false;  // before the handler of the step has begun
  const uint64_t page = g_open_both.page;
  g_open_both.page = 0;
  if (!g_open_both.was_stepped) gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  if (page::protect(page, kPageSize, page::unexecuted(page::code_protection(page))) != 0) die(125);
  return is_ours;
}

bool meet_made_code(uint64_t address, ucontext_t& context) {
  if (!plan().is_isolated()) return false;
  Range range;
  const int protection = page::code_protection(address, &range);
  const greg_t error = context.uc_mcontext.gregs[REG_ERR];
  const uint64_t page = page_down(address);
  // Such a page is opened where it is taken.
  const bool is_recorded = shared_memory::g_active && shared_memory::overlaps(page, kPageSize);
  if (error & kFetch) {
    if (!(protection & PROT_EXEC)) return false;
    if (!g_tasks_active) return !is_recorded && page::protect(page, kPageSize, protection) == 0;
    // The page's first bytes may be the rest of an instruction that begins on the one before.
    const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
    const bool begins_before = rip < page && page - rip < kMaxInstructionSize && rip >= range.start;
    if (!open_to_execute(page, begins_before ? rip : address, range, protection)) return false;
    return !begins_before ||
           open_to_execute(page - kPageSize, rip, range, page::code_protection(rip));
  }
  if (!(error & kWrite)) return false;
  const bool is_opened = page::twice::open_to_write(page);
  if (!is_opened && (!(protection & PROT_WRITE) || is_recorded)) return false;
  constexpr int kBoth = PROT_WRITE | PROT_EXEC;
  if (g_tasks_active && (protection & kBoth) == kBoth &&
      lies_on(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]), page))
    return open_both(page, protection, context);
  return is_opened || page::protect(page, kPageSize, page::unexecuted(protection)) == 0;
}

void watch_made_code(Task& task) {
  const bool faults = plan().has_processes() ? sys::g_cpuid_faults : task.identity.cpuid_faults;
  if (faults) return;
  task.identity.cpuid_faults = 1;
  if (sys::let_cpuid_fault(true)) sys::g_cpuid_faults = true;
}

void read_site(uint64_t address, Site& site) {
  uint8_t code[kMaxInstructionSize];
  const long got = sys::read_safely(code, address, sizeof code);
  WEIR_CHECK(got > 0 && read_made_site(code, static_cast<size_t>(got), address, site));
}

bool meet_made_site(Task& task, siginfo_t& info, ucontext_t& context) {
  constexpr uint8_t kCpuid[] = {0x0f, 0xa2};
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (in_runtime(task, context) || on_signal_stack(task, context)) return false;
  uint8_t code[kMaxInstructionSize];
  const long got = sys::read_safely(code, rip, sizeof code);
  if (got < static_cast<long>(sizeof kCpuid)) return false;
  Site site;
  const bool is_site = plan().is_isolated() && (page::code_protection(rip) & PROT_EXEC) &&
                       read_made_site(code, static_cast<size_t>(got), rip, site);
  const bool is_cpuid = sys::g_cpuid_faults && __builtin_memcmp(code, kCpuid, sizeof kCpuid) == 0;
  if (!is_site && !is_cpuid) return false;
  if (is_site && site.kind == SiteKind::kAtomic && is_denied(site.atomic, info, context))
    return false;
  if (runtime::g_is_in_place_process) {
    interrupt_for_own(task, context);
  } else {
    enter_at_made_code(task, context, is_site ? kMadeSite : kMadeCpuid);
  }
  return true;
}

}  // namespace weir::trap
