// A Treiber stack whose push is relaxed: nodes arrive, their values are not ordered with them.
#include "program.h"

#include <atomic>
#include <thread>

struct Node {
  Node* next;
  int value;
};
std::atomic<Node*> top{nullptr};
constexpr auto kPush = std::memory_order_relaxed;

static void push(Node* node) {
  node->next = top.load(std::memory_order_relaxed);                                                      // RACE
  while (!top.compare_exchange_weak(node->next, node, kPush, std::memory_order_relaxed)) sched_yield();  // RACE
}

static void body() {
  for (int i = 0; i < 50; ++i) push(new Node{nullptr, i});  // RACE
}

int main() {
  std::thread one(body), two(body);
  for (int taken = 0; taken < 100; usleep(50)) {
    Node* node = top.exchange(nullptr, std::memory_order_acquire);
    for (; node; ++taken) {
      use(node->value);         // RACE
      Node* next = node->next;  // RACE
      node = next;
    }
  }
  one.join();
  two.join();
  return 0;
}
