// The node's own part is small: the dispatch of messages, and the two sides of synchronization. A
// release closes an interval over all pages that were written, whichever protocol they have. An
// acquire reads notices and tells each page's protocol.
//
// Invariant: if this node has written a page itself, the page's diff is made before notices count
// as known. If that takes an interval of its own, the interval must not seem to have known of them.
// What is written from then on comes after them, so its stamp is taken once they count as known
// (invariant 1 of lrc.cc). (not checkable: what threads write between two faults nobody sees)
#include "dsm/node/node.h"

#include <pthread.h>
#include <stdio.h>

#include <algorithm>
#include <map>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/base/source_lines.h"
#include "dsm/protocol/hlrc.h"
#include "dsm/protocol/sc.h"

namespace weir::dsm {

Thread::Thread(Node& its_node, unsigned its_worker, Role its_role)
    : node(its_node), mailbox(its_node.transport.mailbox()), worker(its_worker), role(its_role) {
  if (is_of_program()) node.known_threads++;
}

namespace {
thread_local Thread* g_in_runtime = nullptr;

constexpr uint64_t kMaxObjects = 1 << 20;  // that one interval may have written

bool wants_reply(Kind kind) {
  switch (kind) {
    case Kind::kAllocate:
    case Kind::kFree:
    case Kind::kLearn:
    case Kind::kCollectMeet:
    case Kind::kHeap:
    case Kind::kFindHome:
    case Kind::kLockRequest:
    case Kind::kLockForward:
    case Kind::kConditionWait:
    case Kind::kConditionSignal:
    case Kind::kSemaphoreWait:
    case Kind::kDiffRequest:
    case Kind::kPageRequest:
    case Kind::kHomeFetch:
    case Kind::kOwnerRequest:
    case Kind::kPeerRead:
    case Kind::kPeerWrite:
    case Kind::kPeerLearn: return true;
    default: return false;
  }
}
}  // namespace

NotCancelled::NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }

NotCancelled::~NotCancelled() noexcept(false) { pthread_setcancelstate(before_, nullptr); }

InRuntime::InRuntime(Thread& thread)
    : std::unique_lock<std::mutex>(thread.node.mutex), thread_(thread) {
  if (!thread.node.stream || !thread.is_of_program()) return;
  g_in_runtime = &thread;
  thread.clock.enter();
}

InRuntime::~InRuntime() {
  if (!thread_.node.stream || !thread_.is_of_program()) return;
  g_in_runtime = nullptr;
  thread_.clock.leave();
}

Thread::~Thread() {
  if (is_of_program()) node.known_threads--;
  if (holds.empty()) return;
  const std::lock_guard<std::mutex> held(node.mutex);
  node.end_accesses(*this);
}

Node::Node(Transport& its_transport, const Settings& its_settings)
    : transport(its_transport),
      settings(its_settings),
      diagnostics(*this, settings),
      intervals(transport.node(), transport.nodes(), settings.check),
      memory(*this, settings.address, settings.size),
      regions(*this),
      locks(*this),
      barrier(*this),
      collector(*this),
      conditions(*this),
      tapeworm(*this),
      checker(*this),
      peers(*this, transport.nodes()) {
  protocols[WEIR_DSM_SC] = std::make_unique<ScProtocol>(*this);
  protocols[WEIR_DSM_LRC] = std::make_unique<LrcProtocol>(*this);
  protocols[WEIR_DSM_HLRC] = std::make_unique<HlrcProtocol>(*this);
  if (!settings.record.empty()) {
    stream = std::make_unique<StreamWriter>(
        settings.record, StreamWriter::Run{me(), nodes(), settings.threads, settings.protocol,
                                           settings.tapes != Tapes::kOff});
    if (!stream->failed().empty()) fail("nothing can be recorded: %s", stream->failed().c_str());
  }
  transport.serve(
      [this](Message&& message) {
        const Entered entered;
        const std::lock_guard<std::mutex> guard(mutex);
        Span span(*this, Doing::kServe);
        span.set_message(message.header);
        receive(std::move(message));
      },
      [this] {
        const std::lock_guard<std::mutex> guard(mutex);
        diagnostics.waits.on_idle();
      });
}

Node::~Node() {
  collector.stop();
  transport.stop();
}

void Node::tell(NodeId to, Message&& message) {
  if (to != me()) return transport.post(to, std::move(message));
  message.header.from = static_cast<uint16_t>(me());
  receive(std::move(message));
}

Message Node::ask(NodeId to, Message&& request, Thread& thread,
                  std::unique_lock<std::mutex>& held) {
  uint32_t ticket, &asked = thread.diagnostics.asks(to);
  if (to == me()) {
    request.header.reply_to = thread.mailbox->address();
    ticket = request.header.reply_to.ticket;
    tell(to, std::move(request));
    held.unlock();
  } else {
    held.unlock();
    ticket = asked = thread.mailbox->ask(to, std::move(request));
  }
  Message reply = thread.mailbox->wait(ticket);
  held.lock();
  if (static_cast<Kind>(reply.header.kind) != Kind::kReply)
    fail("a message of kind %u from node %u, which is no reply", reply.header.kind,
         reply.header.from);
  return reply;
}

void Node::receive(Message&& message) {
  if (message.header.from >= nodes() || message.header.reply_to.node >= nodes()) {
    fail("a message of kind %u that names node %u and node %u, of %u", message.header.kind,
         message.header.from, message.header.reply_to.node, nodes());
  }
  if (wants_reply(static_cast<Kind>(message.header.kind)) && !message.header.reply_to.ticket) {
    fail("a request of kind %u from node %u, where nobody waits for the reply", message.header.kind,
         message.header.from);
  }
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::kAllocate:
    case Kind::kFree:
    case Kind::kFreeSmall:
    case Kind::kHeap:
    case Kind::kBlock:
    case Kind::kBlockKnown:
    case Kind::kFindHome: return memory.on_message(std::move(message));
    case Kind::kCollectWish:
    case Kind::kCollectCall:
    case Kind::kCollectMeet: return collector.on_message(std::move(message));
    case Kind::kLearn: return on_learn(std::move(message));
    case Kind::kLockRequest:
    case Kind::kLockForward: return locks.on_message(std::move(message));
    case Kind::kBarrierArrive:
    case Kind::kBarrierRelease: return barrier.on_message(std::move(message));
    case Kind::kConditionWait:
    case Kind::kConditionSignal:
    case Kind::kSemaphorePost:
    case Kind::kSemaphoreWait: return conditions.on_message(std::move(message));
    case Kind::kDiffRequest:
    case Kind::kPageRequest: return protocols[WEIR_DSM_LRC]->on_message(std::move(message));
    case Kind::kHomeFlush:
    case Kind::kHomeFetch: return protocols[WEIR_DSM_HLRC]->on_message(std::move(message));
    case Kind::kOwnerRequest:
    case Kind::kOwnerTake:
    case Kind::kOwnerAnswer:
    case Kind::kOwnerDone: return protocols[WEIR_DSM_SC]->on_message(std::move(message));
    case Kind::kPush: return tapeworm.on_message(std::move(message));
    case Kind::kDiagnostics: return diagnostics.on_message(std::move(message));
    case Kind::kWaits: return diagnostics.waits.on_message(std::move(message));
    case Kind::kCheckDiffs:
    case Kind::kCheckSides:
    case Kind::kRace: return checker.on_message(std::move(message));
    case Kind::kPeerRead:
    case Kind::kPeerWrite:
    case Kind::kPeerLearn: return peers.on_message(std::move(message));
    case Kind::kReply: break;
  }
  fail("a message of kind %u from node %u", message.header.kind, message.header.from);
}

const char* name_of_kind(uint8_t kind) {
  static constexpr const char* kNames[] = {"reply",
                                           "allocation",
                                           "free",
                                           "free of a slot",
                                           "request for what is known",
                                           "wish for a garbage collection",
                                           "call to a garbage collection",
                                           "meeting of a garbage collection",
                                           "request for a heap",
                                           "block",
                                           "block known",
                                           "home request",
                                           "lock request",
                                           "lock forward",
                                           "barrier arrival",
                                           "barrier release",
                                           "condition wait",
                                           "condition signal",
                                           "semaphore post",
                                           "semaphore wait",
                                           "diff request",
                                           "page request",
                                           "flush to the home",
                                           "fetch from the home",
                                           "ownership request",
                                           "ownership take",
                                           "ownership answer",
                                           "ownership done",
                                           "push",
                                           "report",
                                           "report of waits",
                                           "request for diffs to check",
                                           "request for sides of a race",
                                           "race",
                                           "request to read memory",
                                           "request to write memory",
                                           "request to learn before a copy"};
  static_assert(std::size(kNames) == static_cast<size_t>(Kind::kPeerLearn) + 1);
  return kind < std::size(kNames) ? kNames[kind] : "message";
}

bool Node::on_fault(void* address, bool write, Thread& thread) {
  if (!memory.segment.contains(address)) return false;
  InRuntime held(thread);
  Page* page = memory.page_at(address);
  if (!page) {
    const Block* block = memory.block_at(
        static_cast<uint64_t>(static_cast<uint8_t*>(address) - memory.segment.program()));
    if (block)
      fail("%s of %p in %s, which was freed", write ? "write" : "read", address,
           SourceLines::name_now(block->name).c_str());
    fail("%s of %p, which is shared memory that nobody has allocated", write ? "write" : "read",
         address);
  }
  if (page->kind == UnitKind::kAnnotated)
    fail("%s of %p in %s, which is ANNOTATED, and no weir_dsm_%s_access has announced it",
         write ? "write" : "read", address,
         SourceLines::name_now(memory.block(page->id - kObjectUnits).name).c_str(),
         write ? "write" : "read");
  (write ? counters.now.write_faults : counters.now.read_faults)++;
  Span span(*this, Doing::kFault, page->id);
  span.set_detail(write);
  if (write) diagnostics.sharing.on_write_fault(*page, address, thread.diagnostics.program_counter);
  fetch(*page, write, thread, held,
        static_cast<uint32_t>(static_cast<uint8_t*>(address) - page->program));
  return true;
}

// What this node knows, for one that acquires it for the runtime's own sake.
void Node::on_learn(Message&& message) {
  const VectorTime theirs = message.get_list<uint32_t>();
  if (message.bad() || theirs.size() != nodes())
    fail("a damaged request from node %u for what is known", message.header.from);
  close_interval();
  Message answer(static_cast<uint8_t>(Kind::kReply), kGroupLock);
  intervals.put_missing(theirs, answer);
  reply(message.header.reply_to, std::move(answer));
}

void Node::fetch(Page& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held,
                 uint32_t at) {
  struct Fetching {
    explicit Fetching(unsigned& its_count) : count(its_count) { count++; }
    ~Fetching() { count--; }
    unsigned& count;
  };
  const Fetching here(fetching);
  if (page.kind != UnitKind::kPages && page.protocol == protocols[WEIR_DSM_SC].get())
    return static_cast<ScProtocol*>(page.protocol)->hold(page, write, thread, held);
  while (page.busy) changed.wait(held);
  if (page.right == Right::kWrite || (!write && page.right == Right::kRead)) return;
  page.busy = true;
  const uint64_t misses = counters.now.misses;
  tapeworm.on_fault(page, write, thread);
  thread.fault_at = at;
  page.protocol->on_fault(page, write, thread, held);
  thread.fault_at = kNowhere;
  if (write) checker.on_write(page, thread);
  page.busy = false;
  record(counters.now.misses == misses ? &StreamWriter::access : &StreamWriter::miss, page.id,
         write);
  changed.notify_all();
}

void Node::end_accesses(Thread& thread) {
  if (!thread.holds.empty()) static_cast<ScProtocol&>(protocol(WEIR_DSM_SC)).let_go(thread);
}

LrcProtocol* Node::lazy_of(Page& page) {
  if (page.protocol == protocols[WEIR_DSM_SC].get()) return nullptr;
  return static_cast<LrcProtocol*>(page.protocol);
}

void Node::close_interval(bool by_program) {
  if (dirty.empty()) return;
  std::vector<Page*> pages = std::exchange(dirty, {});
  closing_for_program = by_program && known_threads == 1;  // others may have pointers at hand
  tapeworm.drop_unwritten(pages);
  RightChanges changes(memory.segment);
  std::erase_if(pages, [&](Page* page) {
    return !static_cast<LrcProtocol*>(page->protocol)->was_written(as_lazy(*page), changes);
  });
  if (pages.empty()) return;
  std::vector<UnitId> units;
  units.reserve(pages.size());
  std::map<Protocol*, std::vector<Page*>> by_protocol;
  for (Page* page : pages) {
    units.push_back(page->id);
    by_protocol[page->protocol].push_back(page);
  }
  const IntervalPtr interval = intervals.close(std::move(units));
  record_interval(*interval);
  for (const auto& [protocol, its] : by_protocol) protocol->on_interval_closed(*interval, its);
  tapeworm.on_interval_closed(*interval);
}

void Node::record_interval(const Interval& interval) {
  if (stream)
    record(&StreamWriter::interval, interval.id.index, predict::without_bytes(interval.units));
}

void Node::incorporate(Message& message, VectorTime* named) {
  const std::vector<IntervalPtr> news =
      intervals.get(message, settings.size / kPageSize + kMaxObjects, named);
  std::map<Protocol*, std::vector<Page*>> by_protocol;
  for (const IntervalPtr& interval : news) {
    for (UnitId unit : interval->units) {
      if (memory.is_past(unit, interval->id)) continue;
      Page& page = memory.page(unit);
      page.protocol->on_notice(page, interval->id);
      by_protocol[page.protocol].push_back(&page);
    }
  }
  for (auto& [protocol, pages] : by_protocol) {
    std::sort(pages.begin(), pages.end(),
              [](const Page* a, const Page* b) { return a->id < b->id; });
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    protocol->before_noticed(pages);
  }
  intervals.merge(news);
  for (const auto& [protocol, pages] : by_protocol) protocol->on_noticed(pages);
  peers.publish();
}

void Node::touch(const uint8_t* address, size_t size, bool write, Thread& thread,
                 std::unique_lock<std::mutex>& held) {
  const auto begin = reinterpret_cast<uint64_t>(address);
  tape::Extent extent;
  for (uint64_t done = 0; done < size;) {
    const uint8_t* const at = address + done;
    const Page* page =
        size <= UINT64_MAX - begin && memory.segment.contains(at) ? memory.page_at(at) : nullptr;
    if (!page)
      fail("weir_dsm_touch of %zu bytes at %p: at %p is no shared memory that is allocated", size,
           static_cast<const void*>(address), static_cast<const void*>(at));
    extent.add(page->id);
    done += page->size - static_cast<uint64_t>(at - page->program);
  }
  tapeworm.prefetch(extent, kNoNode, thread, held);
  for (UnitId unit : extent) fetch(memory.page(unit), write, thread, held);
}

Traffic Node::traffic_now() const {
  Traffic traffic = transport.traffic();
  for (int group = 0; group < 4; group++) {
    traffic.messages[group] -= traffic_before.messages[group];
    traffic.bytes[group] -= traffic_before.bytes[group];
  }
  return traffic;
}

weir_dsm_counters Node::counters_now() const {
  weir_dsm_counters now = counters.now;
  const Traffic traffic = traffic_now();
  for (int group = 0; group < 4; group++) {
    now.messages[group] = traffic.messages[group];
    now.bytes += traffic.bytes[group];
  }
  now.memory = counters.diffs + counters.twins + intervals.memory();
  return now;
}

predict::Measured Node::measured() const {
  const weir_dsm_counters now = counters_now();
  const uint64_t* messages = now.messages;
  return {0,
          {messages[0], messages[1], messages[2], messages[3]},
          now.bytes,
          now.misses,
          now.lock_nanoseconds,
          now.barrier_nanoseconds,
          now.miss_nanoseconds};
}

StreamWriter::By Node::recorded_by() const {
  if (!g_in_runtime || &g_in_runtime->node != this) return {};
  return {g_in_runtime->worker, g_in_runtime->clock.take()};
}

void Node::reset_counters() {
  counters.now = {};
  counters.done = counters.asked = {};
  counters.condition_nanoseconds = 0;
  diagnostics.was_reset = true;
  traffic_before = transport.traffic();
}

std::string Node::describe_waits() {
  return static_cast<HlrcProtocol&>(protocol(WEIR_DSM_HLRC)).describe() +
         static_cast<ScProtocol&>(protocol(WEIR_DSM_SC)).describe();
}

}  // namespace weir::dsm
