// The public tapes over nodes in one process: what is recorded, what is missing and new, what
// travels, and that data which came makes no miss.
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "dsm/node/test_cluster.h"
#include "weir/tape.hpp"

namespace weir::dsm {
namespace {

class Cluster : public TestCluster {
 public:
  explicit Cluster(NodeId nodes, weir_dsm_protocol protocol = WEIR_DSM_LRC, uint32_t delay = 0)
      : TestCluster(nodes, settings_of(protocol), {.delay_microseconds = delay}) {}
  // body(node, memory): `memory` is `pages` pages, the same ones for all.
  void run(unsigned pages, const std::function<void(unsigned, uint8_t*)>& body) {
    std::atomic<uint64_t> offset{0};
    TestCluster::run([&](unsigned me) {
      if (me == 0)
        offset =
            static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(pages * 4096)) - view(0, 0));
      weir_dsm_barrier(1000);
      body(me, view(me, offset));
      weir_dsm_barrier(1001);
    });
  }

 private:
  static Settings settings_of(weir_dsm_protocol protocol) {
    Settings settings;
    settings.size = 16 << 20;
    settings.protocol = protocol;
    return settings;
  }
};

uint64_t misses() {
  weir_dsm_counters counters;
  weir_dsm_counters_get(&counters);
  return counters.misses;
}

Extent pages(const uint8_t* memory, unsigned first, unsigned count) {
  return Extent(memory + first * 4096, count * 4096);
}

class EachProtocol : public testing::TestWithParam<weir_dsm_protocol> {};
class EachLazy : public testing::TestWithParam<weir_dsm_protocol> {};
INSTANTIATE_TEST_SUITE_P(All, EachProtocol,
                         testing::Values(WEIR_DSM_LRC, WEIR_DSM_HLRC, WEIR_DSM_SC));
INSTANTIATE_TEST_SUITE_P(All, EachLazy, testing::Values(WEIR_DSM_LRC, WEIR_DSM_HLRC));

TEST(Extents, AreSetsOfWhatLiesAtAnAddress) {
  Cluster cluster(1);
  cluster.run(8, [](unsigned, uint8_t* memory) {
    Extent one(memory + 4000, 200);
    EXPECT_EQ(one.size(), 2u);
    EXPECT_TRUE(one.contains(memory) && one.contains(memory + 8191));
    EXPECT_FALSE(one.contains(memory + 8192));
    EXPECT_FALSE(one.contains(&one));
    EXPECT_TRUE(Extent(&one, 100).empty());
    EXPECT_EQ(Extent(memory, ~size_t{0}).size(), 8u);
    const Extent all = pages(memory, 0, 8), rest = all - one;
    EXPECT_EQ(rest.size(), 6u);
    EXPECT_TRUE((rest & one).empty());
    EXPECT_EQ(rest + one, all);
    EXPECT_EQ(all.ranges().size(), 1u);
    Extent copy;
    const auto bytes = rest.bytes();
    EXPECT_TRUE(copy.from_bytes(bytes.data(), bytes.size()));
    EXPECT_EQ(copy, rest);
    EXPECT_FALSE(copy.from_bytes(bytes.data(), bytes.size() - 1));
    EXPECT_EQ(copy, rest);
    uint64_t count = 0;
    all.for_each([&](uint32_t unit) { count += rest.contains(unit); });
    EXPECT_EQ(count, 6u);
    one = std::move(copy);
    EXPECT_EQ(one, rest);
    one.clear();
    EXPECT_TRUE(one.empty());
  });
}

TEST(Tapes, AreSetsThatCanBeStored) {
  Tape tape;
  for (uint32_t interval = 1; interval <= 10; interval++)
    tape.add({Tape::kWrite, interval % 2, interval, 100 + interval});
  Extent units;
  units.add_range(50, 60);
  tape.add(Tape::kRead, 1, 3, units);
  EXPECT_EQ(tape.size(), 21u);
  EXPECT_EQ(tape.of_kind(Tape::kRead).flatten(), units);
  EXPECT_EQ(tape.of_node(1).size(), 16u);
  EXPECT_EQ(tape.flatten_by_node().size(), 2u);
  EXPECT_EQ(tape.known_at({4, 3}) + tape.unknown_at({4, 3}), tape);
  EXPECT_EQ(tape + units, tape.cross(units));
  EXPECT_EQ((tape - units) + tape.cross(units), tape);
  EXPECT_TRUE((tape - tape).empty());
  const std::string path = "tape_api_test." + std::to_string(getpid());
  ASSERT_EQ(tape.store(path), "");
  Tape again;
  ASSERT_EQ(again.reload(path), "");
  EXPECT_EQ(again, tape);
  unlink(path.c_str());
  EXPECT_NE(again.reload(path), "");
  EXPECT_EQ(again, tape);
  const auto bytes = tape.bytes();
  Tape third;
  EXPECT_TRUE(third.from_bytes(bytes.data(), bytes.size()));
  EXPECT_EQ(third, tape);
  uint64_t events = 0;
  third.for_each([&](const Tape::Event& event) { events += event.kind == Tape::kWrite; });
  EXPECT_EQ(events, 10u);
}

TEST_P(EachProtocol, WritesAndReadsAreRecorded) {
  Cluster cluster(2, GetParam());
  cluster.run(8, [](unsigned me, uint8_t* memory) {
    if (me == 0) {
      memory[3 * 4096] = 1;
      Tape tape, second;
      tape.start_writing();
      tape.start_reading();
      second.start_writing();
      EXPECT_TRUE(tape.records());
      memory[0] = memory[4096] = 1;
      static_cast<void>(*static_cast<volatile uint8_t*>(memory + 2 * 4096));
      const Tape first = tape.take();
      EXPECT_EQ(first.flatten(Tape::kWrite), pages(memory, 0, 2));
      EXPECT_TRUE(first.flatten(Tape::kRead).contains(memory + 2 * 4096));
      EXPECT_EQ(first.of_node(0), first);
      EXPECT_TRUE(tape.empty());
      memory[5 * 4096] = 1;
      Tape moved = std::move(tape);
      memory[6 * 4096] = 1;
      moved.stop();
      EXPECT_FALSE(moved.records());
      memory[7 * 4096] = 1;
      weir_dsm_barrier(0);
      EXPECT_EQ(moved.flatten(Tape::kWrite), pages(memory, 5, 2));
      second.stop();
      EXPECT_EQ(second.flatten(Tape::kWrite), pages(memory, 0, 2) + pages(memory, 5, 3));
    } else {
      weir_dsm_barrier(0);
    }
  });
}

TEST_P(EachLazy, ExactWritesAreSeenAnewInEachInterval) {
  Cluster cluster(2, GetParam());
  cluster.run(4, [](unsigned me, uint8_t* memory) {
    Tape tape;
    if (me == 0) tape.start_writing();
    for (unsigned i = 0; i < 6; i++) {
      if (me == 0) {
        memory[i % 2 * 4096] = static_cast<uint8_t>(i + 1);
        EXPECT_EQ(tape.take().flatten(), pages(memory, i % 2, 1)) << i;
      }
      weir_dsm_barrier(0);
    }
  });
}

TEST_P(EachLazy, ThoroughReadingSeesWhatIsReadableAlready) {
  Cluster cluster(2, GetParam());
  cluster.run(4, [](unsigned me, uint8_t* memory) {
    if (me == 0) {
      const volatile uint8_t* seen = memory;
      static_cast<void>(seen[0]), static_cast<void>(seen[4096]);
      Tape tape;
      tape.start_reading(true);
      const uint64_t before = misses();
      static_cast<void>(seen[4096]);
      EXPECT_EQ(tape.take().flatten(), pages(memory, 1, 1));
      EXPECT_EQ(misses(), before);
    }
    weir_dsm_barrier(0);
  });
}

TEST_P(EachLazy, RequestsAreRecordedAndMissingUpdatesKnown) {
  Cluster cluster(2, GetParam());
  cluster.run(8, [](unsigned me, uint8_t* memory) {
    Tape requests;
    if (me == 0) {
      requests.start_requesting();
      memory[0] = memory[4096] = 1;
    }
    weir_dsm_barrier(0);
    if (me == 1) {
      const Extent both = pages(memory, 0, 2);
      const Tape missing = missing_data_tape(pages(memory, 0, 8));
      EXPECT_EQ(missing.flatten(), both);
      EXPECT_EQ(missing.of_node(0).of_kind(Tape::kWrite), missing);
      EXPECT_EQ(new_data_tape(both), missing.cross(both));
      EXPECT_TRUE(missing.unknown_at(vector_time()).empty());
      EXPECT_EQ(memory[0], 1);
      EXPECT_EQ(missing_data_tape(both).flatten(), pages(memory, 1, 1));
      const uint64_t before = misses();
      fetch(missing);
      EXPECT_EQ(memory[4096], 1);
      EXPECT_EQ(misses(), before);
      EXPECT_TRUE(missing_data_tape(both).empty());
    }
    weir_dsm_barrier(1);
    if (me == 0) {
      const auto asked = requests.take().flatten_by_node();
      if (GetParam() == WEIR_DSM_LRC) { EXPECT_EQ(asked.at(1), pages(memory, 0, 2)); }
    }
  });
}

TEST_P(EachLazy, SentUpdatesMakeNoMiss) {
  Cluster cluster(3, GetParam(), 50);
  cluster.run(4, [](unsigned me, uint8_t* memory) {
    for (unsigned i = 1; i < 6; i++) {
      if (me == 0) {
        Tape writes;
        writes.start_writing();
        for (unsigned page = 0; page < 4; page++) memory[page * 4096 + i] = static_cast<uint8_t>(i);
        writes.stop();
        i % 2 ? send_all(writes) : (send(1, writes), send(2, writes));
      }
      weir_dsm_barrier(0);
      const uint64_t before = misses();
      for (unsigned page = 0; page < 4; page++) EXPECT_EQ(memory[page * 4096 + i], i);
      EXPECT_EQ(misses(), before) << "node " << me << ", iteration " << i;
      weir_dsm_barrier(1);
    }
  });
}

TEST(Tapes, NonsenseIsSentToNobody) {
  Cluster cluster(2);
  cluster.run(4, [](unsigned me, uint8_t* memory) {
    Tape tape;
    for (const uint32_t unit : {0u, 1u, 5000u, 0x8000'0000u, 0xffff'ffffu}) {
      for (const uint32_t node : {0u, 1u, 77u}) {
        for (const uint32_t interval : {0u, 1u, 0xffff'ffffu})
          tape.add({Tape::kWrite, node, interval, unit});
      }
    }
    if (me == 0) memory[0] = 1;
    send_all(tape);
    fetch(tape);
    Parcel parcel;
    tape.add_data(parcel);
    post(1 - me, std::move(parcel));
    EXPECT_TRUE(parcel.empty());
    weir_dsm_barrier(0);
    EXPECT_EQ(memory[0], 1);
  });
}

// The replay barrier that tape.hpp shows.
TEST_P(EachLazy, OwnReplayBarrierEndsMisses) {
  constexpr unsigned kNodes = 4;
  Cluster cluster(kNodes, GetParam(), 50);
  std::atomic<uint64_t> late{0}, early{0};
  cluster.run(kNodes * 2, [&](unsigned me, uint8_t* memory) {
    Tape writes, requests;
    std::map<unsigned, Extent> asked;
    writes.start_writing(), requests.start_requesting();
    const auto my_barrier = [&](uint32_t barrier) {
      for (const auto& [node, extent] : requests.take().flatten_by_node()) asked[node] += extent;
      const Tape written = writes.take();
      for (const auto& [node, extent] : asked) send(node, written & extent);
      weir_dsm_barrier(barrier);
    };
    for (unsigned i = 1; i <= 10; i++) {
      for (unsigned page = 0; page < 2; page++) {
        for (unsigned at = 0; at < 4096; at += 256)
          memory[(me * 2 + page) * 4096 + at] = static_cast<uint8_t>(i * 10 + me);
      }
      my_barrier(0);
      const uint64_t before = misses();
      const unsigned other = (me + 1) % kNodes;
      for (unsigned page = 0; page < 2; page++) {
        for (unsigned at = 0; at < 4096; at += 256)
          ASSERT_EQ(memory[(other * 2 + page) * 4096 + at], static_cast<uint8_t>(i * 10 + other));
      }
      (i <= 3 ? early : late) += misses() - before;
      my_barrier(1);
    }
  });
  if (GetParam() == WEIR_DSM_LRC) {
    EXPECT_GE(early, kNodes * 2u);
    EXPECT_EQ(late, 0u);
  } else {
    EXPECT_LE(late, early * 10);  // who is asked is the home, which may not be who writes
  }
}

TEST_P(EachLazy, ParcelsBringEntriesAndUpdates) {
  struct Mail : Hooks {
    void received(Parcel& parcel, unsigned from) override {
      std::vector<uint8_t> bytes;
      EXPECT_TRUE(parcel.retrieve(7, &bytes));
      EXPECT_EQ(bytes, (std::vector<uint8_t>{1, 2, 3}));
      EXPECT_FALSE(parcel.retrieve(7, &bytes));
      EXPECT_FALSE(parcel.retrieve(9, &wrong));
      EXPECT_TRUE(parcel.retrieve(8, &sent));
      EXPECT_EQ(parcel.updates(), 2u);
      updates = data.read_data(parcel);
      EXPECT_TRUE(parcel.retrieve(9, &extent));
      EXPECT_TRUE(parcel.empty());
      sender = from;
      is_here = true;
    }
    Tape sent, wrong, data;
    Extent extent;
    size_t updates = 0;
    unsigned sender = 99;
    std::atomic<bool> is_here{false};
  };
  Mail mail;
  Cluster cluster(2, GetParam());
  cluster.run(4, [&](unsigned me, uint8_t* memory) {
    if (me == 1) install(mail);
    weir_dsm_barrier(0);
    Tape writes;
    if (me == 0) {
      writes.start_writing();
      memory[0] = memory[4096] = 5;
      writes.stop();
    }
    weir_dsm_barrier(1);
    if (me == 0) {
      Parcel parcel;
      parcel.add(7, "\1\2\3", 3);
      parcel.add(8, writes);
      parcel.add(9, pages(memory, 2, 2));
      EXPECT_EQ(writes.add_data(parcel), 2u);
      const Parcel copy = parcel;
      EXPECT_EQ(copy.size(), parcel.size());
      post(1, std::move(parcel));
    } else {
      while (!mail.is_here) std::this_thread::yield();
      EXPECT_EQ(mail.updates, 2u);
      EXPECT_EQ(mail.sender, 0u);
      EXPECT_EQ(mail.extent, pages(memory, 2, 2));
      EXPECT_EQ(mail.sent.flatten(), mail.data.flatten());
      EXPECT_TRUE(missing_data_tape(pages(memory, 0, 4)).empty());
      const uint64_t before = misses();
      EXPECT_EQ(memory[0] + memory[4096], 10);
      EXPECT_EQ(misses(), before);
    }
    weir_dsm_barrier(2);
    if (me == 1) remove(mail);
  });
}

// The paper's auto lock (figure 5), of hooks.
struct MyAutoLock : Hooks {
  void lock_acquired(uint32_t) override { writes.start_writing(), held++; }
  void lock_release(uint32_t) override {
    writes.stop();
    const Extent now = writes.take().flatten();
    if (!now.empty()) last = now;
  }
  void add_to_lock_request(Parcel& request, uint32_t) override {
    request.add(1, last);
    request.add(2, missing_data_tape(last));
  }
  void read_from_lock_request(Parcel& request, uint32_t, unsigned) override {
    read = request.retrieve(1, &theirs) && request.retrieve(2, &missing);
  }
  void add_to_lock_grant(Parcel&, Parcel& grant, uint32_t, unsigned) override {
    if (read) (missing + new_data_tape(theirs)).add_data(grant);
  }
  void read_from_lock_grant(Parcel& grant, uint32_t) override { updates += came.read_data(grant); }

  Tape writes, missing, came;
  Extent last, theirs;
  bool read = false;
  size_t updates = 0;
  unsigned held = 0;
};

TEST_P(EachLazy, OwnAutoLockBringsItsData) {
  constexpr unsigned kNodes = 3, kRounds = 12;
  Cluster cluster(kNodes, GetParam(), 30);
  std::atomic<uint64_t> late{0}, updates{0};
  cluster.run(4, [&](unsigned me, uint8_t* memory) {
    MyAutoLock lock;
    install(lock);
    weir_dsm_barrier(0);
    for (unsigned i = 0; i < kRounds; i++) {
      if (i % kNodes == me) {
        const uint64_t before = misses();
        weir_dsm_lock(5);
        for (unsigned page = 0; page < 3; page++) {
          EXPECT_EQ(memory[page * 4096], i);
          memory[page * 4096]++;
        }
        weir_dsm_unlock(5);
        if (i >= 2 * kNodes) late += misses() - before;
      }
      weir_dsm_barrier(1);
    }
    EXPECT_EQ(lock.held, kRounds / kNodes);
    updates += lock.updates;
    remove(lock);
    weir_dsm_barrier(2);
  });
  EXPECT_GT(updates, 0u);
  if (GetParam() == WEIR_DSM_LRC) { EXPECT_EQ(late, 0u); }
}

TEST_P(EachLazy, FaultsRequestsAndBarriersAreTold) {
  struct Watch : Hooks {
    void fault(uint32_t unit, bool writes) override { (writes ? written : read).add(unit); }
    void page_request(Parcel& reply, uint32_t unit, unsigned asker) override {
      asked.add(unit);
      reply.add(asker, &unit, sizeof unit);
    }
    void read_from_page_reply(Parcel& reply, unsigned from) override {
      std::vector<uint8_t> bytes;
      replies += reply.retrieve(me, &bytes);
      last_from = from;
    }
    void barrier_entry(uint32_t barrier) override { entered += barrier; }
    void barrier_leave(uint32_t barrier) override { left += barrier; }
    Extent written, read, asked;
    unsigned me = 0, replies = 0, last_from = 99;
    uint32_t entered = 0, left = 0;
  };
  Cluster cluster(2, GetParam());
  cluster.run(4, [&](unsigned me, uint8_t* memory) {
    Watch watch;
    watch.me = me;
    install(watch);
    weir_dsm_barrier(3);
    if (me == 0) memory[0] = 9;
    weir_dsm_barrier(4);
    if (me == 1) { EXPECT_EQ(memory[0], 9); }
    weir_dsm_barrier(5);
    EXPECT_EQ(watch.entered, 12u);
    EXPECT_EQ(watch.left, 12u);
    if (me == 0) {
      EXPECT_EQ(watch.written, pages(memory, 0, 1));
      EXPECT_EQ(watch.asked, pages(memory, 0, 1));
    } else {
      EXPECT_EQ(watch.read, pages(memory, 0, 1));
      EXPECT_EQ(watch.replies, 1u);
      EXPECT_EQ(watch.last_from, 0u);
    }
    remove(watch);
    weir_dsm_barrier(6);
  });
}

TEST(Tapes, OutliveTheNodeThatTheyRecorded) {
  Tape tape;
  {
    Cluster cluster(1);
    cluster.run(2, [&](unsigned, uint8_t* memory) {
      tape.start_writing();
      memory[0] = 1;
    });
  }
  EXPECT_FALSE(tape.records());
  EXPECT_EQ(tape.size(), 1u);
}

}  // namespace
}  // namespace weir::dsm
