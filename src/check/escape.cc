// Memory that its owner alone has touched until he tells others where it is.
//
// What one task alone uses is private, and untrapped; a stack is from the first. A task that stores
// such an address where others may find it is about to share it: from there on its page is trapped,
// before anybody else has come. Without that the owner's side of a race would be seen only where
// the other one came first.

#include "check/budget.h"
#include "check/core/access_rules.h"
#include "check/core/state.h"
#include "memory/backing.h"

namespace weir::view::checked {

namespace {

constexpr uint64_t kDeepest = 8 << 20;  // of a stack
constexpr uint64_t kMaxWords = 8;       // of one store

bool is_own_stack(const Task& task, const ThreadState& thread, uint64_t address) {
  const uint64_t top = task.id ? thread.stack : shared().program.stack_begin;
  return top && address < top && address >= top - kDeepest;
}

void expose(Task& task, ThreadState& thread, uint64_t address) {
  if (!page::demand::is_ours(address) || page::backing_bytes_at(address) == 0) return;
  const uint64_t at = page_down(address);
  Page& page = page_of(at);
  const Mode before = load_enum<__ATOMIC_RELAXED>(page.mode);
  if (before != Mode::kPrivate && before != Mode::kNew) return;
  const SpinGuard guard(page.lock);
  if (page.mode == Mode::kNew ? !is_own_stack(task, thread, address)
                              : page.mode != Mode::kPrivate || !is_owner(page, task))
    return;
  drop_page(at, thread);
  trap_page(at, page, task, thread, true);
}

// The address leads there, and to what is named there.
void expose_with_contents(Task& task, ThreadState& thread, uint64_t address) {
  constexpr uint32_t kWords = 32;
  expose(task, thread, address);
  for (uint32_t i = 0; i < kWords; i++) {
    const uint64_t at = address + 8 * i;
    if (at % 8 || page::backing_bytes_at(at) < 8 || at / kPageSize != address / kPageSize) break;
    expose(task, thread, *reinterpret_cast<const uint64_t*>(page::shared_view_of(at)));
  }
}

}  // namespace

void escape(Task& task, ThreadState& thread, uint64_t address, uint64_t size) {
  constexpr uint64_t kWord = 8;
  if (task.signals.handler_count || tokens(Place::kStack) < most_tokens(Place::kStack) / 4 ||
      is_own_stack(task, thread, address))
    return;
  for (uint64_t at = address; at + kWord <= address + size && at < address + kMaxWords * kWord;
       at += kWord) {
    if (page::backing_bytes_at(at) < kWord) return;
    const uint64_t word = *reinterpret_cast<const uint64_t*>(page::shared_view_of(at));
    if (page_down(word) != page_down(address)) expose_with_contents(task, thread, word);
  }
}

}  // namespace weir::view::checked

namespace weir::view::checked {

// What a thread is given is often known only by way of other memory: the innermost frames are
// looked at for a while whatever leads there.
void expose_frames(Task& task, ThreadState& thread, uint64_t stack_pointer) {
  // Before the first thread nobody has seen what was stored where.
  const uint64_t near = shared().order.created == 1 ? 128 << 10 : 16 << 10;
  const uint64_t top = task.id ? thread.stack : shared().program.stack_begin;
  if (task.signals.handler_count || tokens(Place::kStack) < most_tokens(Place::kStack) / 2 ||
      stack_pointer >= top || top - stack_pointer > kDeepest)
    return;
  for (uint64_t at = page_down(stack_pointer); at < top && at < stack_pointer + near;
       at += kPageSize) {
    if (!page::demand::is_ours(at)) continue;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    if (page.mode != Mode::kNew && (page.mode != Mode::kPrivate || !is_owner(page, task))) continue;
    drop_page(at, thread);
    trap_page(at, page, task, thread, false);
  }
}

void share_stack(uint64_t argument) {
  Task& task = self();
  ThreadState& thread = thread_of(task);
  if (task.signals.handler_count) return;
  expose_with_contents(task, thread, argument);
}

}  // namespace weir::view::checked
