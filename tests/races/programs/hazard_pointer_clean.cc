// The writer overwrites a retired node only after no reader's hazard pointer names it any more.
#include "program.h"

#include <atomic>
#include <thread>

struct Node {
  int value;
} nodes[2] = {{1}, {2}};
std::atomic<Node*> current{&nodes[0]}, hazard{nullptr};
std::atomic<bool> reading{false};

int main() {
  std::thread reader([] {
    Node* node;
    do {
      node = current.load();
      hazard.store(node);
    } while (current.load() != node);
    reading.store(true);
    pause_ms(4);
    use(node->value);
    hazard.store(nullptr);
  });
  while (!reading.load()) usleep(100);
  current.store(&nodes[1]);
  while (hazard.load() == &nodes[0]) usleep(100);
  nodes[0].value = -1;
  reader.join();
  return 0;
}
