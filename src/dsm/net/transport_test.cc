// What transport.h promises, of both transports: those of UCX here are nodes in one process, too,
// each with workers of its own.
#include "dsm/net/transport.h"

#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <mutex>
#include <thread>

#include "dsm/net/bootstrap.h"
#include "dsm/net/loopback.h"
#include "dsm/net/ucx.h"

namespace weir::dsm {
namespace {

enum Kind : uint8_t { kNumber, kEcho, kThird, kHandedOn, kSlow };

// Nodes that are threads.
struct Meeting {
  explicit Meeting(NodeId nodes) : all(nodes), barrier(static_cast<std::ptrdiff_t>(nodes)) {}
  std::vector<std::vector<uint8_t>> all;
  std::barrier<> barrier;
};
class Together final : public Bootstrap {
 public:
  Together(Meeting& meeting, NodeId node) : meeting_(meeting), node_(node) {}
  NodeId node() const override { return node_; }
  NodeId nodes() const override { return static_cast<NodeId>(meeting_.all.size()); }
  std::vector<std::vector<uint8_t>> allgather(std::span<const uint8_t> mine) override {
    meeting_.all[node_].assign(mine.begin(), mine.end());
    barrier();
    auto answer = meeting_.all;
    barrier();
    return answer;
  }
  void barrier() override { meeting_.barrier.arrive_and_wait(); }
  void abort(int status) override { _exit(status); }
  void finish() override {}

 private:
  Meeting& meeting_;
  NodeId node_;
};

std::vector<std::unique_ptr<Transport>> make_ucx_together(NodeId nodes, const UcxOptions& options) {
  Meeting meeting(nodes);
  std::vector<std::unique_ptr<Transport>> transports(nodes);
  std::vector<std::thread> threads;
  for (NodeId node = 0; node < nodes; node++) {
    threads.emplace_back([&, node] {
      Together bootstrap(meeting, node);
      transports[node] = make_ucx(bootstrap, options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return transports;
}

struct Way {
  const char* name;
  std::vector<std::unique_ptr<Transport>> (*make)(NodeId nodes);
};
std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }

const Way kWays[] = {
    {"loopback", [](NodeId nodes) { return make_loopback(nodes); }},
    {"loopback_late",
     [](NodeId nodes) { return make_loopback(nodes, {.seed = 7, .delay_microseconds = 300}); }},
    {"ucx", [](NodeId nodes) { return make_ucx_together(nodes, {}); }},
    {"ucx_one_channel", [](NodeId nodes) { return make_ucx_together(nodes, {.channels = 1}); }},
    {"ucx_no_spinning",
     [](NodeId nodes) {
       return make_ucx_together(nodes, {.channels = 2, .client_spin_microseconds = 0});
     }},
};

std::vector<uint8_t> pattern(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; i++) bytes[i] = static_cast<uint8_t>((seed + i * 2654435761u) >> 11);
  return bytes;
}

class TransportTest : public testing::TestWithParam<Way> {
 protected:
  void start(NodeId nodes) {
    transports_ = GetParam().make(nodes);
    numbers_.resize(nodes);
    for (NodeId node = 0; node < nodes; node++) {
      transports_[node]->serve(
          [this, node](Message&& message) { receive(node, std::move(message)); },
          [this] { idle_++; });
    }
  }
  ~TransportTest() override {
    for (auto& transport : transports_) transport->stop();
  }

  Transport& at(NodeId node) { return *transports_[node]; }

  static Message echo(uint8_t kind, size_t size, uint32_t seed, NodeId third = 0) {
    Message request(kind);
    request.put(third);
    request.put(static_cast<uint32_t>(size));
    request.put(seed);
    return request;
  }

  void receive(NodeId node, Message&& message) {
    EXPECT_EQ(message.header.size, message.body.size());
    switch (message.header.kind) {
      case kNumber: {
        const uint64_t sender = message.get<uint64_t>();
        const uint32_t number = message.get<uint32_t>();
        EXPECT_EQ(++numbers_[node][sender], number);
        break;
      }
      case kEcho:
      case kSlow:
      case kHandedOn: {
        const ReplyTo to =
            message.header.kind == kHandedOn ? message.get<ReplyTo>() : message.header.reply_to;
        message.get<NodeId>();
        const uint32_t size = message.get<uint32_t>(), seed = message.get<uint32_t>();
        Message reply;
        reply.body = pattern(size, seed);
        if (message.header.kind == kSlow) {
          const std::lock_guard lock(late_mutex_);
          late_.emplace_back([this, node, to, reply = std::move(reply)]() mutable {
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            at(node).reply(to, std::move(reply));
          });
        } else {
          at(node).reply(to, std::move(reply));
        }
        break;
      }
      case kThird: {
        Message further(kHandedOn);
        further.put(message.header.reply_to);
        const NodeId third = message.get<NodeId>();
        further.put(third);
        further.put_bytes(message.get_bytes(8), 8);
        at(node).post(third, std::move(further));
        break;
      }
    }
    EXPECT_FALSE(message.bad());
  }

  void join_late() {
    const std::lock_guard lock(
        late_mutex_);  // one of them may have replied before it was put there
    for (std::thread& thread : late_) thread.join();
    late_.clear();
  }

  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::map<uint64_t, uint32_t>> numbers_;  // each by its node's server
  std::mutex late_mutex_;
  std::vector<std::thread> late_;  // Guarded by: late_mutex_; servers of several nodes
  std::atomic<unsigned> idle_{0};
};

TEST_P(TransportTest, RepliesComeWholeWhateverTheirSize) {
  start(2);
  const auto mailbox = at(0).mailbox();
  for (const size_t size : {0, 1, 64, 4096, 8192, 65536, 1 << 20, 5 << 20}) {
    for (NodeId to = 0; to < 2; to++) {
      const Message reply = mailbox->wait(mailbox->ask(to, echo(kEcho, size, 3)));
      EXPECT_EQ(reply.body, pattern(size, 3));
      EXPECT_EQ(reply.header.from, to);
    }
  }
}

TEST_P(TransportTest, LargeRequestsComeWhole) {
  start(2);
  const auto mailbox = at(0).mailbox();
  for (const size_t size : {1 << 20, 3 << 20}) {
    Message request = echo(kEcho, 64, 9);
    const std::vector<uint8_t> ballast = pattern(size, 1);
    request.put_bytes(ballast.data(), ballast.size());
    EXPECT_EQ(mailbox->wait(mailbox->ask(1, std::move(request))).body, pattern(64, 9));
  }
}

TEST_P(TransportTest, TicketsAreWaitedForInAnyOrder) {
  start(3);
  const auto mailbox = at(0).mailbox();
  std::vector<uint32_t> tickets;
  for (uint32_t i = 0; i < 60; i++) tickets.push_back(mailbox->ask(i % 3, echo(kEcho, i * 700, i)));
  for (uint32_t i = 60; i-- > 0;) EXPECT_EQ(mailbox->wait(tickets[i]).body, pattern(i * 700, i));
}

TEST_P(TransportTest, AnyNodeMayReply) {
  start(4);
  const auto mailbox = at(0).mailbox();
  for (uint32_t i = 0; i < 64; i++) {
    const NodeId asked = i % 4, third = i / 4 % 4;
    const Message reply = mailbox->wait(mailbox->ask(asked, echo(kThird, 5000, i, third)));
    EXPECT_EQ(reply.body, pattern(5000, i));
    EXPECT_EQ(reply.header.from, third);
  }
}

TEST_P(TransportTest, AThreadsMessagesKeepTheirOrderAlsoBetweenPostsAndRequests) {
  start(3);
  std::vector<std::thread> threads;
  for (uint64_t sender = 0; sender < 6; sender++) {
    threads.emplace_back([this, sender] {
      const NodeId node = sender % 3;
      const auto mailbox = at(node).mailbox();
      std::vector<uint32_t> numbers(3);
      for (unsigned i = 0; i < 300; i++) {
        for (NodeId to = 0; to < 3; to++) {
          Message number(kNumber);
          number.put(sender);
          number.put(++numbers[to]);
          if (i % 10 == 0) number.body.resize(i % 100 == 0 ? 200000 : 20000);
          at(node).post(to, std::move(number));
        }
      }
      for (NodeId to = 0; to < 3; to++) mailbox->wait(mailbox->ask(to, echo(kEcho, 1, 1)));
      // The reply to what was sent last says that all before it has been taken.
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& transport : transports_) transport->stop();
  for (NodeId node = 0; node < 3; node++) {
    for (uint64_t sender = 0; sender < 6; sender++) EXPECT_EQ(numbers_[node][sender], 300u);
  }
}

TEST_P(TransportTest, ManyThreadsWaitAtOnce) {
  start(2);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 24; thread++) {
    threads.emplace_back([this, thread] {
      const auto mailbox = at(thread % 2).mailbox();
      for (uint32_t i = 0; i < 100; i++) {
        const size_t size = i * 37 % 5000;
        EXPECT_EQ(mailbox->wait(mailbox->ask(i % 2, echo(kEcho, size, thread))).body,
                  pattern(size, thread));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(TransportTest, WaitingForLongIsPossibleAndOthersGoOn) {
  start(2);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 8; thread++) {
    threads.emplace_back([this, thread] {
      const auto mailbox = at(0).mailbox();
      for (uint32_t i = 0; i < 2; i++) {
        const uint8_t kind = thread % 2 ? kSlow : kEcho;
        EXPECT_EQ(mailbox->wait(mailbox->ask(thread / 2 % 2, echo(kind, 100, thread))).body,
                  pattern(100, thread));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  join_late();
}

TEST_P(TransportTest, ATicketWithoutARequestIsRepliedToByAnybody) {
  start(2);
  const auto mailbox = at(0).mailbox();
  const ReplyTo local = mailbox->address(), remote = mailbox->address();
  EXPECT_NE(local.ticket, remote.ticket);
  std::thread thread([&] {
    Message one, other;
    one.put(1);
    other.put(2);
    at(0).reply(local, std::move(one));
    at(1).reply(remote, std::move(other));
  });
  EXPECT_EQ(mailbox->wait(remote.ticket).get<int>(), 2);
  EXPECT_EQ(mailbox->wait(local.ticket).get<int>(), 1);
  thread.join();
}

TEST_P(TransportTest, MailboxesComeAndGo) {
  start(2);
  for (uint32_t i = 0; i < 200; i++) {
    std::thread([this, i] {
      const auto mailbox = at(0).mailbox(), other = at(0).mailbox();
      const uint32_t ticket = mailbox->ask(1, echo(kEcho, 10, i)),
                     late = other->ask(1, echo(kEcho, 20, i));
      EXPECT_EQ(other->wait(late).body, pattern(20, i));
      EXPECT_EQ(mailbox->wait(ticket).body, pattern(10, i));
    }).join();
  }
}

TEST_P(TransportTest, TheServerIsIdleNowAndThen) {
  start(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  EXPECT_GE(idle_, 3u);
}

TEST_P(TransportTest, TrafficIsWhatGoesToOthers) {
  start(2);
  const auto mailbox = at(0).mailbox();
  Message request = echo(kEcho, 500, 1);
  request.header.group = 1;
  mailbox->wait(mailbox->ask(1, std::move(request)));
  mailbox->wait(mailbox->ask(0, echo(kEcho, 500, 1)));
  EXPECT_EQ(at(0).traffic().messages[1], 1u);
  EXPECT_EQ(at(0).traffic().bytes[1], sizeof(Header) + 12);
  EXPECT_EQ(at(0).traffic().messages[3], 0u);
  EXPECT_EQ(at(1).traffic().messages[3], 1u);
  EXPECT_EQ(at(1).traffic().bytes[3], sizeof(Header) + 500);
}

INSTANTIATE_TEST_SUITE_P(Ways, TransportTest, testing::ValuesIn(kWays),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weir::dsm
