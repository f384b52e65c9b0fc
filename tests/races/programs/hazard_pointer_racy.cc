// The writer retires a node and overwrites it without asking whether a reader's hazard pointer names it.
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
    use(node->value);  // RACE
    hazard.store(nullptr);
  });
  while (!reading.load()) usleep(100);
  current.store(&nodes[1]);
  nodes[0].value = -1;  // RACE
  reader.join();
  return 0;
}
