#include "code/patch/site_table.h"

#include "sys/memory.h"

// Three tables. Sites lie in one reserved range of addresses, so they never move and an index is
// enough for a stub. The traps are an open-addressed hash of site indices, rebuilt at twice the
// size when half full. Stub areas are a list ordered by address; within one, sites ascend with
// their stubs, so a place is found by two binary searches.

namespace weir {
namespace {

constexpr uint32_t kMaxSites = 1u << 21;
constexpr uint32_t kMaxAreas = 1u << 14;

struct Area {
  Range range;
  uint32_t first = 0;
  uint32_t limit = 0;
};

Site* g_sites = nullptr;
uint32_t g_site_count = 0;

Area* g_areas = nullptr;
uint32_t g_area_count = 0;

uint32_t* g_traps = nullptr;  // site index + 1; 0 is free
uint32_t g_trap_capacity = 0;
uint32_t g_trap_count = 0;

template <typename T>
bool reserve(T*& table, uint64_t count) {
  if (table != nullptr) return true;
  long address = sys::map_anonymous(page_up(count * sizeof(T)));
  if (sys::failed(address)) return false;
  table = reinterpret_cast<T*>(address);
  return true;
}

constexpr uint32_t kMaxLate = 512;
Site g_late[kMaxLate];
uint32_t g_late_count = 0;

uint32_t hash_of(uint64_t address) {
  return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15u) >> 32);
}

void place_trap(uint32_t* traps, uint32_t capacity, uint32_t index) {
  uint32_t slot = hash_of(g_sites[index].address) & (capacity - 1);
  while (traps[slot] != 0) slot = (slot + 1) & (capacity - 1);
  traps[slot] = index + 1;
}

bool add_trap(uint32_t index) {
  if (2 * (g_trap_count + 1) > g_trap_capacity) {
    uint32_t capacity = g_trap_capacity == 0 ? 1024 : 2 * g_trap_capacity;
    uint32_t* traps = nullptr;
    if (!reserve(traps, capacity)) return false;
    for (uint32_t i = 0; i < g_trap_capacity; i++) {
      if (g_traps[i] != 0) place_trap(traps, capacity, g_traps[i] - 1);
    }
    if (g_traps != nullptr)
      sys::unmap(reinterpret_cast<uint64_t>(g_traps), page_up(g_trap_capacity * sizeof(uint32_t)));
    g_traps = traps;
    g_trap_capacity = capacity;
  }
  place_trap(g_traps, g_trap_capacity, index);
  g_trap_count++;
  return true;
}

const Area* area_of(uint64_t rip) {
  uint32_t low = 0, high = g_area_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (g_areas[middle].range.limit <= rip) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < g_area_count && g_areas[low].range.contains(rip) ? &g_areas[low] : nullptr;
}

const Site* stub_site(const Area& area, uint64_t rip) {
  uint32_t low = area.first, high = area.limit;  // the last site whose stub starts at or before rip
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (g_sites[middle].stub <= rip) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > area.first ? &g_sites[low - 1] : nullptr;
}

}  // namespace

const Site* site_at(uint32_t index) {
  if (index >= kLateSites)
    return index - kLateSites < g_late_count ? &g_late[index - kLateSites] : nullptr;
  return index < g_site_count ? &g_sites[index] : nullptr;
}

uint32_t index_of(const Site* site) {
  return site->is_late ? kLateSites + static_cast<uint32_t>(site - g_late)
                       : static_cast<uint32_t>(site - g_sites);
}

bool add_late_site(const Site& site) {
  if (g_late_count == kMaxLate) return false;
  g_late[g_late_count++] = site;
  return true;
}

uint32_t late_site_count() { return g_late_count; }

void forget_late_sites() { g_late_count = 0; }

uint32_t site_count() { return g_site_count; }

void expect_sites(uint32_t count) {
  if (!reserve(g_sites, kMaxSites) || count > kMaxSites - g_site_count) return;
  const auto start = page_up(reinterpret_cast<uint64_t>(g_sites + g_site_count));
  const auto limit = reinterpret_cast<uint64_t>(g_sites + g_site_count + count);
  if (limit > start) sys::expect_writes(start, limit - start);
}

int64_t add_site(const Site& site) {
  if (!reserve(g_sites, kMaxSites) || g_site_count == kMaxSites) return -1;
  g_sites[g_site_count] = site;
  if (site.is_trap && !add_trap(g_site_count)) return -1;
  return g_site_count++;
}

bool add_stub_area(Range area, uint32_t first, uint32_t limit) {
  if (!reserve(g_areas, kMaxAreas) || g_area_count == kMaxAreas) return false;
  uint32_t at = g_area_count++;
  for (; at > 0 && g_areas[at - 1].range.start > area.start; at--) g_areas[at] = g_areas[at - 1];
  g_areas[at] = Area{area, first, limit};
  return true;
}

const Site* find_trap_site(uint64_t rip) {
  for (uint32_t i = 0; i < g_late_count; i++) {
    if (g_late[i].address == rip) return &g_late[i];
  }
  if (g_trap_capacity == 0) return nullptr;
  uint32_t mask = g_trap_capacity - 1;
  for (uint32_t slot = hash_of(rip) & mask; g_traps[slot] != 0; slot = (slot + 1) & mask) {
    const Site& site = g_sites[g_traps[slot] - 1];
    if (site.address == rip) return &site;
  }
  return nullptr;
}

bool find_stub_place(uint64_t rip, StubPlace& place) {
  const Area* area = area_of(rip);
  const Site* site = area == nullptr ? nullptr : stub_site(*area, rip);
  if (site == nullptr || rip - site->stub >= site->stub_size) return false;
  auto offset = static_cast<uint8_t>(rip - site->stub);
  place.site = site;
  place.on_runtime_stack = offset >= site->enter_at + 18 && offset < site->enter_at + 29;
  place.program_address = site->address;
  uint8_t native_end = site->native_at != 0 ? site->native_at + 2 : site->enter_at + 29;
  if (offset >= native_end)
    place.program_address = site->window + site->window_size;  // the jump back
  for (unsigned i = 0; i < site->displaced_count; i++) {
    if (offset == site->displaced_stub[i])
      place.program_address = site->window + site->displaced_window[i];
  }
  return true;
}

}  // namespace weir
