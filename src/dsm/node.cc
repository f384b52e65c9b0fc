// The node's own part is small: who gets a message, and the two sides of synchronization. A release closes an interval over all pages that were written, whichever protocol
// they have; an acquire reads notices and tells each page's protocol.
//
// Invariant: notices are told to the pages before they count as known. A page that this node has written itself gets its diff made first, and where that takes an interval of
// its own, the interval must not seem to have known of the notice.
#include "dsm/node.h"

#include <stdio.h>

#include <algorithm>
#include <utility>
#include <map>

#include "dsm/failure.h"
#include "dsm/hlrc.h"
#include "dsm/sc.h"

namespace weir::dsm {

namespace {

constexpr uint64_t kMostObjects = 1 << 20;  // that one interval may have written

bool wants_reply(Kind kind) {
  switch (kind) {
    case Kind::kAllocate:
    case Kind::kFree:
    case Kind::kFindHome:
    case Kind::kLockRequest:
    case Kind::kLockForward:
    case Kind::kConditionWait:
    case Kind::kSemaphoreWait:
    case Kind::kDiffRequest:
    case Kind::kPageRequest:
    case Kind::kHomeFetch:
    case Kind::kOwnerRequest:
      return true;
    default:
      return false;
  }
}

}  // namespace

Thread::Thread(Node& its_node) : node(its_node), mailbox(its_node.transport.mailbox()) {}

Node::Node(Transport& its_transport, const Settings& its_settings)
    : transport(its_transport),
      settings(its_settings),
      intervals(transport.node(), transport.nodes()),
      memory(*this, settings.address, settings.size),
      regions(*this),
      locks(*this),
      barrier(*this),
      conditions(*this),
      tapeworm(*this) {
  protocols[WEIR_DSM_SC] = std::make_unique<ScProtocol>(*this);
  protocols[WEIR_DSM_LRC] = std::make_unique<LrcProtocol>(*this);
  protocols[WEIR_DSM_HLRC] = std::make_unique<HlrcProtocol>(*this);
  transport.serve(
      [this](Message&& message) {
        const std::lock_guard<std::mutex> guard(mutex);
        receive(std::move(message));
      },
      [this] {
        if (!settings.waits) return;
        const std::lock_guard<std::mutex> guard(mutex);
        fprintf(stderr, "node %u: %s\n", me(), describe_waits().c_str());
      });
}

Node::~Node() { transport.stop(); }

void Node::tell(NodeId to, Message&& message) {
  if (to != me()) return transport.post(to, std::move(message));
  message.header.from = static_cast<uint16_t>(me());
  receive(std::move(message));
}

Message Node::ask(NodeId to, Message&& request, Thread& thread, std::unique_lock<std::mutex>& held) {
  uint32_t ticket;
  if (to == me()) {
    request.header.reply_to = thread.mailbox->address();
    ticket = request.header.reply_to.ticket;
    tell(to, std::move(request));
    held.unlock();
  } else {
    held.unlock();
    ticket = thread.mailbox->ask(to, std::move(request));
  }
  Message reply = thread.mailbox->wait(ticket);
  held.lock();
  if (static_cast<Kind>(reply.header.kind) != Kind::kReply) fail("a message of kind %u from node %u, which is no reply", reply.header.kind, reply.header.from);
  return reply;
}

void Node::receive(Message&& message) {
  if (message.header.from >= nodes() || message.header.reply_to.node >= nodes()) {
    fail("a message of kind %u that names node %u and node %u, of %u", message.header.kind, message.header.from, message.header.reply_to.node, nodes());
  }
  if (wants_reply(static_cast<Kind>(message.header.kind)) && !message.header.reply_to.ticket) {
    fail("a request of kind %u from node %u, where nobody waits for the reply", message.header.kind, message.header.from);
  }
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::kAllocate:
    case Kind::kFree:
    case Kind::kBlock:
    case Kind::kBlockKnown:
    case Kind::kFindHome:
      return memory.on_message(std::move(message));
    case Kind::kLockRequest:
    case Kind::kLockForward:
      return locks.on_message(std::move(message));
    case Kind::kBarrierArrive:
    case Kind::kBarrierRelease:
      return barrier.on_message(std::move(message));
    case Kind::kConditionWait:
    case Kind::kConditionSignal:
    case Kind::kSemaphorePost:
    case Kind::kSemaphoreWait:
      return conditions.on_message(std::move(message));
    case Kind::kDiffRequest:
    case Kind::kPageRequest:
      return protocols[WEIR_DSM_LRC]->on_message(std::move(message));
    case Kind::kHomeFlush:
    case Kind::kHomeFetch:
      return protocols[WEIR_DSM_HLRC]->on_message(std::move(message));
    case Kind::kOwnerRequest:
    case Kind::kOwnerTake:
    case Kind::kOwnerAnswer:
    case Kind::kOwnerDone:
      return protocols[WEIR_DSM_SC]->on_message(std::move(message));
    case Kind::kPush:
      return tapeworm.on_message(std::move(message));
    case Kind::kReply:
      break;
  }
  fail("a message of kind %u from node %u", message.header.kind, message.header.from);
}

bool Node::on_fault(void* address, bool write, Thread& thread) {
  if (!memory.segment.contains(address)) return false;
  std::unique_lock<std::mutex> held(mutex);
  Page* page = memory.page_at(address);
  if (!page) {
    const Block* block = memory.block_at(static_cast<uint64_t>(static_cast<uint8_t*>(address) - memory.segment.program()));
    if (block) fail("%s of %p in %s, which was freed", write ? "write" : "read", address, block->name);
    fail("%s of %p, which is shared memory that nobody has allocated", write ? "write" : "read", address);
  }
  (write ? counters.now.write_faults : counters.now.read_faults)++;
  fetch(*page, write, thread, held);
  return true;
}

void Node::fetch(Page& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held) {
  while (page.busy) changed.wait(held);
  if (page.right == Right::kWrite || (!write && page.right == Right::kRead)) return;
  page.busy = true;
  tapeworm.on_fault(page, write, thread);
  page.protocol->on_fault(page, write, thread, held);
  page.busy = false;
  changed.notify_all();
}

LrcProtocol* Node::lazy_of(Page& page) {
  if (page.protocol == protocols[WEIR_DSM_SC].get()) return nullptr;
  return static_cast<LrcProtocol*>(page.protocol);
}

void Node::close_interval(bool by_program) {
  if (dirty.empty()) return;
  std::vector<Page*> pages = std::exchange(dirty, {});
  tapeworm.drop_unwritten(pages);
  if (pages.empty()) return;
  std::vector<UnitId> units;
  units.reserve(pages.size());
  std::map<Protocol*, std::vector<Page*>> by_protocol;
  for (Page* page : pages) {
    units.push_back(page->id);
    by_protocol[page->protocol].push_back(page);
  }
  closing_for_program = by_program && threads == 1;
  const IntervalPtr interval = intervals.close(std::move(units));
  for (const auto& [protocol, its] : by_protocol) protocol->on_interval_closed(*interval, its);
  closing_for_program = false;
  tapeworm.on_interval_closed(*interval);
}

void Node::incorporate(Message& message, VectorTime* named) {
  const std::vector<IntervalPtr> news = intervals.get(message, settings.size / kPageSize + kMostObjects, named);
  std::map<Protocol*, std::vector<Page*>> by_protocol;
  for (const IntervalPtr& interval : news) {
    for (UnitId unit : interval->units) {
      if (memory.is_freed(unit)) continue;
      Page& page = memory.page(unit);
      page.protocol->on_notice(page, interval->id);
      by_protocol[page.protocol].push_back(&page);
    }
  }
  for (auto& [protocol, pages] : by_protocol) {
    std::sort(pages.begin(), pages.end(), [](const Page* a, const Page* b) { return a->id < b->id; });
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    protocol->on_noticed(pages);
  }
  intervals.merge(news);
}

void Node::touch(const uint8_t* address, size_t size, bool write, Thread& thread, std::unique_lock<std::mutex>& held) {
  const tape::Extent extent = memory.extent_of(address, size);
  tapeworm.prefetch(extent, thread, held);
  for (UnitId unit : extent) fetch(memory.page(unit), write, thread, held);
}

weir_dsm_counters Node::counters_now() const {
  weir_dsm_counters now = counters.now;
  const Traffic traffic = transport.traffic();
  for (int group = 0; group < 4; group++) {
    now.messages[group] = traffic.messages[group] - traffic_before.messages[group];
    now.bytes += traffic.bytes[group] - traffic_before.bytes[group];
  }
  now.memory = counters.diffs + counters.twins + intervals.memory();
  return now;
}

void Node::reset_counters() {
  counters.now = {};
  traffic_before = transport.traffic();
}

std::string Node::describe_waits() {
  return barrier.describe() + locks.describe() + static_cast<HlrcProtocol&>(protocol(WEIR_DSM_HLRC)).describe();
}

}  // namespace weir::dsm
