// A Treiber stack, pushed to with release by two threads; main takes all of it at once with acquire.
#include "program.h"

#include <atomic>
#include <thread>

struct Node {
  Node* next;
  int value;
};
std::atomic<Node*> top{nullptr};
constexpr auto kPush = std::memory_order_release;

static void push(Node* node) {
  node->next = top.load(std::memory_order_relaxed);
  while (!top.compare_exchange_weak(node->next, node, kPush, std::memory_order_relaxed)) sched_yield();
}

static void body() {
  for (int i = 0; i < 50; ++i) push(new Node{nullptr, i});
}

int main() {
  std::thread one(body), two(body);
  for (int taken = 0; taken < 100; usleep(50)) {
    Node* node = top.exchange(nullptr, std::memory_order_acquire);
    for (; node; ++taken) {
      use(node->value);
      Node* next = node->next;
      delete node;
      node = next;
    }
  }
  one.join();
  two.join();
  return 0;
}
