// Each node has a lock, and hand over hand the next one is locked before this one is let go.
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
    next->mutex.lock();
    next->value += 1;
    node->mutex.unlock();
    node = next;
  }
  node->mutex.unlock();
}

static void set() {
  for (int i = 0; i < 50; ++i) {
    nodes[1].mutex.lock();
    nodes[1].value = i;
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
