// Levels: which window a region's pointers lie in, by set.
//
// The level is written first; then each pointer is moved to where the level puts it. That is done
// again if the level's word has changed meanwhile. So if a signal's handler on this thread changes
// the level in between, both leave pointers that fit the last level (state.h, invariant 4).

#include <errno.h>

#include "region/state.h"

namespace weir::region {

Level* level_of(Region& region, int set) {
  if (set == 0) return &region.common;
  Level* level = __atomic_load_n(&region.common.next, __ATOMIC_ACQUIRE);
  while (level && level->set != set) level = level->next;
  return level;
}

Level* level_for(Region& region, int set) {
  if (Level* level = level_of(region, set)) return level;
  Level* level = g_state->other.make<Level>();
  if (!level) return nullptr;
  level->set = static_cast<uint8_t>(set);
  level->word = kWrite;
  level->next = region.common.next;
  __atomic_store_n(&region.common.next, level, __ATOMIC_RELEASE);
  return level;
}

namespace {

inline void move_list(Region& region, Level& level) {
  uint32_t seen;
  do {
    seen = __atomic_load_n(&level.word, __ATOMIC_RELAXED);
    asm volatile("" ::: "memory");  // what follows is read anew each time
    const unsigned window = effective(region, &level);
    for (Link* link = level.pointers; link; link = link->next) move_pointer(region, link, window);
    asm volatile("" ::: "memory");
  } while (__builtin_expect(__atomic_load_n(&level.word, __ATOMIC_RELAXED) != seen, 0));
}

}  // namespace

int move_pointers(Region& region, int set) {
  if (region.is_paged) return protect_pages(region, effective(region, &region.common));
  for (Level* level = &region.common; level; level = level->next) {
    if (set < 0 || level->set == set) move_list(region, *level);
  }
  if (!__atomic_load_n(&g_state->unbounded_count, __ATOMIC_RELAXED)) return 0;
  const OwnerGuard guard(g_state->unbounded_lock);
  for (Link* link = g_state->unbounded; link; link = link->next) {
    if (set >= 0 && set_of(*link) != set) continue;
    const Level* level = level_of(region, set_of(*link));
    uint32_t seen;
    do {
      seen = level ? __atomic_load_n(&level->word, __ATOMIC_RELAXED) : 0;
      asm volatile("" ::: "memory");
      move_pointer(region, link, effective(region, level));
      asm volatile("" ::: "memory");
    } while (level && __builtin_expect(__atomic_load_n(&level->word, __ATOMIC_RELAXED) != seen, 0));
  }
  return 0;
}

namespace {

int make_level(Region& region, int set) {
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  return level_for(region, set) ? 0 : ENOMEM;
}

// The path that is to be short: what stands in other files here is inline.
inline int set_level(Region& region, int set, unsigned to) {
  Level* level = set == 0 ? &region.common : level_of(region, set);
  if (__builtin_expect(!level, 0)) {
    if (const int error = make_level(region, set)) return error;
    level = level_of(region, set);
  }
  const RegionGuard guard(region.lock);
  if (__builtin_expect(region.is_paged, 0)) {
    const int error = protect_pages(region, region.watched && to > kRead ? unsigned{kRead} : to);
    if (!error) level->set_level(to);
    return error;
  }
  level->set_level(to);
  if (__builtin_expect(__atomic_load_n(&g_state->unbounded_count, __ATOMIC_RELAXED) != 0, 0))
    return move_pointers(region, set);
  move_list(region, *level);
  return 0;
}

}  // namespace

}  // namespace weir::region

using namespace weir::region;

namespace {

inline int protect(int set, const void* address, int protection) {
  if (const int error = started()) return error;
  const int level = level_of_protection(protection);
  if (__builtin_expect(level < 0, 0)) return EINVAL;
  Region* region = find(reinterpret_cast<uint64_t>(address));
  if (__builtin_expect(!region, 0)) return ENOENT;
  return set_level(*region, region->is_paged ? 0 : set, static_cast<unsigned>(level));
}

}  // namespace

int weir_region_protect(const void* region, int level) {
  return protect(current_set(), region, level);
}

int weir_region_protect_many(void* const* regions, size_t count, int level) {
  const int set = current_set();
  for (size_t i = 0; i < count; i++) {
    if (const int error = protect(set, regions[i], level)) return error;
  }
  return 0;
}

int weir_region_level(const void* address) {
  Region* region = started() ? nullptr : find(reinterpret_cast<uint64_t>(address));
  if (!region) {
    errno = ENOENT;
    return -1;
  }
  const Level* level = level_of(*region, region->is_paged ? 0 : current_set());
  return protection_of(level ? level->level() : unsigned{kWrite});
}

// --- sets

int weir_region_set_protect(int set, const void* region, int level) {
  if (const int error = started()) return error;
  if (set < 0 || set >= kMaxSets || !g_state->sets[set].exists) return EINVAL;
  return protect(set, region, level);
}

int weir_region_set_new() {
  int error = started();
  if (!error) {
    const OwnerGuard guard(g_state->registry);
    if (!guard.taken()) error = EDEADLK;
    for (int set = 1; !error && set < kMaxSets; set++) {
      if (g_state->sets[set].exists) continue;
      error = map_set(set);
      if (error) break;
      g_state->sets[set] = {true, 0, 0};
      return set;
    }
    if (!error) error = EAGAIN;
  }
  errno = error;
  return -1;
}

int weir_region_set_free(int set) {
  if (const int error = started()) return error;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  if (set <= 0 || set >= kMaxSets || !g_state->sets[set].exists) return EINVAL;
  if (g_state->sets[set].threads || __atomic_load_n(&g_state->sets[set].pointers, __ATOMIC_RELAXED))
    return EBUSY;
  // Its levels stay where they are, for the next set of that number: open again.
  visit_regions([&](Region& region) {
    if (Level* level = level_of(region, set)) level->set_level(kWrite);
  });
  unmap_set(set);
  g_state->sets[set].exists = false;
  return 0;
}
