// How an object comes back from a task that does not own it.
//
// No task writes into another's heap while that one runs. A freed foreign object is put in the
// freeing heap's outgoing list for the owner, threaded through the objects. heap_exchange hands
// such a list over in two stores, by making it an element of the owner's list of lists, whose links
// are the keys of first nodes. So the serial part of a run does not depend on how much was freed.
// The owner sorts the list later, when it needs memory (drain).
//
// Invariants:
//  1. Only exchange writes to another heap, and of it only `incoming` and the keys of objects that
//     were handed over. (not checkable: who writes to a heap nobody sees)
//  2. `incoming` is never written or read through the private view of memory, so no diff holds it.
//     (not checkable: who reads through which mapping nobody sees)
//  3. An exchange may come between any two instructions (free order preempts running tasks). But
//     what it touches (outgoing, pending) is used only with `busy` set, and then the exchange does
//     nothing. (not checkable: it is allowed at any instruction)
#include "heap/heap.h"
#include "heap/layout.h"

namespace weir {

namespace heap {

namespace {

constexpr uint64_t kGivenKey = 0x5ab7d1e30f924c86;  // freed by a task that does not own it

// For memory that a signal-driven exchange on the same task reads: order in the program is all that
// is needed.
inline void compiler_barrier() { asm volatile("" ::: "memory"); }

}  // namespace

void free_for_owner(uint32_t self, uint64_t address, uint32_t owner) {
  Heap& heap = heap_at(self);
  if ((address & 15) != 0 || owner >= kMaxHeaps) heap_corrupt("free(): invalid pointer", address);
  heap.busy = 1;
  compiler_barrier();
  if (heap.outgoing[owner] == address) heap_corrupt("free(): double free detected", address);
  Node* node = node_at(address);
  node->next = heap.outgoing[owner];
  node->key = kGivenKey;
  heap.outgoing[owner] = address;
  heap.outgoing_set[owner / 64] |= uint64_t{1} << owner % 64;
  heap.outgoing_any = 1;
  compiler_barrier();
  heap.busy = 0;
}

bool drain(uint32_t self, size_t budget) {
  Heap& heap = heap_at(self);
  if (heap.pending == 0 && heap.draining == 0) return false;
  for (; budget > 0; --budget) {
    heap.busy = 1;
    compiler_barrier();
    uint64_t address = heap.draining;
    if (address == 0) {
      address = heap.pending;
      if (address == 0) {
        heap.busy = 0;
        break;
      }
      if (!own_object(self, address))
        heap_corrupt("free(): corrupted list of objects given back", address);
      heap.pending = node_at(address)->key;
      node_at(address)->key = kGivenKey;
    }
    if (!own_object(self, address))
      heap_corrupt("free(): corrupted list of objects given back", address);
    heap.draining = node_at(address)->next;
    compiler_barrier();
    heap.busy = 0;
    free_drained(self, address);
  }
  return true;
}

}  // namespace heap

using namespace heap;

void heap_exchange(uint32_t self, void* (*shared_view)(uint64_t address)) {
  if (g_place.table == 0) return;
  auto* heap = static_cast<Heap*>(shared_view(address_of(&heap_at(self))));
  if ((heap->outgoing_any | heap->incoming) == 0 || heap->busy != 0) return;
  if (heap->outgoing_any != 0) {
    for (uint32_t word = 0; word < kMaxHeaps / 64; ++word) {
      for (uint64_t set = heap->outgoing_set[word]; set != 0; set &= set - 1) {
        auto index = word * 64 + static_cast<uint32_t>(__builtin_ctzll(set));
        auto* owner = static_cast<Heap*>(shared_view(address_of(&heap_at(index))));
        auto* first = static_cast<Node*>(shared_view(heap->outgoing[index]));
        first->key = owner->incoming;
        owner->incoming = heap->outgoing[index];
        heap->outgoing[index] = 0;
      }
      heap->outgoing_set[word] = 0;
    }
    heap->outgoing_any = 0;
  }
  if (heap->incoming != 0 && heap->pending == 0) {
    heap->pending = heap->incoming;
    heap->incoming = 0;
  }
}

}  // namespace weir
