// Slots are cut off a block from its beginning, of whatever size, so that what is allocated
// together lies together. A freed slot is taken for the next one of its size; a block without slots
// begins anew.
#include "dsm/node/heap.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "dsm/node/memory.h"

namespace weir::dsm {

Heap::Pool& Heap::pool_of(const Block& attributes) {
  Block key;
  key.kind = attributes.kind;
  key.protocol = attributes.protocol;
  key.home = attributes.home;
  key.home_node = attributes.home_node;
  key.unit_pages = attributes.unit_pages;
  for (Pool& pool : pools_) {
    if (!memcmp(pool.attributes.data(), &key, sizeof key)) return pool;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(&key);
  pools_.emplace_back().attributes.assign(bytes, bytes + sizeof key);
  return pools_.back();
}

Heap::Slot Heap::take(const Block& attributes, uint64_t size) {
  Pool& pool = pool_of(attributes);
  const auto granules =
      static_cast<uint32_t>((std::max<uint64_t>(size, 1) + kAlignment - 1) / kAlignment);
  auto& free = pool.free[granules];
  const auto slot = [&](Chunk& chunk, uint32_t at, bool is_used) {
    chunk.slots[at] = static_cast<uint8_t>(granules);
    chunk.live++;
    return Slot{chunk.offset + at * kAlignment, is_used};
  };
  while (!free.empty()) {
    const Free one = free.back();
    free.pop_back();
    if (one.chunk->generation == one.generation) return slot(*one.chunk, one.at, true);
  }
  if (!pool.current || pool.current->used + granules > kGranules) {
    if (pool.empty.empty()) return {};
    pool.current = pool.empty.back();
    pool.empty.pop_back();
  }
  Chunk& chunk = *pool.current;
  const uint32_t at = chunk.used;
  chunk.used += granules;
  return slot(chunk, at, !chunk.is_clean);
}

Heap::Chunk& Heap::make(const Block& attributes, uint64_t block) {
  Pool& pool = pool_of(attributes);
  auto chunk = std::make_unique<Chunk>();
  chunk->offset = block;
  chunk->pool = static_cast<size_t>(&pool - pools_.data());
  return *(chunks_[block] = std::move(chunk));
}

void Heap::add(const Block& attributes, uint64_t block) {
  Chunk& chunk = make(attributes, block);
  pools_[chunk.pool].empty.push_back(&chunk);
}

Heap::Chunk* Heap::find(uint64_t block, uint64_t at) {
  const auto found = chunks_.find(block);
  if (found == chunks_.end() || at % kAlignment || at >= kBlock) return nullptr;
  const uint8_t slot = found->second->slots[at / kAlignment];
  return slot == 0 || slot & kFreed ? nullptr : found->second.get();
}

bool Heap::free(uint64_t block, uint64_t at) {
  Chunk* const chunk = find(block, at);
  if (chunk) release(*chunk, static_cast<uint32_t>(at / kAlignment));
  return chunk;
}

bool Heap::begin_free(uint64_t block, uint64_t at) {
  Chunk* const chunk = find(block, at);
  if (chunk) chunk->slots[at / kAlignment] |= kFreed;
  return chunk;
}

void Heap::end_free(uint64_t block, uint64_t at) {
  release(*chunks_.at(block), static_cast<uint32_t>(at / kAlignment));
}

void Heap::release(Chunk& chunk, uint32_t at) {
  Pool& pool = pools_[chunk.pool];
  const size_t granules = std::exchange(chunk.slots[at], 0) & ~kFreed;
  if (--chunk.live > 0) {
    pool.free[granules].push_back({&chunk, at, chunk.generation});
    return;
  }
  chunk.generation++;
  chunk.used = 0;
  chunk.is_clean = false;
  if (pool.current != &chunk) pool.empty.push_back(&chunk);
}

uint64_t Heap::take_spare() {
  for (Pool& pool : pools_) {
    if (pool.empty.size() <= kSpare) continue;
    Chunk* const chunk = pool.empty.front();
    pool.empty.erase(pool.empty.begin());
    for (auto& free : pool.free)
      std::erase_if(free, [&](const Free& one) { return one.chunk == chunk; });
    const uint64_t offset = chunk->offset;
    chunks_.erase(offset);
    return offset;
  }
  return 0;
}

// --- Checkpoints

void Heap::put(Message& message) const {
  message.put(static_cast<uint32_t>(chunks_.size()));
  for (const auto& [offset, chunk] : chunks_) {
    std::vector<uint8_t> slots(chunk->slots.begin(), chunk->slots.end());
    for (uint8_t& slot : slots) slot = slot & kFreed ? 0 : slot;
    message.put(offset);
    message.put_list(slots);
  }
}

std::vector<Heap::Saved> Heap::get(Message& message) {
  std::vector<Saved> all;
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    Saved saved;
    saved.block = message.get<uint64_t>();
    saved.slots = message.get_list<uint8_t>();
    if (saved.slots.size() == kGranules) all.push_back(std::move(saved));
  }
  return all;
}

// What lies between the slots comes back when all are free.
void Heap::restore(const Block& attributes, const Saved& saved) {
  Chunk& chunk = make(attributes, saved.block);
  chunk.is_clean = false;
  std::copy(saved.slots.begin(), saved.slots.end(), chunk.slots.begin());
  for (const uint8_t slot : saved.slots) chunk.live += slot > 0;
  chunk.used = chunk.live > 0 ? kGranules : 0;
  if (chunk.live == 0) pools_[chunk.pool].empty.push_back(&chunk);
}

}  // namespace weir::dsm
