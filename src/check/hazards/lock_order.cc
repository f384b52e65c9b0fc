// The graph of locks: an edge leads from a lock that a task held to one for which it waited. A
// cycle is an inversion: threads that come at the same time may wait for each other for ever,
// whether or not these did. As ThreadSanitizer has it, what orders the threads otherwise does not
// count: an inversion between a program's begin and its end is one.
//
// Not reported: a cycle of one thread, or of fewer threads than edges; one with a lock that two of
// its edges hold beside (a gate); one in which who holds a lock and who wants it are readers;
// pthread_mutex_trylock and waits with a limit, which give up.
//
// Invariant: an edge is only ever made more dangerous (more threads, fewer gates, exclusive), and
// each such change looks for cycles again. So before_lock() has nothing to do where none of that
// changes, and takes no lock. (not checkable: it is about two moments)

#include "base/hash.h"
#include "check/core/hazards.h"

namespace weir::hazards {

namespace {

using view::checked::kMaxHeld;
using view::checked::state;
using view::checked::thread_of;
using view::checked::ThreadState;

constexpr uint32_t kTries = 32, kMaxDepth = findings::kMaxMoreSides + 2, kMaxSteps = 4000;

HazardState& all() { return state().hazards; }

// The lock that the task wants, and what it holds.
struct Wish {
  uint64_t lock;
  bool is_shared;
  const ThreadState& thread;

  uint32_t name() const { return thread.number + 1; }
  bool holds_exclusively(uint64_t other) const {
    for (uint32_t i = 0; i < thread.held_count; i++) {
      if (thread.held[i] == other) return true;
    }
    return false;
  }
};

uint64_t hash_of(uint64_t from, uint64_t to) { return mix(from ^ mix(to)); }
uint32_t& head_of(uint64_t from) { return all().heads[mix(from) >> 40 & (kEdgeHeads - 1)]; }

// Null: it is not there. `free` gets a place for it, or null.
Edge* find(uint64_t from, uint64_t to, Edge** free) {
  const uint64_t hash = hash_of(from, to);
  if (free) *free = nullptr;
  for (uint32_t i = 0; i < kTries; i++) {
    Edge& edge = all().edges[((hash >> 24) + i) & (kEdges - 1)];
    const uint64_t known = __atomic_load_n(&edge.from, __ATOMIC_ACQUIRE);
    if (known == from && edge.to == to) return &edge;
    if (!known && !edge.next && !edge.to) {
      if (free) *free = &edge;
      return nullptr;
    }
  }
  return nullptr;
}

bool is_settled(const Edge& edge, const Wish& wish, bool from_shared) {
  const uint32_t me = wish.name();
  if (edge.threads[0] != me && edge.threads[1] != me && !edge.threads[1]) return false;
  if (!(edge.is_exclusive & kFrom) && !from_shared) return false;
  if (!(edge.is_exclusive & kTo) && !wish.is_shared) return false;
  for (uint32_t i = 0; i < edge.gate_count; i++) {
    if (!wish.holds_exclusively(edge.gates[i])) return false;
  }
  return true;
}

// Guarded by: edge_lock.
void clear() {
  HazardState& s = all();
  for (Edge& edge : s.edges) edge = {};
  for (uint32_t& head : s.heads) head = 0;
  s.edge_count = 0;
}

// Guarded by: edge_lock. Null: there is no room.
Edge* add(uint64_t from, Edge* free, const Wish& wish) {
  HazardState& s = all();
  if (!free || s.edge_count > kEdges / 2) return nullptr;
  Edge& edge = *free;
  edge.to = wish.lock;
  uint32_t& head = head_of(from);
  edge.next = head;
  head = static_cast<uint32_t>(&edge - s.edges) + 1;
  edge.gate_count = 0;
  for (uint32_t i = 0; i < wish.thread.held_count && edge.gate_count < kMaxGates; i++) {
    const uint64_t held = wish.thread.held[i];
    if (!(held & 1) && held != from) edge.gates[edge.gate_count++] = held;
  }
  note_page(from);
  note_page(wish.lock);
  s.edge_count++;
  __atomic_store_n(&edge.from, from, __ATOMIC_RELEASE);
  return &edge;
}

// Guarded by: edge_lock.
void strengthen(Edge& edge, const Wish& wish, bool from_shared) {
  const uint32_t me = wish.name();
  if (!edge.threads[0]) edge.threads[0] = me;
  else if (edge.threads[0] != me && !edge.threads[1]) edge.threads[1] = me;
  edge.is_exclusive |= (from_shared ? 0 : kFrom) | (wish.is_shared ? 0 : kTo);
  uint8_t kept = 0;
  for (uint8_t i = 0; i < edge.gate_count; i++) {
    if (wish.holds_exclusively(edge.gates[i])) edge.gates[kept++] = edge.gates[i];
  }
  edge.gate_count = kept;
}

// Edges that lead from the first one's `to` back to its `from`.
class Cycle {
 public:
  explicit Cycle(const Edge& first) { path_[0] = &first; }

  bool find() { return search(path_[0]->to, 1); }
  uint32_t size() const { return size_; }
  const Edge& at(uint32_t i) const { return *path_[i]; }

 private:
  bool search(uint64_t at, uint32_t depth) {
    for (uint32_t next = head_of(at); next; next = all().edges[next - 1].next) {
      if (++steps_ > kMaxSteps) return false;
      const Edge& edge = all().edges[next - 1];
      if (edge.from != at || passes(edge.to, depth)) continue;
      path_[depth] = &edge;
      size_ = depth + 1;
      if (edge.to == path_[0]->from ? is_dangerous()
                                    : depth + 1 < kMaxDepth && search(edge.to, depth + 1))
        return true;
    }
    return false;
  }

  bool passes(uint64_t lock, uint32_t depth) const {
    for (uint32_t i = 1; i < depth; i++) {
      if (path_[i]->from == lock) return true;
    }
    return lock == path_[0]->to;
  }

  static bool have_gate(const Edge& a, const Edge& b) {
    for (uint32_t i = 0; i < a.gate_count; i++) {
      for (uint32_t k = 0; k < b.gate_count; k++) {
        if (a.gates[i] == b.gates[k]) return true;
      }
    }
    return false;
  }

  // Each edge by another thread.
  bool has_threads(uint32_t i, uint32_t* taken) const {
    if (i == size_) return true;
    for (const uint32_t thread : path_[i]->threads) {
      bool is_free = thread != 0;
      for (uint32_t k = 0; k < i; k++) is_free &= taken[k] != thread;
      taken[i] = thread;
      if (is_free && has_threads(i + 1, taken)) return true;
    }
    return false;
  }

  bool is_dangerous() const {
    for (uint32_t i = 0; i < size_; i++) {
      const Edge &edge = *path_[i], &next = *path_[(i + 1) % size_];
      if (!(edge.is_exclusive & kTo) && !(next.is_exclusive & kFrom)) return false;
      for (uint32_t k = i + 1; k < size_; k++) {
        if (have_gate(edge, *path_[k])) return false;
      }
    }
    uint32_t taken[kMaxDepth];
    return has_threads(0, taken);
  }

  const Edge* path_[kMaxDepth];
  uint32_t size_ = 0, steps_ = 0;
};

// Guarded by: edge_lock.
void report_cycle(const Cycle& cycle, uint32_t context) {
  SideNote sides[kMaxDepth];
  const uint32_t count = cycle.size();
  for (uint32_t i = 0; i < count; i++) {
    // What was first known comes first; this one, which is at(0), is the last.
    const Edge& edge = cycle.at((i + 1) % count);
    sides[i] = {edge.to, edge.threads[0] - 1, edge.context, edge.from};
  }
  sides[count - 1].number = thread_of(self()).number;
  sides[count - 1].context = context;
  report(Hazard::kLockOrder, sides, count, 0);
}

void note_edge(uint64_t held, const Wish& wish, const Caller& caller) {
  const uint64_t from = held & ~uint64_t{1};
  const bool from_shared = held & 1;
  const SpinGuard guard(all().edge_lock);
  Edge* free;
  Edge* edge = find(from, wish.lock, &free);
  if (!edge) {
    edge = add(from, free, wish);
    if (!edge) return clear();
    edge->context = view::checked::context_of(site_of(caller));
  }
  strengthen(*edge, wish, from_shared);
  Cycle cycle(*edge);
  if (cycle.find()) report_cycle(cycle, view::checked::context_of(site_of(caller)));
}

}  // namespace

bool is_known_order(uint64_t lock, bool is_shared) {
  const ThreadState& thread = thread_of(self());
  const uint32_t count = thread.held_count;
  if (!count || count > kMaxHeld || thread.held_lost || !looks_for(Hazard::kLockOrder)) return true;
  const Wish wish{lock, is_shared, thread};
  bool is_known = true;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t from = thread.held[i] & ~uint64_t{1};
    if (from == lock) return true;  // it has it already
    const Edge* edge = find(from, lock, nullptr);
    is_known &= edge && is_settled(*edge, wish, thread.held[i] & 1);
  }
  return is_known;
}

void before_lock(uint64_t lock, bool is_shared, const Caller& caller) {
  const ThreadState& thread = thread_of(self());
  const Wish wish{lock, is_shared, thread};
  for (uint32_t i = 0; i < thread.held_count; i++) {
    const Edge* edge = find(thread.held[i] & ~uint64_t{1}, lock, nullptr);
    if (!edge || !is_settled(*edge, wish, thread.held[i] & 1))
      note_edge(thread.held[i], wish, caller);
  }
}

void note_page(uint64_t address) { all().pages[mix(address >> 12) >> 40 & (kLockPages - 1)] = 1; }

namespace {

bool may_know(uint64_t object) {
  return all().pages[mix(object >> 12) >> 40 & (kLockPages - 1)] != 0;
}

void forget_edges(uint64_t start, uint64_t limit) {
  const SpinGuard guard(all().edge_lock);
  if (!all().edge_count) return;
  for (Edge& edge : all().edges) {
    const bool is_there = edge.from && ((edge.from >= start && edge.from < limit) ||
                                        (edge.to >= start && edge.to < limit));
    if (!is_there) continue;
    __atomic_store_n(&edge.from, uint64_t{0}, __ATOMIC_RELEASE);  // its place stays in its chain
    edge.threads[0] = edge.threads[1] = 0;
    edge.is_exclusive = 0;
  }
}

}  // namespace

void forget(uint64_t start, uint64_t size) {
  constexpr uint64_t kMany = 256;  // pages: then they are not asked one by one
  bool is_known = size >> 12 > kMany;
  for (uint64_t at = start; !is_known && at < start + size; at = (at | 0xfff) + 1)
    is_known = may_know(at);
  if (!is_known) return;
  forget_edges(start, start + size);
  forget_uses(start, start + size);
}

}  // namespace weir::hazards
