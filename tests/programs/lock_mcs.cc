// An MCS queue lock, whose waiters spin on nodes on each other's stacks, excludes and loses
// nothing.
#include "program.h"

#include <atomic>
#include <thread>
#include <vector>

struct Node {
  std::atomic<Node*> next{nullptr};
  std::atomic<bool> locked{false};
};

static std::atomic<Node*> tail{nullptr};
static long total;

static void lock(Node& mine) {
  mine.next.store(nullptr, std::memory_order_relaxed);
  mine.locked.store(true, std::memory_order_relaxed);
  if (Node* before = tail.exchange(&mine, std::memory_order_acq_rel)) {
    before->next.store(&mine, std::memory_order_release);
    while (mine.locked.load(std::memory_order_acquire)) std::this_thread::yield();
  }
}

static void unlock(Node& mine) {
  Node* next = mine.next.load(std::memory_order_acquire);
  if (!next) {
    Node* expected = &mine;
    if (tail.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return;
    while (!(next = mine.next.load(std::memory_order_acquire))) std::this_thread::yield();
  }
  next->locked.store(false, std::memory_order_release);
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  constexpr int kRounds = 60;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([] {
      for (int k = 0; k < kRounds; ++k) {
        Node mine;
        lock(mine);
        ++total;
        unlock(mine);
      }
    });
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(total, threads * kRounds);
  CHECK(tail.load() == nullptr);
  std::printf("total %ld\n", total);
}
