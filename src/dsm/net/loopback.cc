// Transport between nodes that are objects of one process.
//
// Problem: the protocols must be tested under a debugger and the sanitizers, by thousands of small
// runs, and in orders that a quiet machine never shows. Mechanism: each node has a queue for its
// server and one for each of its mailboxes. A queue is ordered by when a message is due: when it
// was sent, plus a random delay. A message is taken once it is due and the first in its queue.
//
// Invariants:
//   1. Of two messages from one thread to one node's server the later is due no earlier. Of two
//      that are due at the same time the one sent first is taken first. That is the order that
//      transport.h promises, and no more than it. (not checkable: it is a promise to the receiver;
//      transport_test.cc takes it)
//   2. A queue's lock is held only to put in and to take out, never while calling back. (not
//      checkable: a mutex does not say who holds it)
//   3. Delays come from the seed, the destination and a count. What threads do in between is not
//      replayed by the seed. (not checkable: it is about two runs)
#include "dsm/net/loopback.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace weir::dsm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kIdlePeriod{100};

// Which thread sends: numbers, since a thread's id may come again after it ended.
uint64_t this_sender() {
  static std::atomic<uint64_t> next{1};
  thread_local const uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// Messages on their way to one taker.
class Queue {
 public:
  void start(uint64_t seed, uint32_t delay) {
    seed_ = seed;
    delay_ = delay;
  }

  // `sender`: whose messages keep their order; 0: nobody's.
  void put(uint64_t sender, Message&& message) {
    {
      const std::lock_guard lock(mutex_);
      Clock::time_point due{};
      if (delay_) {
        due = Clock::now() + std::chrono::microseconds(mix(seed_ + ++count_ * 0x9e3779b97f4a7c15) %
                                                       (uint64_t{delay_} + 1));
        if (sender) due = last_due_[sender] = std::max(due, last_due_[sender]);
      }
      waiting_.emplace(due, std::move(message));  // behind its equals
    }
    changed_.notify_all();
  }

  // The first that is due and fits; none: the time was up, or the queue is closed.
  template <typename Fits>
  std::optional<Message> take(Fits fits, std::optional<Clock::time_point> limit) {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const auto& entry) { return fits(entry.second); });
      const bool is_late = limit && Clock::now() >= *limit;
      if (found != waiting_.end() && (!delay_ || found->first <= Clock::now())) {
        Message message = std::move(found->second);
        waiting_.erase(found);
        return message;
      }
      if (closed_ || is_late) return std::nullopt;
      std::optional<Clock::time_point> next = limit;
      if (found != waiting_.end()) next = next ? std::min(*next, found->first) : found->first;
      if (next) {
        changed_.wait_until(lock, *next);
      } else {
        changed_.wait(lock);
      }
    }
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Message> waiting_;
  std::map<uint64_t, Clock::time_point> last_due_;
  uint64_t seed_ = 0, count_ = 0;
  uint32_t delay_ = 0;
  bool closed_ = false;
};

// What all nodes share of one of them.
struct Place {
  Queue server;
  std::mutex mutex;                           // guards boxes
  std::vector<std::shared_ptr<Queue>> boxes;  // by channel; null: free
};

struct Hub {
  Hub(NodeId nodes, const LoopbackOptions& what) : options(what), places(nodes) {
    for (NodeId node = 0; node < nodes; node++)
      places[node].server.start(mix(options.seed * 65536 + node), options.delay_microseconds);
  }

  LoopbackOptions options;
  std::vector<Place> places;
};

class Loopback;

class LoopbackMailbox final : public Mailbox {
 public:
  LoopbackMailbox(Loopback& transport, std::shared_ptr<Hub> hub, NodeId node, uint16_t channel,
                  std::shared_ptr<Queue> queue)
      : transport_(transport),
        hub_(std::move(hub)),
        node_(node),
        channel_(channel),
        queue_(std::move(queue)) {}
  ~LoopbackMailbox() override {
    const std::lock_guard lock(hub_->places[node_].mutex);
    hub_->places[node_].boxes[channel_] = nullptr;
  }

  uint32_t ask(NodeId to, Message&& request) override;
  ReplyTo address() override {
    if (!++last_ticket_) ++last_ticket_;
    return {.node = static_cast<uint16_t>(node_), .channel = channel_, .ticket = last_ticket_};
  }
  Message wait(uint32_t ticket) override {
    return *queue_->take(
        [ticket](const Message& message) { return message.header.reply_to.ticket == ticket; },
        std::nullopt);
  }

 private:
  Loopback& transport_;
  std::shared_ptr<Hub> hub_;
  NodeId node_;
  uint16_t channel_;
  std::shared_ptr<Queue> queue_;
  uint32_t last_ticket_ = 0;
};

class Loopback final : public Transport {
 public:
  Loopback(std::shared_ptr<Hub> hub, NodeId node) : hub_(std::move(hub)), node_(node) {}
  ~Loopback() override { stop(); }

  NodeId node() const override { return node_; }
  NodeId nodes() const override { return static_cast<NodeId>(hub_->places.size()); }

  std::unique_ptr<Mailbox> mailbox() override {
    Place& place = hub_->places[node_];
    const std::lock_guard lock(place.mutex);
    auto free = std::find(place.boxes.begin(), place.boxes.end(), nullptr);
    if (free == place.boxes.end()) free = place.boxes.insert(free, nullptr);
    const auto channel = static_cast<uint16_t>(free - place.boxes.begin());
    *free = std::make_shared<Queue>();
    (*free)->start(mix(hub_->options.seed * 65536 + node_) + channel,
                   hub_->options.delay_microseconds);
    return std::make_unique<LoopbackMailbox>(*this, hub_, node_, channel, *free);
  }

  void post(NodeId to, Message&& message) override {
    account(to, message);
    hub_->places[to].server.put(this_sender(), std::move(message));
  }

  void reply(const ReplyTo& to, Message&& message) override {
    if (!to.ticket) return;
    message.header.reply_to = to;
    account(to.node, message);
    Place& place = hub_->places[to.node];
    std::shared_ptr<Queue> box;
    {
      const std::lock_guard lock(place.mutex);
      if (to.channel < place.boxes.size()) box = place.boxes[to.channel];
    }
    if (box) box->put(0, std::move(message));
  }

  void serve(std::function<void(Message&&)> receive, std::function<void()> idle) override {
    server_ = std::thread([this, receive = std::move(receive), idle = std::move(idle)] {
      Clock::time_point next_idle = Clock::now() + kIdlePeriod;
      while (!stopping_.load(
          std::memory_order_acquire)) {  // what stop() saw is seen by what runs after
        std::optional<Message> message =
            hub_->places[node_].server.take([](const Message&) { return true; }, next_idle);
        if (message) receive(std::move(*message));
        if (Clock::now() < next_idle) continue;
        idle();
        next_idle = Clock::now() + kIdlePeriod;
      }
    });
  }

  void stop() override {
    if (!server_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    hub_->places[node_].server.close();
    server_.join();
  }

  Traffic traffic() const override {
    const std::lock_guard lock(traffic_mutex_);
    return traffic_;
  }

 private:
  void account(NodeId to, Message& message) {
    message.header.from = static_cast<uint16_t>(node_);
    message.header.size = static_cast<uint32_t>(message.body.size());
    if (to == node_) return;
    const std::lock_guard lock(traffic_mutex_);
    traffic_.messages[message.header.group & 3]++;
    traffic_.bytes[message.header.group & 3] += sizeof(Header) + message.body.size();
  }

  std::shared_ptr<Hub> hub_;
  NodeId node_;
  std::thread server_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex traffic_mutex_;
  Traffic traffic_;  // Guarded by: traffic_mutex_
};

uint32_t LoopbackMailbox::ask(NodeId to, Message&& request) {
  request.header.reply_to = address();
  const uint32_t ticket = request.header.reply_to.ticket;
  transport_.post(to, std::move(request));
  return ticket;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_loopback(NodeId nodes,
                                                      const LoopbackOptions& options) {
  auto hub = std::make_shared<Hub>(nodes, options);
  std::vector<std::unique_ptr<Transport>> transports;
  for (NodeId node = 0; node < nodes; node++)
    transports.push_back(std::make_unique<Loopback>(hub, node));
  return transports;
}

}  // namespace weir::dsm
