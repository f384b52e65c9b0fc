// Each node waits for its own threads and for its children in the tree, then tells its parent; what
// node 0 has gathered goes down again. A part holds the intervals that its nodes made since the
// last barrier (each node sends its own, so each travels once up; of others' it sends those that
// they made behind their arrival, intervals.cc), what they bring, and how many pushes they have
// sent to whom.
//
// A leaf's message up names the thread that waits, and its parent's release goes straight to it;
// only inner nodes' servers take part in the way down.
//
// Invariants:
//   1. A barrier is one for all nodes: rounds follow each other, and the number that the program
//      gives is only compared. A node that calls another number than the others is told so, and the
//      job ends. (checked in check_name)
//   2. After the release all nodes know the same intervals: everybody_knows() is where their own
//      begin next time. (not checkable: what the others know is known by their messages only)
//   3. A child's arrival for the next round cannot be here before this node has passed the last one
//      down to it. (checked in on_message)
#include "dsm/node/barrier.h"

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

std::string name_of_barrier(uint32_t barrier) {
  static constexpr const char* kOwn[] = {
      "the end (weir_dsm_finish)", "weir_dsm_share", "weir_dsm_counters_total",
      "a garbage collection",      "a checkpoint",   "the end of the search for races"};
  static constexpr const char* kOperations[] = {"sum", "minimum", "maximum", "?"};
  if (barrier < kReductions) return "barrier " + std::to_string(barrier);
  if (barrier >= kFinish)
    return barrier - kFinish < std::size(kOwn) ? kOwn[barrier - kFinish]
                                               : "barrier " + std::to_string(barrier);
  return "a reduction (" + std::string(kOperations[barrier >> 12 & 3]) + " of " +
         std::to_string(barrier & 0x7ff) + (barrier & 0x800 ? " doubles)" : " integers)");
}

Barrier::Barrier(Node& node) : node_(node), everybody_(node.nodes()) {}

NodeId Barrier::nodes_() const { return node_.nodes(); }
NodeId Barrier::first_child() const { return node_.me() * node_.settings.tree + 1; }
NodeId Barrier::parent() const { return (node_.me() - 1) / node_.settings.tree; }
uint32_t Barrier::child_count() const {
  const NodeId first = first_child();
  return first >= nodes_() ? 0 : std::min<uint32_t>(node_.settings.tree, nodes_() - first);
}

void Barrier::check_name(uint32_t barrier, NodeId of) {
  if (named_by_ == kNoNode) {
    name_ = barrier;
    named_by_ = of;
  } else if (name_ != barrier) {  // invariant 1 of barrier.cc
    const char* another = of == named_by_ ? "another thread of " : "";
    fail("node %u waits at %s while %snode %u waits at %s", named_by_,
         name_of_barrier(name_).c_str(), another, of, name_of_barrier(barrier).c_str());
  }
}

std::shared_ptr<const Barrier::Values> Barrier::arrive(uint32_t barrier, std::vector<uint8_t> value,
                                                       bool collective, Thread& thread,
                                                       std::unique_lock<std::mutex>& held) {
  node_.end_accesses(thread);
  const Span waits(node_, Doing::kBarrier, barrier, &node_.counters.now.barrier_nanoseconds);
  if (passes_)
    fail(
        "a thread comes to %s while another of node %u is in a barrier or collective call for the "
        "whole node",
        name_of_barrier(barrier).c_str(), node_.me());
  check_name(barrier, node_.me());
  if (!ended_.empty() && !collective) miss(ended_.front(), thread.worker);
  local_.emplace_back(thread.worker, std::move(value));
  const unsigned threads = collective ? 1 : node_.threads;
  const uint32_t round = passed_;
  node_.record(&StreamWriter::arrive, 0, local_.back().second.size());
  if (++here_ < threads) {
    while (passed_ == round) node_.changed.wait(held);
    node_.record(predict::EventKind::kLeave);
    return result_;
  }
  passes_ = true;
  Message down = pass(barrier, thread, held);
  node_.record(predict::EventKind::kLeave);
  auto values = std::make_shared<Values>();
  std::vector<std::pair<NodeId, Values>> by_node;
  for (uint32_t count = down.get<uint32_t>(); count > 0 && !down.bad(); count--) {
    by_node.emplace_back(down.get<uint16_t>(), Values());
    for (uint32_t workers = down.get<uint16_t>(); workers > 0; workers--)
      by_node.back().second.push_back(down.get_list<uint8_t>());
  }
  std::sort(by_node.begin(), by_node.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  if (down.bad() || by_node.size() != nodes_())
    fail("a damaged release of %s", name_of_barrier(barrier).c_str());
  for (NodeId number = 0; auto& [node, its] : by_node) {
    if (node != number++ || (collective && its.size() != 1))
      fail("a damaged release of %s", name_of_barrier(barrier).c_str());
    for (auto& bytes : its) values->push_back(std::move(bytes));
  }
  node_.tapeworm.after_barrier();
  node_.checker.compare(thread, held);
  node_.collector.after_barrier(barrier == kFinish, memory_, begun_, held);
  here_ = 0;
  passes_ = false;
  result_ = values;
  passed_++;
  node_.changed.notify_all();
  return values;
}

void Barrier::miss(unsigned ended, unsigned waiting) const {
  const unsigned first = node_.me() * node_.threads;
  fail("worker %u of node %u waits at %s, and worker %u has ended without it", first + waiting,
       node_.me(), name_of_barrier(name_).c_str(), first + ended);
}

void Barrier::worker_ends(unsigned worker) {
  if (here_ > 0 && !passes_) miss(worker, local_.front().first);
  ended_.push_back(worker);
}

// The nodes' part: all threads of this one are here. Answers the release, read up to the values.
Message Barrier::pass(uint32_t barrier, Thread& thread, std::unique_lock<std::mutex>& held) {
  node_.tapeworm.before_barrier(barrier);
  node_.close_interval(true);
  check_name(barrier, node_.me());
  Part& part = mine_;
  part = {};
  part.from = node_.me();
  part.memory = node_.counters.diffs + node_.intervals.memory();
  part.interval_count = node_.intervals.put_arrival(everybody_, part.intervals);
  part.value_nodes = 1;
  part.values.put(static_cast<uint16_t>(node_.me()));
  part.values.put(static_cast<uint16_t>(local_.size()));
  std::sort(local_.begin(), local_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [worker, bytes] : local_) part.values.put_list(bytes);
  local_.clear();
  part.pushes.resize(nodes_());
  node_.tapeworm.add_to_barrier(part.pushes, part.advice);
  part.for_all = node_.tapeworm.take_for_all();
  if (node_.stream && part.for_all.count > 0)
    node_.record(&StreamWriter::push, predict::kWithBarrier,
                 predict::without_bytes(part.for_all.units), part.for_all.diffs.body.size());
  waiter_ = thread.mailbox->address();
  self_ = true;
  const ReplyTo waiter = waiter_;
  if (node_.me() != 0 && child_count() == 0) thread.diagnostics.asks(parent()) = waiter.ticket;
  up_or_down();
  held.unlock();
  Message down = thread.mailbox->wait(waiter.ticket);
  held.lock();

  begun_ = down.get<uint32_t>();
  memory_ = down.get<uint64_t>();
  const std::vector<uint32_t> pushes = down.get_list<uint32_t>();
  if (pushes.size() != nodes_()) fail("a damaged release of %s", name_of_barrier(barrier).c_str());
  node_.tapeworm.before_barrier_release(pushes[node_.me()], down.get_list<uint8_t>(), held);
  node_.tapeworm.keep_of_all(down);
  // Not what this node knows: another thread of it may have learned more meanwhile, where one
  // thread of each node is here.
  node_.incorporate(down, &everybody_);
  round_++;
  node_.changed.notify_all();
  node_.checker.synchronize(Synchronization::kBarrier, barrier);
  node_.intervals.order_after(node_.intervals.known());
  return down;
}

void Barrier::put_part(const Part& part, Message& message) const {
  message.put(part.memory);
  message.put_list(part.pushes);
  message.put_list(part.advice.body);
  message.put(part.for_all.count);
  message.put_bytes(part.for_all.diffs.body.data(), part.for_all.diffs.body.size());
  message.put(part.interval_count);
  message.put_bytes(part.intervals.body.data(), part.intervals.body.size());
  message.put(part.value_nodes);
  message.put_bytes(part.values.body.data(), part.values.body.size());
}

// All here: one part of them goes up, or at the root, down.
void Barrier::up_or_down() {
  if (!self_ || parts_.size() < child_count()) return;
  Part all = std::move(mine_);
  const auto append = [](Message& to, const Message& from) {
    to.put_bytes(from.body.data(), from.body.size());
  };
  for (Part& part : parts_) {
    all.memory += part.memory;
    all.interval_count += part.interval_count;
    append(all.intervals, part.intervals);
    for (NodeId node = 0; node < nodes_(); node++) all.pushes[node] += part.pushes[node];
    all.value_nodes += part.value_nodes;
    append(all.values, part.values);
    append(all.advice, part.advice);
    all.for_all.count += part.for_all.count;
    append(all.for_all.diffs, part.for_all.diffs);
  }
  self_ = false;
  const bool is_root = node_.me() == 0;
  Message message(static_cast<uint8_t>(is_root ? Kind::kBarrierRelease : Kind::kBarrierArrive),
                  kGroupBarrier);
  if (is_root) {
    if (name_ == kFinish) node_.collector.end_beginning();
    message.put(node_.collector.begun());
    put_part(all, message);
    named_by_ = kNoNode;
    return tell_down(message);
  }
  message.put(name_);
  message.put(named_by_);
  // The lengths let the parent take it apart without reading the intervals.
  message.put(static_cast<uint32_t>(all.for_all.diffs.body.size()));
  message.put(static_cast<uint32_t>(all.intervals.body.size()));
  message.put(static_cast<uint32_t>(all.values.body.size()));
  put_part(all, message);
  if (child_count() == 0) message.header.reply_to = waiter_;
  named_by_ = kNoNode;
  node_.tell(parent(), std::move(message));
}

void Barrier::tell_down(const Message& down) {
  for (const Part& part : parts_) {
    Message copy = down;
    if (part.reply_to.ticket) {
      copy.header.kind = static_cast<uint8_t>(Kind::kReply);
      node_.reply(part.reply_to, std::move(copy));
    } else {
      node_.tell(part.from, std::move(copy));
    }
  }
  parts_.clear();
  Message own = down;
  own.header.kind = static_cast<uint8_t>(Kind::kReply);
  node_.reply(waiter_, std::move(own));
}

void Barrier::on_message(Message&& message) {
  const NodeId from = message.header.from;
  if (static_cast<Kind>(message.header.kind) == Kind::kBarrierRelease) {
    if (node_.me() == 0 || from != parent() || !passes_ || self_)
      fail("a release of a barrier from node %u that nobody waits for", from);
    return tell_down(message);
  }
  const bool has_come = std::any_of(parts_.begin(), parts_.end(),
                                    [&](const Part& part) { return part.from == from; });
  // Invariant 3 of barrier.cc.
  if (from - first_child() >= child_count() || has_come)
    fail("node %u arrives at a barrier here, where it is not awaited", from);
  const uint32_t name = message.get<uint32_t>();
  const NodeId named_by = message.get<NodeId>();
  check_name(name, named_by);
  Part part;
  part.from = message.header.from;
  part.reply_to = message.header.reply_to;
  const uint32_t diff_bytes = message.get<uint32_t>(), interval_bytes = message.get<uint32_t>(),
                 value_bytes = message.get<uint32_t>();
  part.memory = message.get<uint64_t>();
  part.pushes = message.get_list<uint32_t>();
  part.advice.body = message.get_list<uint8_t>();
  const auto copy = [&](uint32_t size, Message& to) {
    if (const uint8_t* bytes = message.get_bytes(size)) to.put_bytes(bytes, size);
  };
  part.for_all.count = message.get<uint32_t>();
  copy(diff_bytes, part.for_all.diffs);
  part.interval_count = message.get<uint32_t>();
  copy(interval_bytes, part.intervals);
  part.value_nodes = message.get<uint32_t>();
  copy(value_bytes, part.values);
  if (message.bad() || part.pushes.size() != nodes_())
    fail("a damaged arrival of node %u at %s", part.from, name_of_barrier(name).c_str());
  parts_.push_back(std::move(part));
  up_or_down();
}

}  // namespace weir::dsm
