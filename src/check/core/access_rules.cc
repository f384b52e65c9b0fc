// What is the same for several ways of checking: how the runtime reads the program's memory.
#include "check/core/access_rules.h"

#include "base/bytes.h"
#include "check/core/hazards.h"
#include "memory/backing.h"
#include "sys/memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

class Unchecked final : public AccessRules {};
constinit Unchecked g_unchecked;

// A thread's stack ends where the C library keeps the thread's own data. What lies between can all
// be read, from `known` on; the kernel is asked once for each stretch, since the task may be on
// another stack.
bool is_on_thread_stack(uint64_t rsp, uint64_t limit, uint64_t& known) {
  constexpr uint64_t kMax = uint64_t{1} << 30;
  if (rsp >= limit || limit - rsp > kMax) return false;
  if (!known) known = limit;
  if (rsp >= known) return true;
  const uint64_t start = page_down(rsp);
  if (!sys::is_readable(start, known - start)) return false;
  known = start;
  return true;
}

}  // namespace

constinit AccessRules* g_access_rules = &g_unchecked;

AccessRules& unchecked_rules() { return g_unchecked; }

void AccessRules::borrow(Task&, uint64_t address, bool) {
  page::demand::borrow(page_down(address));
}

uint64_t AccessRules::room_of(uint64_t size) {
  return size <= page::windows::kMaxSmall ? page::windows::rounded(size) : page_up(size);
}

void AccessRules::begin_call(Task& task, ThreadState&) {
  if (!has_begun_first()) begin_first(task);
}

// One thread, and its memory as the kernel made it.
uint32_t AccessRules::copy_stack(uint64_t rsp, uint8_t* to, uint32_t size) {
  constexpr uint64_t kMax = 256 << 20;
  const uint64_t limit = shared().program.stack_begin;
  if (rsp >= limit || limit - rsp > kMax) return 0;
  if (limit - rsp < size) size = static_cast<uint32_t>(limit - rsp);
  copy_bytes(to, reinterpret_cast<const void*>(rsp), size);
  return size;
}

void forget_declared(uint64_t start, uint64_t size) {
  end_declared(start, size, nullptr);
  if (found().hazards) hazards::forget(start, size);
}

// --- RulesInBacking

void RulesInBacking::begin_call(Task& task, ThreadState& thread) {
  settle(task, thread);
  join_holders(thread);
  end_joined_epoch(thread);
}

bool RulesInBacking::read(void* to, uint64_t from, uint64_t size) {
  if (page::backing_bytes_at(from) < size) return false;
  copy_bytes(to, reinterpret_cast<const void*>(page::shared_view_of(from)), size);
  return true;
}

const void* RulesInBacking::seen_at(uint64_t address) {
  return reinterpret_cast<const void*>(page::shared_view_of(address));
}

// Pages that this process may not touch are read in the backing.
uint32_t RulesInBacking::copy_stack(uint64_t rsp, uint8_t* to, uint32_t size) {
  uint32_t done = 0;
  while (done < size) {
    const uint64_t at = rsp + done;
    const uint64_t extent = page::backing_bytes_at(at);
    if (!extent) break;
    const uint64_t rest = page_down(at) + kPageSize - at;
    uint32_t length = size - done;
    if (length > rest) length = static_cast<uint32_t>(rest);
    copy_bytes(to + done, reinterpret_cast<const void*>(page::shared_view_of(at)), length);
    done += length;
  }
  return done;
}

// Without locks: what is taken from the task meanwhile it has until it comes to an event, as if it
// had touched it before.
bool RulesInBacking::is_untrapped(uint64_t start, uint64_t size, bool writes) {
  const ThreadState& thread = thread_of(self());
  const uint64_t bit = bit_of(thread);
  for (uint64_t at = page_down(start); at < start + size; at += kPageSize) {
    const uint64_t shared_view = page::shared_view_of(at);
    if (shared_view == at) continue;
    const Page& page = page_at(at, shared_view);
    if (!(__atomic_load_n(&page.holders, __ATOMIC_RELAXED) & bit)) return false;
    const Mode mode = load_enum<__ATOMIC_RELAXED>(page.mode);
    if (mode == Mode::kPrivate || mode == Mode::kSharedUntrapped ||
        (mode == Mode::kReadBy && !writes))
      continue;
    if (mode != Mode::kDeclared || !is_let_in(thread, page, writes)) return false;
  }
  return true;
}

// --- RulesOfThreads

// The thread's own stack, if the task is on that; else through the kernel.
uint32_t RulesOfThreads::copy_stack(uint64_t rsp, uint8_t* to, uint32_t size) {
  ThreadState& thread = thread_of(self());
  if (self().id && !thread.stack) thread.stack = page_down(sys::fs_base_untouched()) + kPageSize;
  const uint64_t limit = self().id ? thread.stack : shared().program.stack_begin;
  if (!is_on_thread_stack(rsp, limit, thread.stack_known)) {
    const long copied = sys::read_safely(to, rsp, size);
    return sys::failed(copied) ? 0 : static_cast<uint32_t>(copied);
  }
  if (limit - rsp < size) size = static_cast<uint32_t>(limit - rsp);
  copy_bytes(to, reinterpret_cast<const void*>(rsp), size);
  return size;
}

const uint64_t* RulesOfThreads::stack_in_place(uint64_t rsp, ThreadState& thread, uint32_t& count) {
  const uint64_t limit = self().id ? thread.stack : shared().program.stack_begin;
  if (rsp % 8 || !is_on_thread_stack(rsp, limit, thread.stack_known)) return nullptr;
  const uint64_t words = (limit - rsp) / 8;
  if (words < count) count = static_cast<uint32_t>(words);
  return reinterpret_cast<const uint64_t*>(rsp);
}

}  // namespace weir::view::checked
