// Two threads insert into one search tree; links are set by compare_exchange, and nodes are never removed.
#include "program.h"

#include <atomic>
#include <thread>

struct Node {
  int key = 0;
  std::atomic<Node*> child[2] = {nullptr, nullptr};
};
Node root, nodes[60];

static void insert(Node* node) {
  Node* at = &root;
  for (;;) {
    auto& link = at->child[node->key > at->key];
    Node* next = nullptr;
    if (link.compare_exchange_strong(next, node)) return;
    at = next;
  }
}

static void body(int from) {
  for (int i = from; i < 60; i += 2) {
    nodes[i].key = (i * 37) % 61 - 30;
    insert(&nodes[i]);
  }
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return 0;
}
