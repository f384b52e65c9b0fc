#include "interpose/alloc/heap_scope.h"

#include "control/control.h"
#include "sync/event.h"
#include "sys/report.h"

namespace weir {

void HeapScope::take() {
  if (self().identity.in_vfork) return;
  weir_upcall(
      [](long, long, long) -> long {
        Task& task = self();
        begin_turn(EventKind::kHeap);
        while (shared().heap.user) wait_for_page(kHeapKey);
        WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 1 of heap_scope.h
        shared().heap.user = task.id + 1;
        task.fast_lock_section = 1;
        return 0;
      },
      0, 0, 0);
}

void HeapScope::give() {
  if (self().identity.in_vfork) return;
  weir_upcall(
      [](long, long, long) -> long {
        WEIR_CHECK(shared().heap.user == self().id + 1u);  // invariant 1 of heap_scope.h
        shared().heap.user = 0;
        wake(kHeapKey, 1, ~0u);
        self().fast_lock_section = 0;
        end_turn();
        return 0;
      },
      0, 0, 0);
}

}  // namespace weir
