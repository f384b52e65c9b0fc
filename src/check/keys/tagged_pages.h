// Memory for objects that have pages of their own, if pages carry protection keys: whole pages, and
// a cache of freed pages, which keep their keys (the domain-tagged page cache of PUSh, section
// 3.5). To allocate from the cache, or to free into it, costs no system call. To allocate a page
// that has another key costs one.
//
// Guarded by: the caller. Pages keep their contents.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::page {

// Its range of addresses: the one that the arena's mappings have if tasks are processes.
inline Range tagged_area() { return {kArena + kHeapSize, kArena + kArenaSize}; }

// The system calls that it needs. Each returns 0 or -errno.
struct KeyBackend {
  long (*map)(uint64_t start, uint64_t size);  // for reading and writing, key 0
  void (*unmap)(uint64_t start, uint64_t size);
  long (*tag)(uint64_t start, uint64_t size, int protection, uint32_t key);
};

class TaggedPages {
 public:
  static constexpr uint32_t kKeys = 16;
  static constexpr uint64_t kMaxCached = 256;  // pages of a key
  static constexpr uint64_t kMaxInBlock = 32;
  static constexpr uint32_t kMaxProbes = 8;   // blocks of a key, for one whose place has that key
  static constexpr uint32_t kMaxFree = 8192;  // ranges of addresses that are free again

  constexpr TaggedPages() = default;
  void begin(Range area, const KeyBackend& backend) {
    area_ = area;
    bump_ = area.start;
    backend_ = backend;
  }

  // Returns pages for reading and writing with that key, or 0 if there is no room.
  uint64_t allocate(uint64_t pages, uint32_t key);
  // allocate() with a key that depends on the address. `key` is the key that was used; another call
  // of key_of may return another one by then.
  using KeyOf = uint32_t (*)(uint64_t start);
  uint64_t allocate_own(uint64_t pages, KeyOf key_of, uint32_t& key);
  // REQUIRES: all of it is for reading and writing, and has that key.
  void free(uint64_t start, uint64_t pages, uint32_t key);

  uint64_t cached(uint32_t key) const { return caches_[key].pages; }

 private:
  struct Block {
    uint64_t start, pages;
  };
  struct Cache {
    uint64_t pages = 0;
    uint32_t count = 0;
    Block blocks[kMaxCached] = {};
  };
  uint64_t take_cached(uint64_t pages, Cache& cache);
  Cache* fullest(uint64_t pages, uint32_t but);
  uint64_t take_own(uint64_t pages, KeyOf key_of, uint32_t& key);
  uint64_t take_new(uint64_t pages);
  uint64_t with_key(uint64_t start, uint64_t pages, uint32_t key);
  uint64_t take_addresses(uint64_t pages);
  void give_addresses(uint64_t start, uint64_t pages);
  void give_back(uint64_t start, uint64_t pages);

  Range area_{};
  uint64_t bump_ = 0;
  KeyBackend backend_{};
  uint32_t free_count_ = 0;
  Cache caches_[kKeys];
  Block free_[kMaxFree] = {};
};

}  // namespace weir::page
