// The small allocations of one node: slots in blocks of its own, which node 0 has given it. No
// message is needed for a slot, and no other node's allocations lie in the same page.
// Implemented in dsm/core/heap.cc.
//
// Invariant: a slot that another node has freed (begin_free) is handed out again only after
// end_free, once this node knows all that was written to it; else an old write would come later
// than a new one. (not checkable: the heap is told by its caller)
//
// Guarded by: Node::mutex.
#pragma once

#include <stdint.h>

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dsm/base/message.h"

namespace weir::dsm {

struct Block;

class Heap {
 public:
  static constexpr uint64_t kSmall = 2048;  // allocations below are its
  static constexpr uint64_t kBlock = 64 << 10;
  static constexpr uint64_t kAlignment = 64;
  static constexpr size_t kSpare = 64;  // empty blocks of a kind that it keeps

  struct Slot {
    uint64_t offset = 0;   // in the segment; 0: there is none, add() a block
    bool is_used = false;  // it was a slot before, so it may hold something
  };
  Slot take(const Block& attributes, uint64_t size);
  void add(const Block& attributes, uint64_t block);

  // `at`: in the block. False: no slot begins there, or it is free.
  bool free(uint64_t block, uint64_t at);
  bool begin_free(uint64_t block, uint64_t at);
  void end_free(uint64_t block, uint64_t at);
  // A block that is empty and is one too many, which is no longer the heap's; 0: none.
  uint64_t take_spare();

  // A checkpoint's: which slots are in use.
  void put(Message& message) const;
  struct Saved {
    uint64_t block = 0;
    std::vector<uint8_t> slots;
  };
  static std::vector<Saved> get(Message& message);
  void restore(const Block& attributes, const Saved& saved);

 private:
  static constexpr size_t kGranules = kBlock / kAlignment;
  static constexpr uint8_t kFreed = 0x80;  // begin_free
  struct Chunk {
    uint64_t offset = 0;
    size_t pool = 0;
    uint32_t used = 0, live = 0;  // granules handed out from the beginning; slots in use
    uint32_t generation = 0;      // how often it has become empty
    bool is_clean = true;         // behind `used` it is zero
    // Of each slot in use, at its first granule: its granules.
    std::array<uint8_t, kGranules> slots{};
  };
  struct Free {
    Chunk* chunk;
    uint32_t at, generation;
  };
  struct Pool {  // of blocks with the same attributes
    std::vector<uint8_t> attributes;
    Chunk* current = nullptr;
    std::vector<Chunk*> empty;
    // By granules. The chunk of an entry may have become empty since.
    std::array<std::vector<Free>, kSmall / kAlignment + 1> free;
  };

  Pool& pool_of(const Block& attributes);
  Chunk* find(uint64_t block, uint64_t at);
  Chunk& make(const Block& attributes, uint64_t block);
  void release(Chunk& chunk, uint32_t at);

  std::vector<Pool> pools_;
  std::unordered_map<uint64_t, std::unique_ptr<Chunk>> chunks_;  // by offset
};

}  // namespace weir::dsm
