// Registered pointers: each hangs in the list of its region and set, or in the list of unbounded
// ones, and C's are found by the variable's address.
//
// Variables may lie in regions themselves: they are read and written where memory is always open. A
// variable on the stack of a thread is forgotten when that thread ends, since the memory is used
// for something else then.

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "region/registry.h"
#include "region/state.h"

namespace weir::region {

namespace {

pthread_key_t g_key;
pthread_once_t g_key_once = PTHREAD_ONCE_INIT;

void** canonical(void* variable) {
  return reinterpret_cast<void**>(stable_of(reinterpret_cast<uint64_t>(variable)));
}

uint64_t hash_of(void** location) {
  const uint64_t mixed = (reinterpret_cast<uint64_t>(location) >> 3) * 0x9e3779b97f4a7c15;
  return (mixed ^ mixed >> 32) & (g_state->hash_size - 1);
}

PooledLink* find_link(void** location) {
  if (!g_state->hash_size) return nullptr;
  PooledLink* link = g_state->hash[hash_of(location)];
  while (link && link->location() != location) link = link->same_hash;
  return link;
}

bool grow_hash() {
  State& state = *g_state;
  if (state.hash_count < state.hash_size) return true;
  const uint64_t size = state.hash_size ? state.hash_size * 2 : 64;
  auto** table = static_cast<PooledLink**>(state.other.take(size * sizeof(PooledLink*)));
  if (!table) return state.hash_size != 0;
  PooledLink** old = state.hash;
  const uint64_t old_size = state.hash_size;
  state.hash = table;
  state.hash_size = size;
  for (uint64_t i = 0; i < old_size; i++) {
    while (PooledLink* link = old[i]) {
      old[i] = link->same_hash;
      PooledLink*& first = table[hash_of(link->location())];
      link->same_hash = first;
      first = link;
    }
  }
  state.other.give(old, old_size * sizeof(PooledLink*));
  return true;
}

// The list can be walked at any instruction.
void push(Link** first, Link* link) {
  link->next = *first;
  link->back = first;
  if (link->next) link->next->back = &link->next;
  __atomic_store_n(first, link, __ATOMIC_RELEASE);
}

void take_out(Link* link) {
  if (!link->back) return;
  __atomic_store_n(link->back, link->next, __ATOMIC_RELEASE);
  if (link->next) link->next->back = link->back;
  link->back = nullptr;
}

void count_pointer(int set, int by) {
  __atomic_fetch_add(&g_state->sets[set].pointers, static_cast<uint64_t>(int64_t{by}),
                     __ATOMIC_RELAXED);
}

void drop_pooled(PooledLink* link) {
  PooledLink** at = &g_state->hash[hash_of(link->location())];
  while (*at && *at != link) at = &(*at)->same_hash;
  if (*at) {
    *at = link->same_hash;
    g_state->hash_count--;
  }
  if (link->back_here) {
    *link->back_here = link->next_here;
    if (link->next_here) link->next_here->back_here = link->back_here;
  }
  count_pointer(set_of(*link), -1);
  g_state->other.drop(link);
}

// Its stack will be another's. REQUIRES: registry.
void forget_thread(Thread& thread) {
  while (PooledLink* link = thread.on_stack) {
    auto* region = static_cast<Region*>(link->region);
    const OwnerGuard list(link->kind & kUnbounded ? g_state->unbounded_lock : region->lock);
    take_out(link);
    if (link->kind & kUnbounded) g_state->unbounded_count--;
    drop_pooled(link);
  }
  *thread.back = thread.next;
  if (thread.next) thread.next->back = thread.back;
}

void on_thread_end(void*) {
  Thread& thread = t_thread;
  const OwnerGuard guard(g_state->registry);
  forget_thread(thread);
  if (thread.set) __atomic_fetch_sub(&g_state->sets[thread.set].threads, 1u, __ATOMIC_RELAXED);
  thread = {};
}

Thread& known_thread() {
  Thread& thread = t_thread;
  if (thread.is_known) return thread;
  thread.is_known = true;
  pthread_once(&g_key_once, [] { pthread_key_create(&g_key, on_thread_end); });
  pthread_setspecific(g_key, &thread);
  {
    const OwnerGuard guard(g_state->registry);
    thread.next = g_state->threads;
    thread.back = &g_state->threads;
    if (thread.next) thread.next->back = &thread.next;
    g_state->threads = &thread;
  }
  if (getpid() == gettid()) return thread;  // the main thread's stack stays
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes)) return thread;
  void* stack;
  size_t size;
  pthread_attr_getstack(&attributes, &stack, &size);
  pthread_attr_destroy(&attributes);
  thread.stack = reinterpret_cast<uint64_t>(stack);
  thread.stack_end = thread.stack + size;
  return thread;
}

void remember_on_stack(PooledLink* link, Thread& thread) {
  const auto at = reinterpret_cast<uint64_t>(link->location());
  if (at < thread.stack || at >= thread.stack_end) return;
  link->next_here = thread.on_stack;
  link->back_here = &thread.on_stack;
  if (link->next_here) link->next_here->back_here = &link->next_here;
  thread.on_stack = link;
}

// The region that an unbounded pointer refers to now, or NULL.
Region* referred_by(Link* link) {
  void* value;
  const Place place = read_pointer(location_of(link), &value)
                          ? place_of(reinterpret_cast<uint64_t>(value))
                          : Place{};
  return place.inside ? find_referred(place.offset) : nullptr;
}

bool refers(const Region& region, Link* link) {
  void* value;
  if (!read_pointer(location_of(link), &value)) return false;
  const Place place = place_of(reinterpret_cast<uint64_t>(value));
  if (!place.inside || !region.refers(place.offset)) return false;
  return !(link->kind & kUnbounded) || region.holds(place.offset) ||
         !find_offset(place.offset);  // where another begins, it is that one's
}

}  // namespace

void move_pointer_slowly(Region& region, Link* link, void* value, unsigned window) {
  void** location = location_of(link);
  const auto address = reinterpret_cast<uint64_t>(value);
  const Place place = place_of(address);
  uint64_t offset = place.offset;
  if (!place.inside) {
    if (!region.home || address - region.home > region.size) return;
    offset = region.start + (address - region.home);
  } else if (!region.refers(offset)) {
    return;
  }
  // Where another begins it is that one's. (A look without the registry's lock, which may not be
  // taken here: regions that are allocated never begin there.)
  if (link->kind & kUnbounded && !region.holds(offset) && look(offset)) return;
  void* moved = reinterpret_cast<void*>(address_in(set_of(*link), window, offset));
  if (moved != value) exchange_pointer(location, value, moved, true);
}

bool is_referred(const Region& region) {
  for (const Level* level = &region.common; level; level = level->next) {
    for (Link* link = level->pointers; link; link = link->next) {
      if (refers(region, link)) return true;
    }
  }
  const OwnerGuard guard(g_state->unbounded_lock);
  for (Link* link = g_state->unbounded; link; link = link->next) {
    if (refers(region, link)) return true;
  }
  return false;
}

void drop_pointers(Region& region) {
  for (Level* level = &region.common; level; level = level->next) {
    while (Link* link = level->pointers) {
      take_out(link);
      link->region = nullptr;
      if (link->kind & kPooled) {
        drop_pooled(static_cast<PooledLink*>(link));
      } else {
        count_pointer(set_of(*link), -1);
        link->kind = 0;
      }
    }
  }
}

int register_pointer(void* pointer, Region* region) {
  if (!pointer) return EINVAL;
  void** location = canonical(pointer);
  if (find_link(location)) return EEXIST;
  Thread& thread = known_thread();
  const int set = thread.current;
  PooledLink* link = grow_hash() ? g_state->other.make<PooledLink>() : nullptr;
  if (!link || (region && !level_for(*region, set))) {
    g_state->other.drop(link);
    return ENOMEM;
  }
  link->value = location;
  link->region = region;
  link->kind = kPooled | static_cast<uint64_t>(set) << kSetShift |
               (region ? uint64_t{0} : uint64_t{kUnbounded});
  PooledLink*& first = g_state->hash[hash_of(location)];
  link->same_hash = first;
  first = link;
  g_state->hash_count++;
  count_pointer(set, 1);
  remember_on_stack(link, thread);
  if (region) {
    const OwnerGuard guard(region->lock);
    push(&level_of(*region, set)->pointers, link);
    move_pointer(*region, link, effective(*region, level_of(*region, set)));
    return 0;
  }
  Region* now = referred_by(link);
  const auto list = [&] {
    const OwnerGuard guard(g_state->unbounded_lock);
    push(&g_state->unbounded, link);
    __atomic_fetch_add(&g_state->unbounded_count, uint64_t{1}, __ATOMIC_RELAXED);
    if (now) move_pointer(*now, link, effective(*now, level_of(*now, set)));
  };
  if (!now) {
    list();
    return 0;
  }
  const OwnerGuard guard(now->lock);
  list();
  return 0;
}

bool is_registered(void* pointer) { return pointer && find_link(canonical(pointer)); }

void forget_other_threads() {
  Thread* next;
  for (Thread* thread = g_state->threads; thread; thread = next) {
    next = thread->next;
    if (thread == &t_thread) continue;
    forget_thread(*thread);
    if (thread->stack == thread->stack_end) continue;
    // Pointers with their bookkeeping, whose memory will be written over.
    const auto forget = [&](Link*& first) {
      for (Link *link = first, *behind; link; link = behind) {
        behind = link->next;
        if (reinterpret_cast<uint64_t>(link) - thread->stack >= thread->stack_end - thread->stack)
          continue;
        take_out(link);
        count_pointer(set_of(*link), -1);
      }
    };
    visit_regions([&](Region& region) {
      for (Level* level = &region.common; level; level = level->next) forget(level->pointers);
    });
  }
}

}  // namespace weir::region

using namespace weir::region;

int weir_region_ptr(void* pointer) {
  if (const int error = started()) return error;
  const OwnerGuard guard(g_state->registry);
  return guard.taken() ? register_pointer(pointer, nullptr) : EDEADLK;
}

namespace {

// What is done with a registered pointer. REQUIRES, of `act`: the registry's lock, which is held.
template <typename Act>
int with_registered(void* pointer, Act act) {
  if (const int error = started()) return error;
  if (!pointer) return EINVAL;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  PooledLink* link = find_link(canonical(pointer));
  return link ? act(link, static_cast<Region*>(link->region)) : ENOENT;
}

}  // namespace

int weir_region_bptr(void* pointer, void* other) {
  if (!other) return EINVAL;
  return with_registered(pointer, [&](PooledLink* link, Region* region) {
    if (!region) region = referred_by(link);
    return region ? register_pointer(other, region) : ENOENT;
  });
}

int weir_region_ptr_free(void* pointer) {
  return with_registered(pointer, [](PooledLink* link, Region* region) {
    {
      const OwnerGuard list(region ? region->lock : g_state->unbounded_lock);
      take_out(link);
      if (!region) __atomic_fetch_sub(&g_state->unbounded_count, uint64_t{1}, __ATOMIC_RELAXED);
    }
    drop_pooled(link);
    return 0;
  });
}

int weir_region_ptr_set(void* pointer, int set) {
  return with_registered(pointer, [&](PooledLink* link, Region* bound) {
    if (set < 0 || set >= kMaxSets || !g_state->sets[set].exists) return EINVAL;
    if (bound && !level_for(*bound, set)) return ENOMEM;
    const int before = set_of(*link);
    const auto change = [&] {
      link->kind = (link->kind & ((1u << kSetShift) - 1)) | static_cast<uint64_t>(set) << kSetShift;
    };
    if (Region* region = bound ? bound : referred_by(link)) {
      const OwnerGuard list(region->lock);
      if (bound) take_out(link);
      change();
      if (bound) push(&level_of(*bound, set)->pointers, link);
      move_pointer(*region, link, effective(*region, level_of(*region, set)));
    } else {
      change();
    }
    count_pointer(before, -1);
    count_pointer(set, 1);
    return 0;
  });
}

int weir_region_set_use(int set) {
  const int error = started();
  if (error || set < 0 || set >= kMaxSets || !g_state->sets[set].exists) {
    errno = error ? error : EINVAL;
    return -1;
  }
  Thread& thread = known_thread();
  const int before = thread.current;
  thread.current = set;
  if (thread.depth) return before;  // in a region's handler, until it returns
  if (set) __atomic_fetch_add(&g_state->sets[set].threads, 1u, __ATOMIC_RELAXED);
  if (before) __atomic_fetch_sub(&g_state->sets[before].threads, 1u, __ATOMIC_RELAXED);
  thread.set = set;
  return before;
}

// --- pointers with their bookkeeping

void weir_region_link_drop(weir_region_link* link) {
  if (!g_started) {
    memset(link, 0, sizeof *link);
    return;
  }
  auto* at = reinterpret_cast<Link*>(stable_of(reinterpret_cast<uint64_t>(link)));
  bool is_of_dying = false;
  if (auto* region = static_cast<Region*>(at->region)) {
    const OwnerGuard guard(region->lock);
    if (at->region == region) {
      take_out(at);
      count_pointer(set_of(*at), -1);
      is_of_dying = region->is_dying;
    }
  }
  memset(at, 0, sizeof *at);
  if (is_of_dying) free_dying();
}

void weir_region_link_set(weir_region_link* link, void* value, const weir_region_link* origin) {
  if (started()) {
    link->value = value;
    return;
  }
  known_thread();  // so that a forked child knows this thread's stack
  auto* at = reinterpret_cast<Link*>(stable_of(reinterpret_cast<uint64_t>(link)));
  const auto* from = reinterpret_cast<const Link*>(stable_of(reinterpret_cast<uint64_t>(origin)));
  uint64_t offset = 0;
  const auto address = reinterpret_cast<uint64_t>(value);
  const Place place = place_of(address);
  Region* region = nullptr;
  if (place.inside) {
    offset = place.offset;
    region = from ? static_cast<Region*>(from->region) : nullptr;
    if (!region || !region->refers(offset)) region = find_referred(offset);
  } else if (value && g_state->chunk_count) {
    region = find(address, &offset);
    if (region && region->is_paged) region = nullptr;
  }
  const int set = from && from->region        ? set_of(*from)
                  : place.inside && place.set ? place.set
                                              : current_set();
  auto* before = static_cast<Region*>(at->region);
  if (before && before == region && set_of(*at) == set) {
    const OwnerGuard guard(region->lock);
    at->value = reinterpret_cast<void*>(
        address_in(set, effective(*region, level_of(*region, set)), offset));
    return;
  }
  if (before) weir_region_link_drop(at);
  if (region && set && !level_of(*region, set)) {
    const OwnerGuard guard(g_state->registry);
    if (!level_for(*region, set)) region = nullptr;
  }
  if (!region) {
    at->value = value;
    return;
  }
  const OwnerGuard guard(region->lock);
  Level* level = level_of(*region, set);
  at->region = region;
  at->kind = static_cast<uint64_t>(set) << kSetShift;
  at->value = reinterpret_cast<void*>(address_in(set, effective(*region, level), offset));
  push(&level->pointers, at);
  count_pointer(set, 1);
}
