// Each node has a lock, but one function changes the next node under the lock of the node before it only.
#include "program.h"

#include <mutex>
#include <thread>

struct Node {
  std::mutex mutex;
  int value = 0;
  Node* next = nullptr;
};
Node nodes[4];

static void walk() {
  Node* node = &nodes[0];
  node->mutex.lock();
  while (node->next) {
    Node* next = node->next;
    next->value += 1;  // RACE
    node->mutex.unlock();
    next->mutex.lock();
    node = next;
  }
  node->mutex.unlock();
}

static void set() {
  for (int i = 0; i < 50; ++i) {
    nodes[1].mutex.lock();
    nodes[1].value = i;  // RACE
    nodes[1].mutex.unlock();
    usleep(60);
  }
}

int main() {
  for (int i = 0; i < 3; ++i) nodes[i].next = &nodes[i + 1];
  std::thread one([] {
    for (int i = 0; i < 50; ++i) walk(), usleep(50);
  });
  std::thread two(set);
  one.join();
  two.join();
  return 0;
}
