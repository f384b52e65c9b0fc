#include "code/translate/cache.h"

#include <sys/mman.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "code/translate/code_x86_64.h"
#include "sys/memory.h"

// Every processor sees what another has written before: the writer has passed the turn on since, by
// a store and perhaps a wake, and the reader has executed a serializing instruction before its
// first jump into what it has not seen yet (run.cc compares `generation`). Nobody executes in the
// cache while it is written.

namespace weir::translate {
namespace {

uint64_t* targets() { return reinterpret_cast<uint64_t*>(kCountTargets); }

// One place may have a cut block for each of its steps.
uint32_t bucket_of(uint64_t original, unsigned cut) {
  return static_cast<uint32_t>(mix(original ^ uint64_t{cut} << 48) >> 48);
}

}  // namespace

bool open_cache(uint64_t entry) {
  if (sys::protect(kCountCode, kCountCodeSize, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return false;
  *reinterpret_cast<uint64_t*>(kCountCode + kEntrySlot) = entry;
  write_thunks();
  cache().ready = 1;
  return true;
}

void flush_cache() {
  Cache& c = cache();
  c.used = kFirstBlock;
  c.block_count = 1;
  c.generation++;
  if (c.flushes++ == 0) {
    sys::expect_writes(kCountTargets, kCountTargetsSize);
    sys::expect_writes(kCountBlocks, sizeof c.heads);
  } else {
    zero_bytes(c.heads, sizeof c.heads);
  }
  for (size_t i = 0; i < kCountTargetsSize / sizeof(uint64_t); i++)
    targets()[i] = kCountCode + kNoBlock;
}

const Block* find_cut_block(uint64_t original, unsigned cut) {
  const Cache& c = cache();
  for (uint32_t i = c.heads[bucket_of(original, cut)]; i != 0; i = c.blocks[i].next) {
    if (c.blocks[i].original == original && c.blocks[i].cut == cut) return &c.blocks[i];
  }
  return nullptr;
}

const Block* find_block(uint64_t original) { return find_cut_block(original, 0); }

const Block* block_at_code(uint64_t address) {
  const Cache& c = cache();
  uint32_t low = 1, high = c.block_count;  // the last one that begins at or before the address
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (address_of(c.blocks[middle]) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const Block& block = c.blocks[low - 1];
  return low > 1 && address < address_of(block) + block.size ? &block : nullptr;
}

bool has_room() {
  const Cache& c = cache();
  return c.used + 2 * kMaxBlockSize <= kCountCodeSize && c.block_count < kMaxBlocks;
}

Block& add_block(const Block& made) {
  Cache& c = cache();
  const uint32_t number = c.block_count++;
  Block& block = c.blocks[number];
  uint32_t& head = c.heads[bucket_of(made.original, made.cut)];
  block = made;
  block.next = head;
  head = number;
  c.used = made.code + made.size;
  c.generation++;
  return block;
}

void link_exit(const Exit& exit, const Block& block) {
  if (exit.refund != 0) {
    write_joint(exit, block);
  } else {
    const uint32_t distance = block.code - (exit.link + 4);
    copy_bytes(reinterpret_cast<void*>(kCountCode + exit.link), &distance, sizeof distance);
  }
  cache().generation++;
}

void set_target(const Block& block) { targets()[block.original & 0xffff] = address_of(block); }

}  // namespace weir::translate
