#include "code/sites/site_table.h"

#include "base/hash.h"
#include "sys/memory.h"

// Three tables. Sites lie in one reserved range of addresses, so they never move and an index is
// enough for a stub. The traps are an open-addressed hash of site indices, rebuilt at twice the
// size when half full. Stub areas are a list ordered by falling address, as libraries mostly come;
// within one, sites ascend with their stubs, so a place is found by two binary searches.
//
// Where tasks are threads one of them adds sites while handlers of the others look. So a table that
// has grown is another one, shown when it is complete; the one before stays for who is still in it.

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

struct Areas {
  uint64_t room, count;
  Area area[];
};
Areas* g_areas = nullptr;

struct Traps {
  uint64_t capacity;
  uint32_t site[];  // index + 1; 0 is free
};
Traps* g_traps = nullptr;
uint32_t g_trap_count = 0;

template <typename T>
bool reserve(T*& table, uint64_t count) {
  if (table != nullptr) return true;
  long address = sys::map_anonymous(page_up(count * sizeof(T)));
  if (sys::failed(address)) return false;
  table = reinterpret_cast<T*>(address);
  return true;
}

bool g_has_readers = false;

// A table that nobody finds any more.
void give_back(void* table, uint64_t size) {
  if (table != nullptr && !g_has_readers)
    sys::unmap(reinterpret_cast<uint64_t>(table), page_up(size));
}

constexpr uint32_t kMaxLate = 512;
Site g_late[kMaxLate];
uint32_t g_late_count = 0;

uint32_t hash_of(uint64_t address) { return static_cast<uint32_t>(mix(address) >> 32); }

template <typename T>
const T* shown(T* const& table) {
  return __atomic_load_n(&table, __ATOMIC_ACQUIRE);
}

void place_trap(Traps& traps, uint32_t index) {
  const uint64_t mask = traps.capacity - 1;
  uint64_t slot = hash_of(g_sites[index].address) & mask;
  while (traps.site[slot] != 0) slot = (slot + 1) & mask;
  __atomic_store_n(&traps.site[slot], index + 1, __ATOMIC_RELEASE);
}

bool add_trap(uint32_t index) {
  if (g_traps == nullptr || 2 * (g_trap_count + 1) > g_traps->capacity) {
    const uint64_t capacity = g_traps == nullptr ? 1024 : 2 * g_traps->capacity;
    char* memory = nullptr;
    if (!reserve(memory, sizeof(Traps) + capacity * sizeof(uint32_t))) return false;
    auto* traps = reinterpret_cast<Traps*>(memory);
    traps->capacity = capacity;
    for (uint64_t i = 0; g_traps != nullptr && i < g_traps->capacity; i++) {
      if (g_traps->site[i] != 0) place_trap(*traps, g_traps->site[i] - 1);
    }
    Traps* before = g_traps;
    __atomic_store_n(&g_traps, traps, __ATOMIC_RELEASE);
    give_back(before, before == nullptr ? 0 : sizeof(Traps) + before->capacity * sizeof(uint32_t));
  }
  place_trap(*g_traps, index);
  g_trap_count++;
  return true;
}

const Area* area_of(uint64_t rip) {
  const Areas* areas = shown(g_areas);
  if (areas == nullptr) return nullptr;
  uint64_t low = 0, high = __atomic_load_n(&areas->count, __ATOMIC_ACQUIRE);
  const uint64_t count = high;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (areas->area[middle].range.start > rip) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && areas->area[low].range.contains(rip) ? &areas->area[low] : nullptr;
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

void share_sites() { g_has_readers = true; }

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
  uint32_t at = 0;
  while (at < g_late_count && g_late[at].address != 0) at++;
  if (at == kMaxLate) return false;
  g_late[at] = site;
  if (at == g_late_count) g_late_count++;
  return true;
}

uint32_t late_site_count() { return g_late_count; }

void forget_late_site(uint32_t number) { g_late[number].address = g_late[number].window = 0; }

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
  const uint64_t count = g_areas == nullptr ? 0 : g_areas->count;
  if (count == kMaxAreas) return false;
  const Area made{area, first, limit};
  if (count != 0 && count < g_areas->room && g_areas->area[count - 1].range.start > area.start) {
    g_areas->area[count] = made;
    __atomic_store_n(&g_areas->count, count + 1, __ATOMIC_RELEASE);
    return true;
  }
  const uint64_t room = 2 * count + 64;
  char* memory = nullptr;
  if (!reserve(memory, sizeof(Areas) + room * sizeof(Area))) return false;
  auto* areas = reinterpret_cast<Areas*>(memory);
  areas->room = room;
  areas->count = count + 1;
  uint64_t at = 0;
  for (; at < count && g_areas->area[at].range.start > area.start; at++)
    areas->area[at] = g_areas->area[at];
  areas->area[at] = made;
  for (; at < count; at++) areas->area[at + 1] = g_areas->area[at];
  Areas* before = g_areas;
  __atomic_store_n(&g_areas, areas, __ATOMIC_RELEASE);
  give_back(before, before == nullptr ? 0 : sizeof(Areas) + before->room * sizeof(Area));
  return true;
}

void forget_sites(Range text) {
  for (uint32_t i = 0; i < g_site_count; i++) {
    if (text.contains(g_sites[i].window)) g_sites[i].window = g_sites[i].address = 0;
  }
}

const Site* find_trap_site(uint64_t rip) {
  for (uint32_t i = 0; i < g_late_count; i++) {
    if (g_late[i].address == rip) return &g_late[i];
  }
  const Traps* traps = shown(g_traps);
  if (traps == nullptr) return nullptr;
  const uint64_t mask = traps->capacity - 1;
  for (uint64_t slot = hash_of(rip) & mask;; slot = (slot + 1) & mask) {
    const uint32_t index = __atomic_load_n(&traps->site[slot], __ATOMIC_ACQUIRE);
    if (index == 0) return nullptr;
    if (g_sites[index - 1].address == rip) return &g_sites[index - 1];
  }
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
