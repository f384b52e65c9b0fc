// When garbage is collected, and how the nodes' threads for it meet. collect.cc says why the steps
// are these.
//
// Messages: wish (to node 0): the number of the collection. Call (from node 0 to all): its number.
// Meeting (a request to node 0, to which all have the same reply when all are there): number of the
// collection, step. At the first step also the barrier that the node has passed last, and what it
// knows; reply: the latest of these barriers, what any node knows, and what every node knows. At
// the second step the node's own intervals in between; reply: those of all. So each interval
// travels once to node 0 and once from there to each node, however many know it already, and what
// all know does not travel.
//
// Invariants:
//   1. There is one collection at a time: node 0 calls for the next when all have come to the last
//      meeting of the one before. (checked in on_message)
//   2. Nobody leaves the last barrier while a collection is under way: node 0 calls for none any
//      more before it arrives there, so what the barrier's release says is final. (not checkable:
//      it is about several nodes)
#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/collect.h"
#include "dsm/node/node.h"
#include "dsm/protocol/hlrc.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {

Collector::Collector(Node& node) : node_(node), floor_(node.nodes()) {}

void Collector::stop() {
  {
    const std::lock_guard<std::mutex> held(node_.mutex);
    stops_ = true;
    node_.changed.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Collector::Asking::Asking(Collector& of) : of_(of), floors_(of.floors_) {
  of_.asking_[floors_ % 2]++;
}

Collector::Asking::~Asking() {
  if (--of_.asking_[floors_ % 2] == 0 && floors_ != of_.floors_) of_.node_.changed.notify_all();
}

// --- When

void Collector::consider() {
  if (node_.nodes() == 1 || node_.settings.check || asked_ > done_) return;
  const uint64_t kept = node_.counters.diffs + node_.intervals.memory();
  if (kept <= std::max(node_.settings.collect / node_.nodes(), 2 * left_)) return;
  asked_ = done_ + 1;
  Message wish(static_cast<uint8_t>(Kind::kCollectWish));
  wish.put(asked_);
  node_.tell(0, std::move(wish));
}

void Collector::after_barrier(bool is_last, uint64_t kept, uint32_t begun,
                              std::unique_lock<std::mutex>& held) {
  const bool is_called_for = kept > node_.settings.collect && !is_last;
  if (!is_called_for && !is_last) return;
  allowed_ = begun + is_called_for;  // every node finds the same
  if (is_called_for && node_.me() == 0) want(allowed_);
  node_.changed.notify_all();
  wait_for(allowed_, held);
}

void Collector::wait_for(uint32_t collections, std::unique_lock<std::mutex>& held) {
  while (done_ < collections) node_.changed.wait(held);
}

// Node 0.
void Collector::want(uint32_t number) {
  wanted_ = std::max(wanted_, std::min(number, begun_ + 1));
  if (ends_ || wanted_ <= begun_ || finished_ < begun_) return;
  begun_++;
  for (NodeId node = node_.nodes(); node-- > 0;) {
    Message call(static_cast<uint8_t>(Kind::kCollectCall));
    call.put(begun_);
    node_.tell(node, std::move(call));
  }
}

// --- Messages

void Collector::on_message(Message&& message) {
  const uint32_t number = message.get<uint32_t>();
  const NodeId from = message.header.from;
  const bool is_to_first = static_cast<Kind>(message.header.kind) != Kind::kCollectCall;
  if (message.bad() || (is_to_first ? node_.me() : from) != 0)
    fail("a damaged message from node %u about garbage", from);
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::kCollectWish: return want(number);
    case Kind::kCollectCall: {
      if (number != called_ + 1) fail("node 0 calls for garbage collection %u", number);
      called_ = number;
      if (!thread_.joinable()) thread_ = start_thread("weir-dsm gather", [this] { run(); });
      return node_.changed.notify_all();
    }
    default: break;
  }
  // Invariant 1 of collector.cc.
  if (number != begun_ || finished_ == begun_)
    fail("node %u comes to garbage collection %u, which is not now", from, number);
  on_meet(std::move(message));
}

void Collector::on_meet(Message&& message) {
  const Step step = static_cast<Step>(message.get<uint8_t>());
  Meeting& meeting = meeting_;
  meeting.here.push_back(message.header.reply_to);
  if (step == Step::kLearn) {
    meeting.round = std::max(meeting.round, message.get<uint32_t>());
    const VectorTime known = message.get_list<uint32_t>();
    if (message.bad() || known.size() != node_.nodes())
      fail("a damaged message from node %u about garbage", message.header.from);
    meeting.known.resize(node_.nodes());
    meeting.by_all.resize(node_.nodes(), ~0u);
    for (NodeId node = 0; node < known.size(); node++) {
      meeting.known[node] = std::max(meeting.known[node], known[node]);
      meeting.by_all[node] = std::min(meeting.by_all[node], known[node]);
    }
  } else if (step == Step::kIntervals) {
    meeting.count += message.get<uint32_t>();
    const std::vector<uint8_t> intervals = message.get_list<uint8_t>();
    if (message.bad()) fail("a damaged message from node %u about garbage", message.header.from);
    meeting.intervals.put_bytes(intervals.data(), intervals.size());
  }
  if (meeting.here.size() < node_.nodes()) return;
  const Meeting all = std::exchange(meeting, {});
  if (step == Step::kForget) finished_ = begun_;
  for (const ReplyTo& to : all.here) {
    Message reply(static_cast<uint8_t>(Kind::kReply));
    if (step == Step::kLearn) {
      reply.put(all.round);
      reply.put_list(all.known);
      reply.put_list(all.by_all);
    } else if (step == Step::kIntervals) {
      reply.put(all.count);
      reply.put_bytes(all.intervals.body.data(), all.intervals.body.size());
    }
    node_.reply(to, std::move(reply));
  }
  if (step == Step::kForget) want(wanted_);
}

// --- The thread

void Collector::run() {
  Thread thread(node_, 0, Thread::Role::kCollector);
  std::unique_lock<std::mutex> held(node_.mutex);
  for (;;) {
    while (!stops_ && done_ == called_) node_.changed.wait(held);
    if (done_ == called_) break;
    while (node_.settings.check && allowed_ <= done_ && !stops_) node_.changed.wait(held);
    is_collecting_ = true;
    collect(thread, held);
    is_collecting_ = false;
    left_ = node_.counters.diffs + node_.intervals.memory();
    done_++;
    node_.changed.notify_all();
  }
}

void Collector::collect(Thread& thread, std::unique_lock<std::mutex>& held) {
  const Span span(node_, Doing::kCollect);
  auto& lrc = static_cast<LrcProtocol&>(node_.protocol(WEIR_DSM_LRC));
  auto& hlrc = static_cast<HlrcProtocol&>(node_.protocol(WEIR_DSM_HLRC));
  Message bounds = meet(Step::kLearn, thread, held);
  const uint32_t round = bounds.get<uint32_t>();
  const VectorTime upto = bounds.get_list<uint32_t>(), by_all = bounds.get_list<uint32_t>();
  if (bounds.bad() || upto.size() != node_.nodes() || by_all.size() != node_.nodes())
    fail("a damaged reply about garbage");
  Message own(0);
  const uint32_t count = node_.intervals.put_own(by_all[node_.me()], upto[node_.me()], own);
  Message all = meet(Step::kIntervals, thread, held, count, &own);
  told_ += all.get<uint32_t>();
  all.rewind();
  // What others have sent since a barrier whose release is still on its way here.
  while (node_.barrier.round() < round) node_.changed.wait(held);
  node_.incorporate(all);
  lrc.make_homes_current(upto, thread, held);
  hlrc.make_homes_current(upto, thread, held);
  meet(Step::kCurrent, thread, held);
  raise_floor(upto, held);
  meet(Step::kForget, thread, held);
  node_.barrier.learn(upto);
  lrc.forget(upto);
  hlrc.forget(upto);
  node_.intervals.forget(upto);
  node_.tapeworm.forget();
}

Message Collector::meet(Step step, Thread& thread, std::unique_lock<std::mutex>& held,
                        uint32_t count, const Message* intervals) {
  Message message(static_cast<uint8_t>(Kind::kCollectMeet));
  message.put(done_ + 1);
  message.put(static_cast<uint8_t>(step));
  if (step == Step::kLearn) {
    node_.close_interval();
    message.put(node_.barrier.round());
    message.put_list(node_.intervals.known());
  } else if (step == Step::kIntervals) {
    message.put(count);
    message.put_list(intervals->body);
  }
  return node_.ask(0, std::move(message), thread, held);
}

// The next collection begins after this one's last meeting, so there are never requests of more
// than two floors.
void Collector::raise_floor(const VectorTime& upto, std::unique_lock<std::mutex>& held) {
  static_cast<LrcProtocol&>(node_.protocol(WEIR_DSM_LRC)).settle(upto);
  static_cast<HlrcProtocol&>(node_.protocol(WEIR_DSM_HLRC)).settle(upto);
  floor_ = upto;
  const uint32_t before = floors_++ % 2;
  while (asking_[before] > 0) node_.changed.wait(held);
}

}  // namespace weir::dsm
