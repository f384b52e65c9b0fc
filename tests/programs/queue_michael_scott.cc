// A Michael-Scott queue gives each element once and keeps the order of each producer.
#include "program.h"

#include <atomic>
#include <thread>
#include <vector>

struct Node {
  int value = 0;
  std::atomic<Node*> next{nullptr};
};

static std::atomic<Node*> head, tail;
static std::atomic<int> left;

static void push(Node* node) {
  for (;;) {
    Node* last = tail.load();
    Node* next = last->next.load();
    if (next) {
      tail.compare_exchange_weak(last, next);
    } else if (last->next.compare_exchange_weak(next, node)) {
      tail.compare_exchange_strong(last, node);
      return;
    }
  }
}

// Nodes are never freed while the threads run, so that no address comes back.
static bool pop(int& value) {
  for (;;) {
    Node *first = head.load(), *last = tail.load(), *next = first->next.load();
    if (!next) return false;
    if (first == last) {
      tail.compare_exchange_weak(last, next);
      continue;
    }
    value = next->value;
    if (head.compare_exchange_weak(first, next)) return true;
  }
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), producers = (threads + 1) / 2, consumers = producers;
  constexpr int kEach = 60;
  std::vector<Node> nodes(producers * kEach + 1);
  std::vector<std::vector<int>> taken(consumers);
  std::vector<std::thread> running;
  head = tail = &nodes.back();
  left = producers * kEach;
  for (int i = 0; i < producers; ++i) {
    running.emplace_back([&, i] {
      for (int k = 0; k < kEach; ++k) {
        nodes[i * kEach + k].value = i * kEach + k;
        push(&nodes[i * kEach + k]);
      }
    });
  }
  for (int i = 0; i < consumers; ++i) {
    running.emplace_back([&, i] {
      for (int value; left.load() > 0;) {
        if (pop(value)) {
          taken[i].push_back(value);
          --left;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (auto& thread : running) thread.join();
  std::vector<int> seen(producers * kEach);
  for (auto& values : taken) {
    std::vector<int> last(producers, -1);
    for (int value : values) {
      ++seen[value];
      CHECK(value > last[value / kEach]);
      last[value / kEach] = value;
    }
  }
  for (int count : seen) CHECK_EQ(count, 1);
  std::printf("elements %zu\n", seen.size());
}
