#include "channel/ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/atomic_enum.h"
#include "channel/wait.h"

namespace weir::channel {
namespace {

// A trace that a forked child shares.
class Trace {
 public:
  Trace() {
    base_ = mmap(nullptr, kChannelSize, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(base_, MAP_FAILED);
    header().command = getpid();
    header().slots = 1;
    header().slot[0].state = State::kOpen;
  }
  ~Trace() { munmap(base_, kChannelSize); }
  Header& header() { return *static_cast<Header*>(base_); }
  Ring ring() { return Ring::at(reinterpret_cast<uint64_t>(base_), 0); }

 private:
  void* base_;
};

// The numbered entry of a sequence that both sides know: sizes from nothing to the most there is.
Entry entry_of(uint32_t number, std::string* payload) {
  std::minstd_rand random(number + 1);
  uint32_t size = random() % 200;
  if (random() % 50 == 0) size = random() % (kMaxPayload + 1);
  payload->assign(size, static_cast<char>(number));
  return {Kind::kMemory, 0, 0, size, number, number, -static_cast<int64_t>(number)};
}

void expect_entry(const Entry* entry, uint32_t number) {
  std::string payload;
  const Entry wanted = entry_of(number, &payload);
  ASSERT_EQ(memcmp(entry, &wanted, sizeof wanted), 0) << number;
  ASSERT_EQ(memcmp(entry + 1, payload.data(), payload.size()), 0) << number;
  for (uint64_t i = wanted.size; i < padded(wanted.size); i++)
    ASSERT_EQ(reinterpret_cast<const char*>(entry + 1)[i], 0);
}

constexpr uint32_t kMany = 20000;

void put_all(Header& header, Ring ring, uint32_t count) {
  std::string payload;
  for (uint32_t i = 0; i < count; i++) {
    const Entry entry = entry_of(i, &payload);
    const uint32_t half = entry.size / 2;
    ASSERT_TRUE(put_waiting(header, ring, entry, payload.data(), half, payload.data() + half)) << i;
  }
}

TEST(Ring, IsEmptyAtFirst) {
  Trace trace;
  EXPECT_EQ(trace.ring().peek(), nullptr);
  EXPECT_EQ(trace.ring().used(), 0u);
}

TEST(Ring, RefusesWhatDoesNotFit) {
  Trace trace;
  Ring ring = trace.ring();
  const std::string payload(kMaxPayload, 'x');
  const Entry entry{Kind::kMemory, 0, 0, kMaxPayload, 0, 0, 0};
  uint32_t put = 0;
  while (ring.put(entry, payload.data(), kMaxPayload)) put++;
  EXPECT_EQ(put, kRingSize / bytes_of(entry));
  EXPECT_LE(ring.used(), kRingSize);
  for (uint32_t i = 0; i < put; i++) {
    ASSERT_NE(ring.peek(), nullptr);
    ring.take(ring.peek());
  }
  EXPECT_EQ(ring.peek(), nullptr);
}

TEST(Ring, IsFilledToTheLastByte) {
  Trace trace;
  Ring ring = trace.ring();
  const Entry entry{Kind::kCall, 0, 0, 8, 0, 0, 0};  // 32 bytes, which divide the ring
  while (ring.put(entry, "12345678", 8)) {}
  EXPECT_EQ(ring.used(), kRingSize);
  ring.take(ring.peek());
  EXPECT_TRUE(ring.put(entry, "12345678", 8));
  EXPECT_FALSE(ring.put(entry, "12345678", 8));
}

// Each place at which an entry can meet the ring's end, those with less room there than an entry's
// head included.
TEST(Ring, WrapsAroundAtEveryPlace) {
  Trace trace;
  Ring ring = trace.ring();
  const std::string payload(512, 'p');
  for (uint64_t left = 8; left <= 600; left += 8) {
    ring.slot->head = ring.slot->tail = 5 * kRingSize - left;
    memset(ring.bytes, 0xee, 1024);
    memset(ring.bytes + kRingSize - 1024, 0xee, 1024);
    for (uint32_t i = 0; i < 3; i++)
      ASSERT_TRUE(
          ring.put({Kind::kMemory, 0, 0, 100 + 8 * i, i, 0, 0}, payload.data(), 100 + 8 * i));
    for (uint32_t i = 0; i < 3; i++) {
      const Entry* entry = ring.peek();
      ASSERT_NE(entry, nullptr) << left;
      EXPECT_EQ(entry->check, i) << left;
      EXPECT_EQ(memcmp(entry + 1, payload.data(), 100 + 8 * i), 0) << left;
      ring.take(entry);
    }
    EXPECT_EQ(ring.peek(), nullptr);
  }
}

TEST(Ring, CarriesEverythingBetweenTwoThreads) {
  Trace trace;
  std::thread puts([&] { put_all(trace.header(), trace.ring(), kMany); });
  Ring ring = trace.ring();
  for (uint32_t number = 0; number < kMany;) {
    const Entry* entry = ring.peek();
    if (!entry) {
      wake(*ring.slot);
      std::this_thread::yield();
      continue;
    }
    expect_entry(entry, number++);
    ring.take(entry);
    if (number % 64 == 0) wake(*ring.slot);
  }
  puts.join();
  EXPECT_EQ(ring.peek(), nullptr);
}

TEST(Ring, CarriesEverythingToAReaderThatWaits) {
  Trace trace;
  std::thread takes([&] {
    for (uint32_t number = 0; number < kMany; number++) {
      const Entry* entry = peek_waiting(trace.header(), trace.ring());
      ASSERT_NE(entry, nullptr) << number;
      expect_entry(entry, number);
      take_waking(trace.header(), trace.ring(), entry);
    }
    EXPECT_EQ(peek_waiting(trace.header(), trace.ring()), nullptr);
  });
  Ring ring = trace.ring();
  std::string payload;
  for (uint32_t i = 0; i < kMany; i++) {
    const Entry entry = entry_of(i, &payload);
    while (!ring.put(entry, payload.data(), entry.size)) {
      wake(*ring.slot);
      std::this_thread::yield();
    }
  }
  store_enum<__ATOMIC_RELEASE>(ring.slot->state, State::kClosed);
  wake(*ring.slot);
  takes.join();
}

TEST(Ring, KeepsWholeEntriesOfAProcessThatWasKilledInTheMiddle) {
  for (int round = 0; round < 20; round++) {
    Trace trace;
    const pid_t child = fork();
    if (child == 0) {
      put_all(trace.header(), trace.ring(), kMany);
      _exit(0);
    }
    usleep(static_cast<useconds_t>(100 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    Ring ring = trace.ring();
    uint32_t number = 0;
    while (const Entry* entry = ring.peek()) {
      expect_entry(entry, number++);
      ring.take(entry);
    }
    EXPECT_EQ(ring.used(), 0u);
  }
}

TEST(Waiting, EndsWhereTheCommandSaysThatItIsGone) {
  Trace trace;
  std::thread puts([&] {
    const Entry entry{Kind::kCall, 0, 0, 0, 0, 0, 0};
    while (put_waiting(trace.header(), trace.ring(), entry, nullptr, 0)) {}
  });
  usleep(10000);
  __atomic_store_n(&trace.header().gone, 1, __ATOMIC_RELEASE);
  wake(trace.header().slot[0]);
  puts.join();
  EXPECT_FALSE(drain_waiting(trace.header(), trace.ring()));
}

TEST(Waiting, EndsWhereTheCommandIsDead) {
  Trace trace;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  trace.header().command = child;
  EXPECT_EQ(peek_waiting(trace.header(), trace.ring()), nullptr);
  const Entry entry{Kind::kCall, 0, 0, 0, 0, 0, 0};
  while (put_waiting(trace.header(), trace.ring(), entry, nullptr, 0)) {}
  EXPECT_FALSE(drain_waiting(trace.header(), trace.ring()));
}

TEST(Waiting, ACommandThatNobodyHasWaitedForIsDead) {
  auto header = std::make_unique<Header>();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  header->command = child;
  EXPECT_FALSE(is_dead(*header));
  kill(child, SIGKILL);
  siginfo_t end;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(kill(child, 0), 0);
  EXPECT_TRUE(is_dead(*header));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_dead(*header));
}

TEST(Waiting, DrainsAndSeesTheRestOfAClosedStream) {
  Trace trace;
  std::string payload;
  const Entry first = entry_of(0, &payload);
  ASSERT_TRUE(put_waiting(trace.header(), trace.ring(), first, payload.data(), first.size));
  std::thread takes([&] {
    usleep(5000);
    Ring ring = trace.ring();
    ring.take(ring.peek());
    wake(*ring.slot);
  });
  EXPECT_TRUE(drain_waiting(trace.header(), trace.ring()));
  takes.join();
  Ring ring = trace.ring();
  const Entry last = entry_of(1, &payload);
  ring.put(last, payload.data(), last.size);
  ring.slot->state = State::kClosed;
  const Entry* entry = peek_waiting(trace.header(), trace.ring());
  ASSERT_NE(entry, nullptr);
  expect_entry(entry, 1);
}

// The common case asks the kernel for nothing: the bell counts only at half a ring.
TEST(Waiting, RingsTheBellAtHalfARingOnly) {
  Trace trace;
  const Entry entry{Kind::kCall, 0, 0, 8, 0, 0, 0};
  for (uint64_t i = 0; i < kRingSize / 64; i++)
    put_waiting(trace.header(), trace.ring(), entry, "12345678", 8);
  EXPECT_EQ(trace.header().bell, 0u);
  for (uint64_t i = 0; i < kRingSize / 64; i++)
    put_waiting(trace.header(), trace.ring(), entry, "12345678", 8);
  EXPECT_EQ(trace.header().bell, 1u);
  for (uint64_t i = 0; i < kRingSize / 32; i++)
    take_waking(trace.header(), trace.ring(), trace.ring().peek());
  EXPECT_EQ(trace.header().bell, 2u);
}

}  // namespace
}  // namespace weir::channel
