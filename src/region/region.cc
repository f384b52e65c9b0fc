// Regions come and go.

#include "weir/region.h"

#include <errno.h>
#include <string.h>

#include "region/registry.h"
#include "region/space.h"
#include "region/state.h"

namespace weir::region {

Region* make_region(uint64_t start, uint64_t size, weir_region_handler_fn handler) {
  Region* region = g_state->regions.make<Region>();
  if (!region) return nullptr;
  region->start = start;
  region->size = size;
  region->handler = handler;
  region->common.word = kWrite;
  if (!enter(region)) {
    region->size = 0;
    g_state->regions.drop(region);
    return nullptr;
  }
  return region;
}

void drop_region(Region* region) {
  forget_changes(*region);
  if (region->is_dying) {
    Region** at = &g_state->dying;
    while (*at != region) at = &(*at)->next_dying;
    *at = region->next_dying;
  }
  leave(region);
  {
    const OwnerGuard guard(region->lock);
    drop_pointers(*region);
  }
  while (Level* level = region->common.next) {
    region->common.next = level->next;
    g_state->other.drop(level);
  }
  __atomic_store_n(&region->size, uint64_t{0}, __ATOMIC_RELEASE);  // for who looks without a lock
  g_state->regions.drop(region);
}

namespace {

bool is_referred_now(Region& region) {
  const OwnerGuard list(region.lock);
  return is_referred(region);
}

void free_unreferred(Region* region) {
  const Region before = *region;
  if (before.is_paged) release_pages(before);
  drop_region(region);
  if (before.home) {
    release_home(before);
  } else {
    give_space(before.start, before.block);
  }
}

}  // namespace

void free_dying() {
  if (!__atomic_load_n(&g_state->dying, __ATOMIC_RELAXED)) return;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return;
  for (Region *region = g_state->dying, *next; region; region = next) {
    next = region->next_dying;
    if (!is_referred_now(*region)) free_unreferred(region);
  }
}

namespace {

int alloc(size_t alignment, size_t size, void* pointer, weir_region_handler_fn handler,
          void** result) {
  if (const int error = started()) return error;
  if (const int error = check_size(size)) return error;
  if (!alignment || alignment & (alignment - 1) || alignment > kPage) return EINVAL;
  free_dying();
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  if (is_registered(pointer)) return EEXIST;
  const uint64_t least = size < 64 ? 16 : 64;
  uint8_t block;
  const uint64_t start = take_space(size, alignment > least ? alignment : least, &block);
  if (!start) return ENOMEM;
  Region* region = make_region(start, size, handler);
  if (!region) {
    give_space(start, block);
    return ENOMEM;
  }
  region->block = block;
  const int set = current_set();
  *result = reinterpret_cast<void*>(address_in(set, kWrite, start));
  if (!pointer) return 0;
  void** location = reinterpret_cast<void**>(open_of(reinterpret_cast<uint64_t>(pointer)));
  *location = *result;
  const int error = register_pointer(pointer, region);
  if (!error) return 0;
  drop_region(region);
  give_space(start, block);
  return error;
}

void* answer(int error, void* result) {
  if (!error) return result;
  errno = error;
  return nullptr;
}

}  // namespace
}  // namespace weir::region

using namespace weir::region;

void* weir_region_alloc(size_t size, void* pointer, weir_region_handler_fn handler) {
  void* result = nullptr;
  const int error = alloc(1, size, pointer, handler, &result);
  return answer(error, result);
}

void* weir_region_alloc_aligned(size_t alignment, size_t size, void* pointer,
                                weir_region_handler_fn handler) {
  void* result = nullptr;
  const int error = alloc(alignment, size, pointer, handler, &result);
  return answer(error, result);
}

int weir_region_free(void* address) {
  if (const int error = started()) return error;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  Region* region = find(reinterpret_cast<uint64_t>(address));
  if (!region) return ENOENT;
  if (is_referred_now(*region)) return EBUSY;
  free_unreferred(region);
  return 0;
}

int weir_region_free_later(void* address) {
  if (const int error = started()) return error;
  {
    const OwnerGuard guard(g_state->registry);
    if (!guard.taken()) return EDEADLK;
    Region* region = find(reinterpret_cast<uint64_t>(address));
    if (!region) return ENOENT;
    if (!region->is_dying) {
      region->is_dying = true;
      region->next_dying = g_state->dying;
      __atomic_store_n(&g_state->dying, region, __ATOMIC_RELAXED);  // by the lock: what it is
    }
  }
  free_dying();
  return 0;
}

int weir_region_handler(void* address, weir_region_handler_fn handler, void* context) {
  if (const int error = started()) return error;
  if (!address) {
    const OwnerGuard guard(g_state->registry);
    if (!guard.taken()) return EDEADLK;
    g_state->context = context;
    g_state->handler = handler;
    return 0;
  }
  Region* region = find(reinterpret_cast<uint64_t>(address));
  if (!region) return ENOENT;
  const OwnerGuard guard(region->lock);
  if (!guard.taken()) return EDEADLK;
  region->context = context;
  region->handler = handler;
  return 0;
}

int weir_region_bounds(const void* address, void** start, size_t* size) {
  if (const int error = started()) return error;
  uint64_t offset;
  const Region* region = find(reinterpret_cast<uint64_t>(address), &offset);
  if (!region) return ENOENT;
  if (start)
    *start =
        reinterpret_cast<void*>(reinterpret_cast<uint64_t>(address) - (offset - region->start));
  if (size) *size = region->size;
  return 0;
}

void* weir_region_open(const void* address) {
  if (started()) return const_cast<void*>(address);
  return reinterpret_cast<void*>(open_of(reinterpret_cast<uint64_t>(address)));
}
