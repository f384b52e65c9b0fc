// Who counts an object down to nothing reads it (release, and an acquire fence).
#include <atomic>
#include <thread>

#include "twin.h"

struct Node {
  std::atomic<int> owners{2};
  int value = 0;
};

static void give_up(Node* node, int add) {
  if (!RACY) {
    node->owners.fetch_add(0, std::memory_order_relaxed);
    if (add == 2) node->value += add;
  }
  if (node->owners.fetch_sub(1, std::memory_order_release) == 1) {
    std::atomic_thread_fence(std::memory_order_acquire);
    use(node->value);  // RACE
    if (!RACY) delete node;
  } else if (RACY) {
    node->value += add;  // RACE
  }
}

int main() {
  Node* node = new Node;
  std::thread one(give_up, node, 1), two(give_up, node, 2);
  one.join();
  two.join();
  if (RACY) delete node;
  return 0;
}
