// Allocation. Node 0 keeps the directory of blocks; freeing.cc says when the place of a freed one
// is used again.
//
// Invariants:
//   1. Before an address is returned to the node that asked for it, each node has the block that it
//      lies in. So a message that names a unit never names an unknown one. (checked in page)
//   2. Blocks that are not freed, except for regions, never overlap. (checked in check_news)
#include "dsm/node/memory.h"

#include <string.h>

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "weir/region.h"

namespace weir::dsm {

namespace {

constexpr uint64_t kSmall = Heap::kSmall;  // allocations below share blocks
constexpr uint64_t kSmallBlock = Heap::kBlock;
constexpr uint64_t kSmallAlignment = Heap::kAlignment;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

constexpr uint32_t kMaxOutOfOrder = 4096;  // blocks that are on their way at once

bool is_object(UnitId unit) { return unit >= kObjectUnits; }

// What no allocation has asked for.
bool makes_no_sense(const Block& block) {
  return block.kind > UnitKind::kRegion || block.protocol < WEIR_DSM_SC ||
         block.protocol > WEIR_DSM_HLRC || block.home > WEIR_DSM_EXPLICIT ||
         block.unit_pages == 0 || block.unit_pages > 4096;
}

}  // namespace

bool Memory::is_for_heap(uint64_t size, const Block& attributes) const {
  return size < kSmall && attributes.kind == UnitKind::kPages && reuses();
}

uint8_t* Memory::allocate_small(uint64_t size, const Block& attributes, bool& is_used,
                                Thread& thread, std::unique_lock<std::mutex>& held) {
  take_back(thread, held, false);
  Heap::Slot slot = heap_.take(attributes, size);
  if (!slot.offset) {
    take_back(thread, held, true);
    slot = heap_.take(attributes, size);
  }
  while (!slot.offset) {
    Block block = attributes;
    block.owner = node_.me();
    uint8_t* const memory = allocate(kSmallBlock, block, "small allocations", thread, held);
    heap_.add(attributes, static_cast<uint64_t>(memory - segment.program()));
    slot = heap_.take(attributes, size);
  }
  is_used = slot.is_used;
  return segment.program() + slot.offset;
}

uint8_t* Memory::allocate(uint64_t size, const Block& attributes, const char* name, Thread& thread,
                          std::unique_lock<std::mutex>& held, uint32_t* number) {
  const Span waits(node_, Doing::kMemory);
  Message request(static_cast<uint8_t>(Kind::kAllocate));
  request.put(size);
  request.put(attributes);
  char kept[64] = {};
  strncpy(kept, name, sizeof kept - 1);
  request.put_bytes(kept, sizeof kept);
  Message reply = node_.ask(0, std::move(request), thread, held);
  const uint64_t offset = reply.get<uint64_t>();
  const uint32_t block = reply.get<uint32_t>();
  if (!reply.bad() && offset == 0)
    fail("no room for %lu bytes in the shared segment of %lu; make it larger by WEIR_DSM_SIZE",
         size, segment.size());
  if (reply.bad() || block >= blocks_.size()) fail("a damaged answer to an allocation");
  const Block& its = blocks_[block];
  if (its.kind != UnitKind::kRegion &&
      (offset % kSmallAlignment != 0 || offset - its.offset >= its.size))
    fail("a damaged answer to an allocation");
  if (number) *number = block;
  return segment.program() + offset;
}

void Memory::on_allocate(Message&& request) {
  const uint64_t size = std::max<uint64_t>(request.get<uint64_t>(), 1);
  Block block = request.get<Block>();
  Allocation allocation;
  if (const uint8_t* its_name = request.get_bytes(sizeof allocation.name))
    memcpy(allocation.name, its_name, sizeof allocation.name - 1);
  const NodeId asker = request.header.reply_to.node;
  if (request.bad() || makes_no_sense(block) || block.freed || node_.me() != 0 ||
      (block.owner != kNoNode && (block.owner != asker || size != kSmallBlock)))
    fail("a damaged request for memory from node %u", request.header.from);
  allocation.size = size;
  Message answer(static_cast<uint8_t>(Kind::kReply));
  const bool is_small = size < kSmall && block.kind == UnitKind::kPages;
  const std::string key(reinterpret_cast<const char*>(&block), sizeof block);
  if (is_small) {
    const auto found = small_.find(key);
    const uint64_t room = round_up(size, kSmallAlignment);
    if (found != small_.end() && found->second.second + room <= kSmallBlock) {
      const Block& shared = blocks_[found->second.first];
      allocation.offset = shared.offset + found->second.second;
      allocation.block = shared.number;
      found->second.second += room;
      alive_[shared.number]++;
      allocations_[allocation.offset] = allocation;
      answer.put(allocation.offset);
      answer.put(allocation.block);
      // Nobody gets memory that not all know yet: the block may be of this moment.
      const auto news = pending_.find(shared.number);
      if (news == pending_.end()) return node_.reply(request.header.reply_to, std::move(answer));
      news->second.answers.emplace_back(request.header.reply_to, std::move(answer));
      return;
    }
    small_[key] = {0, room};
    strncpy(block.name, "small allocations", sizeof block.name - 1);
  } else {
    memcpy(block.name, allocation.name, sizeof block.name);
  }
  block.number = static_cast<uint32_t>(blocks_.size());
  if (block.kind != UnitKind::kRegion && !numbers_.empty()) {
    block.number = numbers_.back();  // a region's stays its own: programs keep it
    numbers_.pop_back();
  }
  if (is_small) small_.at(key).first = block.number;
  if (block.kind == UnitKind::kRegion) {
    block.size = size;
    block.offset = 1;  // lies elsewhere on each node
  } else {
    const uint64_t unit =
        block.kind == UnitKind::kPages ? uint64_t{block.unit_pages} * kPageSize : kPageSize;
    block.size =
        block.kind == UnitKind::kPages ? round_up(is_small ? kSmallBlock : size, unit) : size;
    // The first: of which round_up is no number.
    block.offset = size > segment.size() ? 0 : find_place(page_up(block.size));
    if (block.offset == 0) {
      if (is_small) small_.erase(key);
      if (block.number < blocks_.size()) numbers_.push_back(block.number);
      answer.put(uint64_t{0});
      answer.put(uint32_t{0});
      return node_.reply(request.header.reply_to, std::move(answer));
    }
  }
  allocation.offset = block.offset;
  allocation.block = block.number;
  if (block.kind != UnitKind::kRegion) allocations_[allocation.offset] = allocation;
  alive_[block.number] = 1;
  add_block(block, retired_);
  answer.put(block.offset);
  answer.put(block.number);
  announce(block, std::move(answer), request.header.reply_to);
}

// Everybody is told of the block as it is now, and when all have it, the answer goes out.
void Memory::announce(const Block& block, Message&& answer, const ReplyTo& reply_to) {
  if (node_.nodes() == 1) {
    if (block.freed && pending_[block.number].is_reusable) retire(block.number);
    pending_.erase(block.number);
    return node_.reply(reply_to, std::move(answer));
  }
  Pending& news = pending_[block.number];
  news.missing = node_.nodes() - 1;
  news.answers.emplace_back(reply_to, std::move(answer));
  for (NodeId node = 1; node < node_.nodes(); node++) {
    Message message(static_cast<uint8_t>(Kind::kBlock));
    message.put(block);
    message.put_list(born_[block.number]);
    node_.tell(node, std::move(message));
  }
}

void Memory::on_message(Message&& message) {
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::kAllocate: return on_allocate(std::move(message));
    case Kind::kFree: return on_free(std::move(message));
    case Kind::kFreeSmall: return on_free_small(std::move(message));
    case Kind::kHeap: {
      Message answer(static_cast<uint8_t>(Kind::kReply));
      heap_.put(answer);
      return node_.reply(message.header.reply_to, std::move(answer));
    }
    case Kind::kBlock: {
      const Block block = message.get<Block>();
      const VectorTime born = message.get_list<uint32_t>();
      if (message.bad() || message.header.from != 0 ||
          (!born.empty() && born.size() != node_.nodes()))
        fail("damaged news of an allocation from node %u", message.header.from);
      check_news(block);
      bool is_reusable = true;
      if (block.freed) {
        is_reusable = drop_block(block.number);
      } else {
        add_block(block, born);
      }
      Message answer(static_cast<uint8_t>(Kind::kBlockKnown));
      answer.put(block.number);
      answer.put(static_cast<uint8_t>(is_reusable));
      answer.put(node_.intervals.known()[node_.me()]);
      return node_.tell(0, std::move(answer));
    }
    case Kind::kBlockKnown: {
      const uint32_t number = message.get<uint32_t>();
      const auto found = pending_.find(number);
      const bool is_reusable = message.get<uint8_t>();
      const uint32_t closed = message.get<uint32_t>();
      const NodeId from = message.header.from;
      if (message.bad() || found == pending_.end() || from >= node_.nodes())
        fail("node %u answers to news of an allocation that it has not got", from);
      Pending& news = found->second;
      if (blocks_[number].freed) {
        news.is_reusable &= is_reusable;
        retired_.resize(node_.nodes());
        retired_[from] = std::max(retired_[from], closed);
      }
      if (--news.missing > 0) return;
      if (blocks_[number].freed && news.is_reusable) retire(number);
      auto answers = std::move(news.answers);
      pending_.erase(found);
      for (auto& [reply_to, answer] : answers) node_.reply(reply_to, std::move(answer));
      return;
    }
    default: {  // kFindHome
      Message answer(static_cast<uint8_t>(Kind::kReply));
      const UnitId unit = message.get<UnitId>();
      if (message.bad()) fail("a damaged question for a home from node %u", message.header.from);
      page(unit);  // there is one
      answer.put(homes_.emplace(unit, message.header.from).first->second);
      return node_.reply(message.header.reply_to, std::move(answer));
    }
  }
}

// News of a block that cannot be: it is known already, or lies where another lies.
void Memory::check_news(const Block& block) const {
  const bool is_known = block.number < blocks_.size() && blocks_[block.number].size != 0;
  bool is_well = !makes_no_sense(block) && block.size != 0 &&
                 block.number < blocks_.size() + kMaxOutOfOrder &&
                 memchr(block.name, 0, sizeof block.name);
  if (block.freed) {
    const Block* known = is_known ? &blocks_[block.number] : nullptr;
    is_well = is_well && known && !known->freed && known->offset == block.offset &&
              known->size == block.size;
  } else {
    is_well = is_well && (!is_known || blocks_[block.number].freed);
    if (is_well && block.kind != UnitKind::kRegion) {
      const uint64_t unit =
          block.kind == UnitKind::kPages ? uint64_t{block.unit_pages} * kPageSize : 1;
      is_well = block.offset % kPageSize == 0 && block.size % unit == 0 &&
                block.offset < segment.size() && block.size <= segment.size() - block.offset;
      auto other = by_offset_.upper_bound(block.offset);
      if (other != by_offset_.begin()) --other;
      for (; is_well && other != by_offset_.end() && other->first < block.offset + block.size;
           ++other) {
        const Block& its = blocks_[other->second];
        is_well = its.freed || its.offset + page_up(its.size) <= block.offset;
      }
    }
  }
  // Invariant 2 of dsm/core/memory.cc.
  if (!is_well) fail("damaged news of allocation %u", block.number);
}

// Blocks may arrive in another order than they were made in.
void Memory::add_block(const Block& block, const VectorTime& born) {
  if (block.number >= blocks_.size()) blocks_.resize(block.number + 1);
  born_.resize(blocks_.size());
  Block& its = blocks_[block.number];
  if (its.freed) {  // which had the number
    const auto found = by_offset_.find(its.offset);
    if (found != by_offset_.end() && found->second == block.number) by_offset_.erase(found);
    pages_.erase(kObjectUnits + block.number);
  }
  if (block.kind != UnitKind::kRegion) forget_range(block.offset, page_up(block.size));
  its = block;
  born_[block.number] = born;
  if (node_.settings.check && block.protocol == WEIR_DSM_HLRC)
    blocks_[block.number].protocol = WEIR_DSM_LRC;  // diffs of each interval are LRC's
  if (block.kind != UnitKind::kRegion) by_offset_[block.offset] = block.number;
  const bool is_pages = block.kind == UnitKind::kPages;
  StreamWriter::Allocated made;
  made.first =
      is_pages ? static_cast<UnitId>(block.offset / kPageSize) : kObjectUnits + block.number;
  made.numbers = is_pages ? static_cast<uint32_t>(block.size / kPageSize) : 1;
  made.step = is_pages ? block.unit_pages : 1;
  made.unit_bytes = is_pages ? uint64_t{block.unit_pages} * kPageSize : block.size;
  made.home_policy = block.home;
  made.home_node = block.home_node;
  node_.record(&StreamWriter::allocate, made);
}

// --- Finding

const Block* Memory::block_at(uint64_t offset) const {
  auto found = by_offset_.upper_bound(offset);
  if (found == by_offset_.begin()) return nullptr;
  const Block& block = blocks_[(--found)->second];
  return offset - block.offset < block.size ? &block : nullptr;
}

const Allocation* Memory::allocation_at(uint64_t offset) const {
  auto found = allocations_.upper_bound(offset);
  if (found == allocations_.begin()) return nullptr;
  const Allocation& allocation = (--found)->second;
  return offset - allocation.offset < allocation.size ? &allocation : nullptr;
}

Page* Memory::page_at(const void* address) {
  const uint64_t offset =
      static_cast<uint64_t>(static_cast<const uint8_t*>(address) - segment.program());
  const Block* block = block_at(offset);
  if (!block || block->freed) return nullptr;
  if (block->kind != UnitKind::kPages) return &object(block->number);
  const uint64_t first = block->offset / kPageSize;
  return &page(static_cast<UnitId>(first + (offset / kPageSize - first) / block->unit_pages *
                                               block->unit_pages));
}

Page& Memory::page(UnitId unit) {
  const auto known = pages_.find(unit);
  if (known != pages_.end()) return *known->second;
  const Block* block =
      is_object(unit)
          ? (unit - kObjectUnits < blocks_.size() ? &blocks_[unit - kObjectUnits] : nullptr)
          : block_at(uint64_t{unit} * kPageSize);
  // Invariants 1 of dsm/core/memory.cc, 3 of checkpoint.cc.
  if (!block || block->size == 0 || is_object(unit) == (block->kind == UnitKind::kPages))
    fail("unit %u is in no allocation that this node knows", unit);
  if (!is_object(unit) && (unit - block->offset / kPageSize) % block->unit_pages)
    fail("unit %u is in the middle of one, of %s", unit, block->name);
  Protocol& protocol = node_.protocol(block->protocol);
  std::unique_ptr<Page>& found = pages_[unit];
  found = protocol.make_page();
  Page& page = *found;
  protocol.begin_at(page, born_[block->number]);
  page.id = unit;
  page.kind = block->kind;
  page.protocol = &protocol;
  uint64_t index = 0, units = 1;
  if (block->kind == UnitKind::kPages) {
    const uint64_t offset = uint64_t{unit} * kPageSize;
    page.size = uint64_t{block->unit_pages} * kPageSize;
    page.program = segment.program() + offset;
    page.open = segment.open() + offset;
    index = (offset - block->offset) / page.size;
    units = block->size / page.size;
  } else if (block->kind == UnitKind::kAnnotated) {
    page.size = block->size;
    page.program = segment.program() + block->offset;
    page.open = segment.open() + block->offset;
    index = block->number;
    units = 0;
  } else {
    page.size = block->size;
    page.program = page.open =
        static_cast<uint8_t*>(weir_region_open(node_.regions.create(block->number, block->size)));
    index = block->number;
    units = 0;
  }
  const NodeId nodes = node_.nodes();
  switch (block->home) {
    case WEIR_DSM_EXPLICIT: page.home = block->home_node % nodes; break;
    case WEIR_DSM_FIRST_TOUCH:
      page.home = block->protocol == WEIR_DSM_LRC ? unit % nodes : kNoNode;
      break;  // LRC's homes matter little
    case WEIR_DSM_BLOCK:
      page.home = static_cast<NodeId>(units ? index * nodes / units : index % nodes);
      break;
    default: page.home = static_cast<NodeId>(index % nodes);
  }
  return page;
}

Page& Memory::page(UnitId unit, const Protocol& protocol) {
  Page& found = page(unit);
  if (found.protocol != &protocol) fail("unit %u has another protocol than a message says", unit);
  return found;
}

void Memory::find_home(Page& page, Thread& thread, std::unique_lock<std::mutex>& held) {
  if (page.home != kNoNode) return;
  Message request(static_cast<uint8_t>(Kind::kFindHome));
  request.put(page.id);
  Message reply = node_.ask(0, std::move(request), thread, held);
  const NodeId home = reply.get<NodeId>();
  if (reply.bad() || home >= node_.nodes())
    fail("a damaged answer to where the home of unit %u is", page.id);
  page.home = home;
}

tape::Extent Memory::extent_of(const uint8_t* address, uint64_t size) {
  tape::Extent extent;
  for (const uint8_t* at = address; at < address + size;) {
    Page* page = segment.contains(at) ? page_at(at) : nullptr;
    if (page) extent.add(page->id);
    const uint64_t step = page ? page->size - static_cast<uint64_t>(at - page->program)
                               : kPageSize - reinterpret_cast<uint64_t>(at) % kPageSize;
    at += step;
  }
  return extent;
}

const Block* Memory::block_of(UnitId unit) const {
  if (!is_object(unit)) return block_at(uint64_t{unit} * kPageSize);
  return unit - kObjectUnits < blocks_.size() ? &blocks_[unit - kObjectUnits] : nullptr;
}

bool Memory::is_freed(UnitId unit) const {
  const Block* block = block_of(unit);
  // Where no block is, one may have been whose place is used in part.
  return block ? block->freed : !is_object(unit) && uint64_t{unit} * kPageSize < reached_;
}

bool Memory::exists(UnitId unit) const {
  const Block* block = block_of(unit);
  if (!block || block->freed || block->size == 0 ||
      is_object(unit) == (block->kind == UnitKind::kPages))
    return false;
  return is_object(unit) || (unit - block->offset / kPageSize) % block->unit_pages == 0;
}

bool Memory::is_past(UnitId unit, IntervalId id) const {
  const Block* block = block_of(unit);
  if (!block || block->freed) return is_freed(unit);
  const VectorTime& born = born_[block->number];
  return !born.empty() && id.index <= born[id.node];
}

Memory::Found Memory::find(UnitId unit, uint64_t offset) const {
  if (is_object(unit)) {
    const Block& block = blocks_[unit - kObjectUnits];
    return {block.kind == UnitKind::kRegion ? nullptr : segment.program() + block.offset + offset,
            offset, block.size, block.name};
  }
  const uint64_t at = uint64_t{unit} * kPageSize + offset;
  const auto next = allocations_.upper_bound(at);
  if (next != allocations_.begin()) {
    const Allocation& allocation = std::prev(next)->second;
    if (at - allocation.offset < allocation.size)
      return {segment.program() + at, at - allocation.offset, allocation.size, allocation.name};
  }
  const Block* block = block_at(at);
  if (!block) return {segment.program() + at, 0, 0, "nothing"};
  return {segment.program() + at, at - block->offset, block->size, block->name};
}

std::string Memory::describe(UnitId unit) const {
  if (is_object(unit))
    return unit - kObjectUnits < blocks_.size() ? blocks_[unit - kObjectUnits].name : "nothing";
  const uint64_t offset = uint64_t{unit} * kPageSize;
  const Block* block = block_at(offset);
  if (!block) return "nothing";
  return std::string(block->name) + " + " + std::to_string(offset - block->offset);
}

}  // namespace weir::dsm
