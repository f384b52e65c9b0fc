// Which blocks are guarded. A program that allocates little has all its blocks guarded; one that
// allocates a million pays for some thousand of them. The choice follows from the site's own count
// and from how many guarded blocks are in use: from the program's path alone, so that the same
// schedule chooses the same.
#include "heap/guard/guard.h"

#include "base/hash.h"
#include "heap/guard/state.h"
#include "sys/memory.h"

namespace weir::guard {

constinit bool g_is_on = false;
constinit State g_state{};

namespace {

constexpr uint64_t kAllOf = 256;      // units of a site that are all guarded
constexpr uint64_t kMoreOf = 4096;    // up to here one in 16, then one in 256
constexpr uint64_t kUnit = 64 << 10;  // bytes: a larger block counts for several

// The table is never full: a site that finds no place shares the last one that was tried.
Site& site_of(uint64_t key) {
  constexpr uint32_t kTries = 16;
  Site* const sites = g_state.tables->sites;
  uint64_t at = mix(key) >> 32;
  for (uint32_t i = 0; i + 1 < kTries; i++, at++) {
    Site& site = sites[at % kSites];
    if (!site.key) site.key = key;
    if (site.key == key) return site;
  }
  return sites[at % kSites];
}

}  // namespace

bool begin(Range region) {
  const long tables = sys::map_anonymous(sizeof(Tables));
  if (sys::failed(tables)) return false;
  const long at = sys::map_anonymous(region.size(), PROT_NONE, region.start, MAP_FIXED);
  if (at != static_cast<long>(region.start)) return false;
  g_state.tables = reinterpret_cast<Tables*>(tables);
  g_state.region = region;
  g_state.next = region.start + kPageSize;
  g_is_on = true;
  return true;
}

bool is_in_region(uint64_t address) { return g_state.region.contains(address); }

const Counts& counts() { return g_state.counts; }

void count_unknown_free() { g_state.counts.unknown_freed++; }

bool choose(uint64_t where, size_t size) {
  uint64_t bucket = 0;
  while (bucket < 63 && size >> bucket) bucket++;
  Site& site = site_of(where << 6 | bucket);
  const uint64_t before = site.units;
  site.units += 1 + size / kUnit;
  if (g_state.live >= kMaxLive || g_state.count >= kMaxBlocks) return false;
  if (before < kAllOf) return true;
  return mix(before ^ mix(where)) >> (before < kMoreOf ? 60 : 56) == 0;
}

}  // namespace weir::guard
