// Regions on pages of their own (Itzkovitz and Schuster's MultiView): the same bytes of the file,
// mapped once more, at pages that nothing else lies in. Small regions share pages of the file,
// never of address space. Each is a mapping of its own for the kernel, which allows a process some
// 65,000.

#include <errno.h>

#include "region/registry.h"
#include "region/space.h"
#include "region/state.h"
#include "sys/memory.h"

namespace weir::region {

namespace {

struct FreePages {
  FreePages* next;
  uint64_t at;
};
constexpr unsigned kCounts = 64;

// Guarded by: registry. Of address space; runs of 1 to 63 pages are used again.
struct Paged {
  uint64_t top;
  FreePages* free[kCounts];
};
Paged* g_paged;

uint64_t pages_of(const Region& region) {
  return (page_up(region.start + region.size) - page_down(region.start)) / kPage;
}

bool prepare() {
  State& state = *g_state;
  if (state.paged_base && g_paged) return true;
  if (!g_paged) g_paged = state.other.make<Paged>();
  const long directory =
      sys::raw(SYS_mmap, 0, static_cast<long>(paged_space() / kPage * sizeof(Region*)),
               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const long base = sys::raw(SYS_mmap, 0, static_cast<long>(paged_space()), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!g_paged || directory < 0 || base < 0) return false;
  state.paged_directory = reinterpret_cast<Region**>(directory);
  __atomic_store_n(&state.paged_base, static_cast<uint64_t>(base), __ATOMIC_RELEASE);
  return true;
}

uint64_t take_address(uint64_t pages) {
  if (pages < kCounts && g_paged->free[pages]) {
    FreePages* again = g_paged->free[pages];
    g_paged->free[pages] = again->next;
    const uint64_t at = again->at;
    g_state->other.drop(again);
    return at;
  }
  if (pages * kPage > paged_space() - g_paged->top) return 0;
  const uint64_t at = g_state->paged_base + g_paged->top;
  g_paged->top += pages * kPage;
  return at;
}

void give_address(uint64_t at, uint64_t pages) {
  FreePages* freed = pages < kCounts ? g_state->other.make<FreePages>() : nullptr;
  if (!freed) return;  // lost
  *freed = {g_paged->free[pages], at};
  g_paged->free[pages] = freed;
}

int alloc(size_t size, weir_region_handler_fn handler, void** result) {
  if (const int error = started()) return error;
  if (const int error = check_size(size)) return error;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  if (!prepare()) return ENOMEM;
  uint8_t block;
  const uint64_t start = take_space(size, size < 64 ? 16 : 64, &block);
  if (!start) return ENOMEM;
  Region* region = make_region(start, size, handler);
  const uint64_t pages = region ? pages_of(*region) : 0;
  const uint64_t at = region ? take_address(pages) : 0;
  if (at && map_again(at, page_down(start), pages * kPage, kWrite) == 0) {
    region->block = block;
    region->paged = at + start % kPage;
    region->is_paged = true;
    for (uint64_t i = 0; i < pages; i++)
      __atomic_store_n(&g_state->paged_directory[(at - g_state->paged_base) / kPage + i], region,
                       __ATOMIC_RELEASE);
    *result = reinterpret_cast<void*>(region->paged);
    return 0;
  }
  if (at) give_address(at, pages);
  if (region) drop_region(region);
  give_space(start, block);
  return ENOMEM;
}

}  // namespace

bool find_paged(uint64_t address, uint64_t* offset, Region** region) {
  const uint64_t base = __atomic_load_n(&g_state->paged_base, __ATOMIC_ACQUIRE);
  if (!base || address - base >= paged_space()) return false;
  Region* found =
      __atomic_load_n(&g_state->paged_directory[(address - base) / kPage], __ATOMIC_ACQUIRE);
  if (!found || !found->size) return false;
  *offset = found->start + (address - found->paged);
  *region = found;
  return true;
}

int protect_pages(const Region& region, unsigned window) {
  return sys::protect(page_down(region.paged), pages_of(region) * kPage, protection_of(window))
             ? ENOMEM
             : 0;
}

void release_pages(const Region& region) {
  const uint64_t pages = pages_of(region), at = page_down(region.paged);
  for (uint64_t i = 0; i < pages; i++)
    __atomic_store_n(&g_state->paged_directory[(at - g_state->paged_base) / kPage + i], nullptr,
                     __ATOMIC_RELEASE);
  sys::raw(SYS_mmap, static_cast<long>(at), static_cast<long>(pages * kPage), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  give_address(at, pages);
}

}  // namespace weir::region

void* weir_region_alloc_paged(size_t size, weir_region_handler_fn handler) {
  void* result = nullptr;
  const int error = weir::region::alloc(size, handler, &result);
  if (error) errno = error;
  return result;
}
