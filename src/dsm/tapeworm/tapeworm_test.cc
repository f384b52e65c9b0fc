// What Tapeworm sends, to whom, and with what: over nodes in one process.
#include <gtest/gtest.h>
#include <string.h>

#include <atomic>
#include <functional>

#include "dsm/node/test_cluster.h"
#include "weir/dsm.h"

namespace weir::dsm {
namespace {

constexpr unsigned kPage = 4096;

Settings exact_settings() {
  Settings settings;
  settings.size = 16 << 20;
  settings.statistics = true;  // what comes is seen to be touched or not
  return settings;
}

weir_dsm_counters counters() {
  weir_dsm_counters now;
  weir_dsm_counters_get(&now);
  return now;
}

// body(node, memory) on each of them; `memory` is `pages` pages of zeros that each has.
void run(NodeId nodes, unsigned pages,
         const std::function<void(unsigned, volatile uint8_t*)>& body) {
  TestCluster cluster(nodes, exact_settings());
  std::atomic<uint64_t> offset{0};
  cluster.run([&](unsigned me) {
    if (me == 0)
      offset = static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(size_t{pages} * kPage)) -
                                     cluster.view(0, 0));
    weir_dsm_barrier(1000);
    body(me, cluster.view(me, offset));
    weir_dsm_barrier(1001);
  });
}

void write(volatile uint8_t* memory, unsigned begin, unsigned end, unsigned value) {
  for (unsigned at = begin; at < end; at++) memory[at] = static_cast<uint8_t>(value + at % 7);
}

// How many misses it takes to read from `begin` to before `end`, where write() has written.
uint64_t misses_of(const volatile uint8_t* memory, unsigned begin, unsigned end, unsigned value) {
  const uint64_t before = counters().misses;
  for (unsigned at = begin; at < end; at++)
    EXPECT_EQ(memory[at], static_cast<uint8_t>(value + at % 7)) << "at " << at;
  return counters().misses - before;
}

// --- Flush

TEST(Flush, GoesWithTheBarrier) {
  run(3, 2, [](unsigned me, volatile uint8_t* memory) {
    if (me == 0) {
      weir_dsm_flush_start();
      write(memory, 0, 2 * kPage, 1);
      weir_dsm_flush_end();
    }
    weir_dsm_barrier(1);
    EXPECT_EQ(misses_of(memory, 0, 2 * kPage, 1), 0u);
    EXPECT_EQ(counters().messages[kGroupFlush], 0u);
    weir_dsm_barrier(2);
    if (me == 2) {  // a leaf's goes up first
      weir_dsm_flush_start();
      write(memory, 100, 200, 9);
      weir_dsm_flush_end();
    }
    weir_dsm_barrier(3);
    EXPECT_EQ(misses_of(memory, 100, 200, 9), 0u);
    EXPECT_EQ(counters().messages[kGroupFlush], 0u);
  });
}

TEST(Flush, GoesByItselfWhereItIsLarge) {
  run(3, 16, [](unsigned me, volatile uint8_t* memory) {
    if (me == 1) {
      weir_dsm_flush_start();
      write(memory, 0, 16 * kPage, 1);
      weir_dsm_flush_end();
      EXPECT_EQ(counters().messages[kGroupFlush], 2u);
    }
    weir_dsm_barrier(1);
    EXPECT_EQ(misses_of(memory, 0, 16 * kPage, 1), 0u);
  });
}

TEST(Flush, GoesBeforeALockDoes) {
  run(3, 1, [](unsigned me, volatile uint8_t* memory) {
    if (me == 0) {
      weir_dsm_lock(0);
      weir_dsm_flush_start();
      write(memory, 0, 64, 1);
      weir_dsm_flush_end();
      EXPECT_EQ(counters().messages[kGroupFlush], 0u);
      weir_dsm_unlock(0);
      EXPECT_EQ(counters().messages[kGroupFlush], 2u);
    }
    weir_dsm_barrier(1);
    EXPECT_EQ(misses_of(memory, 0, 64, 1), 0u);
  });
}

// --- Producers: two ranges of one producer meet in the middle of page 2

constexpr unsigned kMiddle = 2 * kPage + kPage / 2, kEnd = 5 * kPage;

void produce(volatile uint8_t* memory, unsigned begin, unsigned end, unsigned value) {
  weir_dsm_produce_start();
  write(memory, begin, end, value);
  weir_dsm_produce_end();
}

TEST(Produce, ComesWholeAndAlone) {
  run(3, 5, [](unsigned me, volatile uint8_t* memory) {
    if (me == 0) {
      produce(memory, 0, kMiddle, 1);
      produce(memory, kMiddle, kEnd, 1);
    }
    weir_dsm_barrier(1);
    if (me == 1) {
      EXPECT_EQ(misses_of(memory, 0, kMiddle, 1), 1u);
      EXPECT_EQ(misses_of(memory, 3 * kPage, kEnd, 1), 1u);
    }
    if (me == 2) {  // the page in which both lie tells by the byte
      EXPECT_EQ(misses_of(memory, kMiddle, kEnd, 1), 1u);
      EXPECT_EQ(misses_of(memory, 0, kMiddle, 1), 1u);
    }
  });
}

TEST(Produce, IsFoundThoughItsFirstBytesAreWhatTheyWere) {
  run(2, 5, [](unsigned me, volatile uint8_t* memory) {
    if (me == 0) write(memory, 0, kMiddle + 8, 1);
    weir_dsm_barrier(1);
    if (me == 0) produce(memory, kMiddle, kEnd, 1);
    weir_dsm_barrier(2);
    if (me == 1) { EXPECT_EQ(misses_of(memory, kMiddle, kEnd, 1), 1u); }
  });
}

TEST(Produce, IsNotFetchedFromWhomItWasTaken) {
  run(3, 8, [](unsigned me, volatile uint8_t* memory) {
    if (me == 0) {
      produce(memory, 0, 8 * kPage, 1);
      weir_dsm_produce_start();  // from here on nothing says that the pages might have been written
                                 // again
      weir_dsm_produce_end();
    }
    weir_dsm_barrier(1);
    if (me == 1) {
      EXPECT_EQ(misses_of(memory, 0, 8 * kPage, 1), 1u);
      write(memory, 0, 7 * kPage, 2);  // no producer of it
    }
    weir_dsm_barrier(2);
    if (me == 2) {
      const uint64_t before = counters().updates_received;
      EXPECT_EQ(misses_of(memory, 7 * kPage, 8 * kPage, 1), 1u);
      EXPECT_EQ(counters().updates_received, before);  // nothing that node 1 has written since
      EXPECT_EQ(misses_of(memory, 0, 7 * kPage, 2), 7u);
    }
  });
}

TEST(Produce, IsAskedOfTheLastWriterOfTheByte) {
  run(3, 4, [](unsigned me, volatile uint8_t* memory) {
    if (me == 0) produce(memory, 0, 4 * kPage, 1);
    weir_dsm_barrier(1);
    if (me == 1) write(memory, 0, 100, 5);  // of page 0, of which the rest is node 0's
    weir_dsm_barrier(2);
    if (me == 2) {
      EXPECT_EQ(misses_of(memory, 0, 100, 5), 1u);
      EXPECT_EQ(counters().updates_received, 0u);
    }
  });
}

// --- Replay barriers

TEST(Replay, LearnsFromOtherBarriersTheSecondTime) {
  run(2, 4, [](unsigned me, volatile uint8_t* memory) {
    for (unsigned iteration = 0; iteration < 4; iteration++) {
      // In the first iteration it is read after barrier 2 only, later after barrier 1.
      if (me == 0) write(memory, 0, 4 * kPage, iteration);
      weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC);
      if (me == 1 && iteration > 0) {
        EXPECT_EQ(misses_of(memory, 0, 4 * kPage, iteration), 0u) << iteration;
      }
      weir_dsm_barrier_replay(2, WEIR_DSM_DYNAMIC);
      if (me == 1 && iteration == 0) { EXPECT_EQ(misses_of(memory, 0, 4 * kPage, iteration), 4u); }
      weir_dsm_barrier_replay(3, WEIR_DSM_DYNAMIC);
    }
  });
}

TEST(Replay, SendsTheRestToWhoAsksForMost) {
  run(3, 16, [](unsigned me, volatile uint8_t* memory) {
    for (unsigned iteration = 0; iteration < 4; iteration++) {
      if (me == 0) write(memory, 0, 16 * kPage, iteration);
      weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC);
      // Node 1 reads most of it at first, and then all; node 2 little.
      if (me == 1) {
        EXPECT_EQ(misses_of(memory, 0, (iteration == 0 ? 12 : 16) * kPage, iteration),
                  iteration == 0 ? 12u : 0u)
            << iteration;
      }
      if (me == 2) {
        EXPECT_EQ(misses_of(memory, 0, (iteration < 3 ? 4 : 5) * kPage, iteration),
                  iteration == 0   ? 4u
                  : iteration == 3 ? 1u
                                   : 0u)
            << iteration;
      }
      weir_dsm_barrier_replay(2, WEIR_DSM_DYNAMIC);
    }
  });
}

TEST(Replay, StopsWhatComesInVainUntilItIsAskedForAgain) {
  run(2, 2, [](unsigned me, volatile uint8_t* memory) {
    uint64_t sent = 0;
    for (unsigned iteration = 0; iteration < 14; iteration++) {
      if (me == 0) write(memory, 0, 2 * kPage, iteration);
      weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC);
      if (me == 1) misses_of(memory, 0, kPage, iteration);
      if (me == 1 && (iteration == 0 || iteration == 12)) {
        EXPECT_EQ(misses_of(memory, kPage, 2 * kPage, iteration), 1u) << iteration;
      }
      weir_dsm_barrier_replay(2, WEIR_DSM_DYNAMIC);
      if (me == 0 && iteration == 10) sent = counters().updates_sent;
      if (me == 0 && iteration == 11) { EXPECT_EQ(counters().updates_sent, sent + 1); }
    }
  });
}

}  // namespace
}  // namespace weir::dsm
