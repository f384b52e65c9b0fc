// Freeing, and when the place of what was freed is used again.
//
// Messages of the time before may name the units of a freed block when another block lies there:
// notices and diffs that travel with locks and barriers, what tapes push, diffs on their way to a
// home. So a block that is made at a place that was used says for each node up to which interval
// its writes are of the past (born_); notices, diffs and copies are looked at by that. When a node
// drops a block, it says which interval it closed last: from the drop on, nothing of it gets into
// an interval. And a node says if it is still at one of the units: a fetch under way, or a unit of
// SC that changes hands. Then the place is not used again.
//
// A stale pointer is found as long as its place is not used again: a block's place waits until
// kQuarantine others have been freed after it, or an eighth of the segment. With diagnostics that
// name each allocation, and for a search for races, no place is used twice.
//
// A slot of another node's heap goes back to that node by a message with what this one knows. It
// is handed out again when its owner knows that too, by whichever synchronization. If much waits
// for that, the owner asks.
#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/protocol/hlrc.h"

namespace weir::dsm {

namespace {

constexpr size_t kQuarantine = 64;    // blocks
constexpr size_t kMostWaiting = 256;  // slots

constexpr const char* kNoAllocation =
    "weir_dsm_free of %p, where no allocation begins, or which was freed before";

}  // namespace

bool Memory::reuses() const {
  const Settings& settings = node_.settings;
  return !settings.check && settings.sharing.empty() && settings.record.empty();
}

void Memory::free(void* memory, Thread& thread, std::unique_lock<std::mutex>& held) {
  if (!segment.contains(memory)) fail("weir_dsm_free of %p, which is no shared memory", memory);
  const auto offset = static_cast<uint64_t>(static_cast<uint8_t*>(memory) - segment.program());
  const Block* const block = block_at(offset);
  uint64_t freed = offset;
  if (block && !block->freed && block->owner != kNoNode) {
    const uint64_t at = offset - block->offset;
    if (block->owner != node_.me()) {
      node_.close_interval();
      Message message(static_cast<uint8_t>(Kind::kFreeSmall));
      message.put(offset);
      message.put_list(node_.intervals.known());
      return node_.tell(block->owner, std::move(message));
    }
    if (!heap_.free(block->offset, at)) fail(kNoAllocation, memory);
    freed = heap_.take_spare();
    if (freed == 0) return;
  }
  const Span waits(node_, Doing::kMemory);
  Message request(static_cast<uint8_t>(Kind::kFree));
  request.put(freed);
  Message reply = node_.ask(0, std::move(request), thread, held);
  if (!reply.get<uint8_t>()) fail(kNoAllocation, memory);
}

void Memory::on_free_small(Message&& message) {
  const uint64_t offset = message.get<uint64_t>();
  VectorTime known = message.get_list<uint32_t>();
  const NodeId from = message.header.from;
  const Block* const block = message.bad() ? nullptr : block_at(offset);
  if (!block || block->freed || block->owner != node_.me() || known.size() != node_.nodes())
    fail("a damaged message of node %u that frees memory", from);
  if (!heap_.begin_free(block->offset, offset - block->offset)) {
    const void* const memory = segment.program() + offset;
    fail("node %u frees %p, where no allocation begins, or which was freed before", from, memory);
  }
  returned_.resize(node_.nodes());
  returned_[from].push_back({block->offset, offset - block->offset, std::move(known)});
}

// `must`: there is no slot, so it is worth asking a node what it knows.
void Memory::take_back(Thread& thread, std::unique_lock<std::mutex>& held, bool must) {
  const auto knows = [&](const VectorTime& time) {
    const VectorTime& ours = node_.intervals.known();
    for (NodeId node = 0; node < time.size(); node++) {
      if (ours[node] < time[node]) return false;
    }
    return true;
  };
  for (NodeId from = 0; from < returned_.size(); from++) {
    if (must && returned_[from].size() > kMostWaiting && !knows(returned_[from].back().known)) {
      Message request(static_cast<uint8_t>(Kind::kLearn), kGroupLock);
      request.put_list(node_.intervals.known());
      Message reply = node_.ask(from, std::move(request), thread, held);
      node_.incorporate(reply);
    }
    auto& slots = returned_[from];
    for (; !slots.empty() && knows(slots.front().known); slots.pop_front())
      heap_.end_free(slots.front().block, slots.front().at);
  }
}

void Memory::on_free(Message&& request) {
  Message answer(static_cast<uint8_t>(Kind::kReply));
  const auto found = allocations_.find(request.get<uint64_t>());
  if (request.bad()) fail("a damaged request to free memory from node %u", request.header.from);
  answer.put(static_cast<uint8_t>(found != allocations_.end()));
  if (found == allocations_.end()) return node_.reply(request.header.reply_to, std::move(answer));
  const uint32_t number = found->second.block;
  allocations_.erase(found);
  const bool is_open = std::any_of(small_.begin(), small_.end(),
                                   [&](const auto& entry) { return entry.second.first == number; });
  if (--alive_[number] > 0 || is_open)
    return node_.reply(request.header.reply_to, std::move(answer));
  alive_.erase(number);
  const bool is_reusable = drop_block(number);
  retired_.resize(node_.nodes());
  retired_[node_.me()] = node_.intervals.known()[node_.me()];
  pending_[number].is_reusable = is_reusable;
  announce(blocks_[number], std::move(answer), request.header.reply_to);
}

bool Memory::drop_block(uint32_t number) {
  Block& block = blocks_[number];
  block.freed = 1;
  bool is_reusable = reuses();
  RightChanges changes(segment);
  std::vector<UnitId> units;
  if (block.kind == UnitKind::kPages) {
    const uint64_t first = block.offset / kPageSize, last = first + block.size / kPageSize;
    for (uint64_t unit = first; unit < last; unit += block.unit_pages)
      units.push_back(static_cast<UnitId>(unit));
  } else {
    units.push_back(kObjectUnits + number);
  }
  std::erase_if(units, [&](UnitId unit) {
    const auto found = pages_.find(unit);
    if (found == pages_.end()) return true;
    Page& page = *found->second;
    is_reusable = is_reusable && !page.busy && !page.protocol->is_in_use(page);
    page.protocol->on_free(page);
    if (block.kind == UnitKind::kPages) changes.add(page, Right::kNone);
    return false;
  });
  changes.apply();
  // Who waits for its home to be current need not, here and on other nodes.
  static_cast<HlrcProtocol&>(node_.protocol(WEIR_DSM_HLRC)).serve_waiting();
  if (block.kind == UnitKind::kRegion) return false;
  segment.protect(block.offset, page_up(block.size), Right::kNone);
  segment.clear(block.offset, page_up(block.size));
  if (!is_reusable) return false;
  if (node_.fetching == 0 && !node_.collector.is_collecting()) dead_.clear();
  for (const UnitId unit : units) {
    const auto found = pages_.find(unit);
    found->second->is_dead = true;
    dead_.push_back(std::move(found->second));
    pages_.erase(found);
    homes_.erase(unit);
  }
  return true;
}

// A new block lies there: of freed ones nothing is left.
void Memory::forget_range(uint64_t offset, uint64_t size) {
  if (offset < reached_) {
    auto other = by_offset_.upper_bound(offset);
    if (other != by_offset_.begin()) --other;
    while (other != by_offset_.end() && other->first < offset + size) {
      const Block& its = blocks_[other->second];
      const bool overlaps = its.offset + page_up(its.size) > offset;
      other = overlaps ? by_offset_.erase(other) : std::next(other);
    }
    for (uint64_t unit = offset / kPageSize; unit < (offset + size) / kPageSize; unit++)
      pages_.erase(static_cast<UnitId>(unit));
  }
  reached_ = std::max(reached_, offset + size);
}

// --- Places, on node 0

uint64_t Memory::find_place(uint64_t size) {
  for (;;) {
    const auto fits = by_size_.lower_bound({size, 0});
    if (fits != by_size_.end()) {
      const uint64_t offset = fits->second;
      take_place(offset, size);
      return offset;
    }
    if (size <= segment.size() - used_) {
      used_ += size;
      return used_ - size;
    }
    if (quarantine_.empty()) return 0;
    end_quarantine(0, 0);
  }
}

void Memory::retire(uint32_t number) {
  if (blocks_[number].kind == UnitKind::kRegion) return;
  quarantine_.push_back(number);
  quarantined_ += page_up(blocks_[number].size);
  end_quarantine(kQuarantine, segment.size() / 8);
}

void Memory::end_quarantine(size_t blocks, uint64_t bytes) {
  while (quarantine_.size() > blocks || quarantined_ > bytes) {
    const uint32_t number = quarantine_.front();
    const Block& block = blocks_[number];
    quarantine_.pop_front();
    quarantined_ -= page_up(block.size);
    add_place(block.offset, page_up(block.size));
    numbers_.push_back(number);
  }
}

void Memory::add_place(uint64_t offset, uint64_t size) {
  const auto join = [&](std::map<uint64_t, uint64_t>::iterator other) {
    by_size_.erase({other->second, other->first});
    offset = std::min(offset, other->first);
    size += other->second;
    places_.erase(other);
  };
  const auto next = places_.find(offset + size);
  if (next != places_.end()) join(next);
  auto before = places_.lower_bound(offset);
  if (before != places_.begin() && (--before)->first + before->second == offset) join(before);
  if (offset + size == used_) {  // the end is free again
    used_ = offset;
    return;
  }
  places_[offset] = size;
  by_size_.insert({size, offset});
}

void Memory::take_place(uint64_t offset, uint64_t size) {
  const auto found = places_.find(offset);
  const uint64_t all = found->second;
  by_size_.erase({all, offset});
  places_.erase(found);
  if (all == size) return;
  places_[offset + size] = all - size;
  by_size_.insert({all - size, offset + size});
}

}  // namespace weir::dsm
