#include "dsm/net/loopback.h"

#include <gtest/gtest.h>

#include <thread>

namespace weir::dsm {
namespace {

// Whether the posts of two threads, the first of which sent long before the second, come the other
// way round.
bool is_overtaken(uint64_t seed) {
  const auto transports = make_loopback(2, {.seed = seed, .delay_microseconds = 20000});
  std::vector<int> got;
  std::atomic<int> count{0};
  transports[1]->serve(
      [&](Message&& message) {
        got.push_back(message.get<int>());
        count++;
      },
      [] {});
  for (const int number : {1, 2}) {
    std::thread([&, number] {
      Message message;
      message.put(number);
      transports[0]->post(1, std::move(message));
    }).join();
  }
  while (count < 2) std::this_thread::yield();
  transports[1]->stop();
  return got[0] == 2;
}

TEST(Loopback, DelaysLetThreadsOvertakeEachOther) {
  int overtaken = 0;
  for (uint64_t seed = 0; seed < 30; seed++) overtaken += is_overtaken(seed);
  EXPECT_GT(overtaken, 0);
  EXPECT_LT(overtaken, 30);
}

TEST(Loopback, RepliesAreLateToo) {
  const auto transports = make_loopback(2, {.seed = 1, .delay_microseconds = 20000});
  const auto mailbox = transports[0]->mailbox();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; i++) {
    const ReplyTo to = mailbox->address();
    transports[1]->reply(to, Message());
    mailbox->wait(to.ticket);
  }
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace weir::dsm
