// The transport between processes: a server thread with a UCX worker of its own, and channels
// (ucx_channel.h) by which the program's threads send and wait.
//
// Problem: a node whose threads compute must reply within microseconds, on a machine that has more
// nodes than cores. A server that spins would take a core from threads that compute, and MPI's
// blocking calls do spin. Mechanism: the server sleeps on its worker's event descriptor, which UCX
// makes readable for shared memory as for networks. The kernel lets a thread that has slept run at
// once (thread.h). Requests go to the server's worker. Replies go directly to the worker at which
// the asking thread waits, so they wake no other thread.
//
// The server sends by its own worker. Each other thread sends by the channel that it was given at
// its first use, posts as well as requests, which keeps them in order. What a node says to itself
// does not touch UCX.
//
// Invariants:
//   1. The server's worker is used by the server's thread only. (not checkable: UCX does not say
//      which thread uses a worker)
//   2. A thread stays with its channel, and its mailboxes are of that channel. All nodes have as
//      many channels. So worker_of(ReplyTo) is computed from the number of the mailbox alone, on
//      any node. (not checkable: it is about several nodes)
//   3. Before the server sleeps it says so, and then looks at its local queue. A thread that puts
//      something there looks afterwards whether the server sleeps. (Both are sequentially
//      consistent: one of the two sees the other.) (not checkable: the order of two stores shows in
//      another thread only)
//   4. The receive functions put messages away; callbacks are called from the loop, with nothing
//      held. (not checkable: a mutex does not say who holds it)
#include "dsm/net/ucx.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "dsm/base/failure.h"
#include "dsm/net/room.h"
#include "dsm/net/ucx_channel.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kIdlePeriod{100};
constexpr int kUnsentMilliseconds = 1;
constexpr NodeId kFewNodes = 8;

// As many connections as a job may need.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

class Ucx;

class UcxMailbox final : public Mailbox {
 public:
  UcxMailbox(Ucx& transport, UcxChannel& channel, unsigned channel_number);
  ~UcxMailbox() override { channel_.close(place_); }
  uint32_t ask(NodeId to, Message&& request) override;
  ReplyTo address() override;
  Message wait(uint32_t ticket) override { return channel_.wait(box_, ticket); }

 private:
  Ucx& transport_;
  UcxChannel& channel_;
  UcxChannel::Box box_;
  unsigned place_;
  uint16_t number_;
  uint32_t last_ticket_ = 0;
};

class Ucx final : public Transport {
 public:
  Ucx(Bootstrap& bootstrap, const UcxOptions& options)
      : options_(options),
        node_(bootstrap.node()),
        nodes_(bootstrap.nodes()),
        context_(options.uses_dev_shm),
        server_(context_, [this](Message&& message) { received_.push_back(std::move(message)); }),
        wake_descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (nodes_ > UINT16_MAX) fail("%u nodes are more than %u", nodes_, UINT16_MAX);
    if (wake_descriptor_ < 0) fail("eventfd failed: %s", strerror(errno));
    options_.channels = std::clamp(options_.channels, 1u, 15u);
    for (unsigned i = 0; i < options_.channels; i++)
      channels_.push_back(
          std::make_unique<UcxChannel>(context_, options_.client_spin_microseconds));
    exchange_addresses(bootstrap);
    server_.connect(&addresses_);
    for (auto& channel : channels_) channel->worker().connect(&addresses_);
  }
  ~Ucx() override {
    stop();
    close(wake_descriptor_);
  }

  NodeId node() const override { return node_; }
  NodeId nodes() const override { return nodes_; }

  std::unique_ptr<Mailbox> mailbox() override {
    const unsigned channel = channel_of_this_thread();
    return std::make_unique<UcxMailbox>(*this, *channels_[channel], channel);
  }

  void post(NodeId to, Message&& message) override { send(to, 0, std::move(message)); }

  void reply(const ReplyTo& to, Message&& message) override {
    if (!to.ticket) return;
    message.header.reply_to = to;
    const unsigned channel = to.channel / UcxChannel::kPlaces;
    if (to.node == node_) {
      account(to.node, message);
      channels_[channel]->deliver(std::move(message));
    } else {
      send(to.node, 1 + channel, std::move(message));
    }
  }

  void serve(std::function<void(Message&&)> receive, std::function<void()> idle) override {
    receive_ = std::move(receive);
    idle_ = std::move(idle);
    // A few replies' ways, too: what UCX allocates at the first use of one may have to wait for a
    // thread that is in malloc.
    server_.reach_all(node_, nodes_ <= kFewNodes ? 1 + options_.channels : 1);
    for (auto& channel : channels_) channel->reach_all(node_);
    thread_ = start_thread("weir-dsm server", [this] { run(); });
  }

  void stop() override {
    if (!thread_.joinable()) return;
    stopping_.store(true);
    wake_server();
    thread_.join();
  }

  Traffic traffic() const override {
    Traffic answer;
    for (int group = 0; group < 4; group++) {
      answer.messages[group] = messages_[group].load(std::memory_order_relaxed);
      answer.bytes[group] = bytes_[group].load(std::memory_order_relaxed);
    }
    return answer;
  }

 private:
  void exchange_addresses(Bootstrap& bootstrap) {
    Message mine;
    mine.put(static_cast<uint32_t>(1 + channels_.size()));
    mine.put_list(server_.address());
    for (auto& channel : channels_) mine.put_list(channel->worker().address());
    for (std::vector<uint8_t>& bytes : bootstrap.allgather(mine.body)) {
      Message theirs;
      theirs.body = std::move(bytes);
      const uint32_t workers = theirs.get<uint32_t>();
      if (workers != 1 + channels_.size()) {
        fail(
            "node %zu has %u channels and this one %zu: WEIR_DSM_CHANNELS is to be the same on all",
            addresses_.size(), workers - 1, channels_.size());
      }
      std::vector<std::vector<uint8_t>> of_node(workers);
      for (auto& address : of_node) address = theirs.get_list<uint8_t>();
      if (theirs.bad() || !theirs.at_end())
        fail("node %zu is not of the same build as this one", addresses_.size());
      addresses_.push_back(std::move(of_node));
    }
  }

  // The one with the fewest mailboxes, at a thread's first use.
  unsigned channel_of_this_thread() {
    struct Place {
      uint64_t transport = 0;
      unsigned channel = 0;
    };
    thread_local Place place;
    if (place.transport != id_) {
      const auto least = std::min_element(
          channels_.begin(), channels_.end(),
          [](const auto& one, const auto& other) { return one->boxes() < other->boxes(); });
      place = {.transport = id_, .channel = static_cast<unsigned>(least - channels_.begin())};
    }
    return place.channel;
  }

  void account(NodeId to, Message& message) {
    message.header.from = static_cast<uint16_t>(node_);
    message.header.size = static_cast<uint32_t>(message.body.size());
    if (to == node_) return;
    messages_[message.header.group & 3].fetch_add(
        1, std::memory_order_relaxed);  // counters order nothing
    bytes_[message.header.group & 3].fetch_add(sizeof(Header) + message.body.size(),
                                               std::memory_order_relaxed);
  }

  // To another node, or to this one's server.
  void send(NodeId to, unsigned worker, Message&& message) {
    account(to, message);
    if (to == node_) {
      {
        const std::lock_guard lock(local_mutex_);
        local_.push_back(std::move(message));
        has_local_.store(true);
      }
      if (server_sleeps_.load()) wake_server();
    } else if (std::this_thread::get_id() ==
               server_id_.load(
                   std::memory_order_relaxed)) {  // only the server's own value can be equal
      server_.send(to, worker, std::move(message));
    } else if (!channels_[channel_of_this_thread()]->send(to, worker, std::move(message))) {
      wake_server();
    }
  }

  void wake_server() {
    const uint64_t one = 1;
    if (write(wake_descriptor_, &one, sizeof one) < 0 && errno != EAGAIN)
      fail("eventfd failed: %s", strerror(errno));
  }

  void run() {
    server_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    next_idle_ = Clock::now() + kIdlePeriod;
    const std::chrono::microseconds spin_time(options_.server_spin_microseconds);
    while (!stopping_.load()) {
      bool did = take();
      if (!did && options_.server_spin_microseconds) {
        const Clock::time_point limit = Clock::now() + spin_time;
        while (!did && Clock::now() < limit) did = take();
      }
      if (!did) sleep();
    }
  }

  // Takes in some of what is there and calls back. False: nothing was.
  bool take() {
    bool did = server_.progress();
    if (did) futile_ = 0;
    if (has_local_.load()) {
      const std::lock_guard lock(local_mutex_);
      std::move(local_.begin(), local_.end(), std::back_inserter(received_));
      local_.clear();
      has_local_.store(false);
    }
    // Further ones may arrive while it calls back: behind those that are there.
    while (!received_.empty()) {
      did = true;
      Message message = std::move(received_.front());
      received_.pop_front();
      receive_(std::move(message));
      if (server_.unsent()) server_.progress();
    }
    return did;
  }

  void sleep() {
    bool is_left = server_.unsent() != 0;
    for (auto& channel : channels_) {
      if (channel->has_unsent() && channel->drive()) is_left = true;
    }
    server_sleeps_.store(true);
    const bool is_armed = server_.arm();
    if (is_armed && !has_local_.load() && !stopping_.load()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(next_idle_ - Clock::now()).count();
      pollfd ready[] = {{server_.descriptor(), POLLIN, 0}, {wake_descriptor_, POLLIN, 0}};
      poll(ready, 2,
           is_left ? kUnsentMilliseconds : std::clamp(static_cast<int>(left) + 1, 1, 100));
      if (ready[1].revents) {
        uint64_t value;
        if (read(wake_descriptor_, &value, sizeof value) < 0 && errno != EAGAIN)
          fail("eventfd failed: %s", strerror(errno));
      }
    }
    // A message is there that cannot be taken: its sender has begun to write it and lost the
    // processor, maybe to this thread.
    futile_ = is_armed ? 0 : futile_ + 1;
    if (futile_ > 10) usleep(50);
    server_sleeps_.store(false);
    if (Clock::now() < next_idle_) return;
    idle_();
    next_idle_ = Clock::now() + kIdlePeriod;
  }

  friend class UcxMailbox;
  static inline std::atomic<uint64_t> next_id_{1};

  UcxOptions options_;
  const NodeId node_, nodes_;
  // Of this transport in the process: its address may come again.
  const uint64_t id_ = next_id_.fetch_add(1);
  UcxContext context_;
  std::deque<Message> received_;  // by the server's thread only
  UcxWorker server_;
  std::vector<std::unique_ptr<UcxChannel>> channels_;
  UcxAddresses addresses_;
  int wake_descriptor_;

  std::function<void(Message&&)> receive_;
  std::function<void()> idle_;
  std::thread thread_;
  std::atomic<std::thread::id> server_id_{};
  Clock::time_point next_idle_;
  unsigned futile_ = 0;  // attempts to sleep in a row
  std::atomic<bool> stopping_{false}, server_sleeps_{false};

  std::mutex local_mutex_;
  std::deque<Message> local_;  // to this node's server. Guarded by: local_mutex_
  std::atomic<bool> has_local_{false};

  std::atomic<uint64_t> messages_[4]{}, bytes_[4]{};
};

UcxMailbox::UcxMailbox(Ucx& transport, UcxChannel& channel, unsigned channel_number)
    : transport_(transport),
      channel_(channel),
      place_(channel.open(&box_)),
      number_(static_cast<uint16_t>(channel_number * UcxChannel::kPlaces + place_)) {}

ReplyTo UcxMailbox::address() {
  if (!++last_ticket_) ++last_ticket_;
  return {
      .node = static_cast<uint16_t>(transport_.node_), .channel = number_, .ticket = last_ticket_};
}

uint32_t UcxMailbox::ask(NodeId to, Message&& request) {
  request.header.reply_to = address();
  const uint32_t ticket = request.header.reply_to.ticket;
  transport_.post(to, std::move(request));
  return ticket;
}

}  // namespace

UcxOptions ucx_options_from_environment(UcxOptions options) {
  const auto read = [](const char* variable, unsigned& value) {
    const char* text = getenv(variable);
    if (!text || !*text) return;
    char* end = nullptr;
    const unsigned long number = strtoul(text, &end, 10);
    if (*end || number > 1000000) fail("%s is \"%s\": a number is wanted", variable, text);
    value = static_cast<unsigned>(number);
  };
  read("WEIR_DSM_CHANNELS", options.channels);
  read("WEIR_DSM_SPIN", options.client_spin_microseconds);
  read("WEIR_DSM_SERVER_SPIN", options.server_spin_microseconds);
  return options;
}

std::unique_ptr<Transport> make_ucx(Bootstrap& bootstrap, const UcxOptions& options) {
  raise_descriptor_limit();
  return std::make_unique<Ucx>(bootstrap, fit_in_dev_shm(bootstrap, options));
}

}  // namespace weir::dsm
