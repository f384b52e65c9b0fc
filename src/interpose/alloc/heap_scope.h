// An operation on the heap. If each task has a heap of its own, it needs nothing. Without that
// (weir record --without heap) all tasks have one heap, and the operation is an event: the task has
// the heap, and the turn, until the operation is over.
//
// Invariants
// 1. HeapState::user changes in turns only. A task that comes while the heap is another task's
//    waits for that task, which may have passed the turn on in the middle, for a page. (checked in
//    take, give)
// 2. Signals wait for the end of the operation. So no handler meets a heap in the middle of a
//    change, and none asks for it again. (not checkable: a signal that comes too early shows in the
//    heap only)
// 3. A forked child's heap is whole: fork waits until it is nobody's (task/fork.cc). (not
//    checkable: fork waits for it in the line before)
#pragma once

#include "heap/heap.h"
#include "interpose/malloc_mode.h"

namespace weir {

class HeapScope {
 public:
  HeapScope() : is_common_(g_malloc_mode == MallocMode::kCommonHeap && g_tasks_active) {
    if (is_common_) take();
  }
  ~HeapScope() {
    if (__builtin_expect(is_common_, 0)) give();
  }
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;

 private:
  [[gnu::cold]] static void take();
  [[gnu::cold]] static void give();

  const bool is_common_;
};

}  // namespace weir
