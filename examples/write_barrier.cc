// A garbage collector with two generations whose write barrier is the regions' protection: the program that is collected contains no check at its stores.
//   - New objects lie in the nursery, which is plain memory. When it is full, a minor collection moves those that are still reachable out of it, each into a region
//     of its own, and begins the nursery anew.
//   - Old objects may only be read (PROT_READ). The first store into one traps: the handler puts it into the remembered set and lets it be written until the
//     next collection. So a minor collection finds every pointer from old to new among the roots and in the remembered set, however many old objects there are.
//   - When there are many old objects, a major collection marks from the root and frees the rest.
// With pages instead, a store would open the 36 objects that share one.
//
//   write_barrier [OPERATIONS [SEED]]        100000 and 1 unless given
// The program that is collected keeps a search tree from random keys to numbers: inserts, changes and erases. At each collection the whole tree is compared
// with what std::map has for the same operations, and no old object outside the remembered set may refer to the nursery. Prints counts; the exit status is 1
// where something was wrong.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "weir/region.hpp"

namespace {

constexpr size_t kNursery = 512;         // objects
constexpr size_t kOldAtFirst = 1500;     // a major collection at so many, and then at twice what it has left

struct Node {
  weir::region_ptr<Node> left, right;
  int64_t key = 0, value = 0;
  Node* moved = nullptr;                 // in the nursery: where a collection has put it (always-open memory)
  bool is_marked = false;
};

static_assert(4096 / sizeof(Node) == 36);

using Pointer = weir::region_ptr<Node>;

[[noreturn]] void wrong(const char* what) {
  printf("WRONG: %s\n", what);
  exit(1);
}

class Heap {
 public:
  // Answers a new object, which stays where it is until the next collection. That happens only in collect_if_full().
  Pointer make(int64_t key, int64_t value) {
    if (used_ == kNursery) wrong("the nursery is full");
    Node* made = new (&nursery()[used_++]) Node;
    made->key = key;
    made->value = value;
    return made;
  }

  // REQUIRES: the program keeps no pointers but `root` and what is reachable from there.
  template <typename Check>
  void collect_if_full(Pointer& root, Check check) {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the handler has changed remembered_ during stores, which the compiler does not know
    if (used_ < kNursery - 1) return;
    check_barrier();
    minor(root);
    check();
    if (old_.size() < major_at_) return;
    major(root);
    check();
    major_at_ = std::max(kOldAtFirst, 2 * old_.size());
  }

  void print() const {
    printf("%zu minor collections: %zu objects made, %zu moved, %zu died young\n", minors_, minors_ * (kNursery - 1) + used_, moved_, died_young_);
    printf("%zu stores into old objects trapped, at most %zu of %zu were remembered at once\n", traps_, most_remembered_, most_old_);
    printf("%zu major collections: %zu old objects freed, %zu are left\n", majors_, freed_, old_.size());
  }

 private:
  Node* nursery() { return reinterpret_cast<Node*>(memory_.get()); }
  bool is_new(const Pointer& pointer) { return static_cast<size_t>(reinterpret_cast<char*>(pointer.get()) - memory_.get()) < kNursery * sizeof(Node); }

  static void on_store(weir_region_trap* trap) {
    auto* heap = static_cast<Heap*>(trap->context);
    heap->traps_++;
    heap->remembered_.push_back(static_cast<Node*>(trap->start));
    weir_region_protect(trap->start, PROT_READ | PROT_WRITE);
  }

  // `slot`: the root, or a pointer in an object by its always-open address, so that nothing traps here. Moves what it refers to out of the nursery.
  void forward(Pointer& slot) {
    if (!slot || !is_new(slot)) return;
    Node* young = slot.get();
    if (!young->moved) {
      Pointer old = weir::make_region<Node>();
      Node* open = old.open();
      open->key = young->key;
      open->value = young->value;
      open->left = std::move(young->left);
      open->right = std::move(young->right);
      weir_region_handler(old.get(), on_store, this);
      young->moved = open;
      to_scan_.push_back(open);
      old_.push_back(std::move(old));
      moved_++;
    }
    slot = young->moved;
  }

  void minor(Pointer& root) {
    const size_t before = moved_;
    forward(root);
    most_remembered_ = std::max(most_remembered_, remembered_.size());
    const std::vector<Node*> remembered = std::move(remembered_);
    remembered_.clear();
    for (Node* each : remembered) forward(each->left), forward(each->right);
    for (size_t i = 0; i < to_scan_.size(); i++) {  // grows meanwhile
      Node* each = to_scan_[i];
      forward(each->left), forward(each->right);
    }
    for (Node* each : remembered) weir_region_protect(each, PROT_READ);
    for (Node* each : to_scan_) weir_region_protect(each, PROT_READ);
    to_scan_.clear();
    died_young_ += used_ - (moved_ - before);
    for (size_t i = 0; i < used_; i++) nursery()[i].~Node();
    used_ = 0;
    minors_++;
    most_old_ = std::max(most_old_, old_.size());
  }

  // REQUIRES: the nursery and the remembered set are empty.
  void major(Pointer& root) {
    std::vector<Node*> marked;
    const auto mark = [&](const Pointer& pointer) {
      if (!pointer || pointer.open()->is_marked) return;
      marked.push_back(pointer.open());
      marked.back()->is_marked = true;
    };
    mark(root);
    for (size_t i = 0; i < marked.size(); i++) {
      Node* each = marked[i];
      mark(each->left), mark(each->right);
    }
    // Dead objects may refer to one another, and a region is freed only when no pointer refers to it.
    std::vector<Pointer> dead, alive;
    for (Pointer& each : old_) {
      if (!each.open()->is_marked) each.open()->left = each.open()->right = nullptr;
      (each.open()->is_marked ? alive : dead).push_back(std::move(each));
    }
    for (Pointer& each : dead) {
      if (weir::destroy_region(each)) wrong("something refers to an object that nothing refers to");
    }
    for (Node* each : marked) each->is_marked = false;
    freed_ += dead.size();
    old_ = std::move(alive);
    majors_++;
  }

  // What the traps are for: an old object that refers to the nursery is in the remembered set, and is the only kind that may be written.
  void check_barrier() {
    std::map<Node*, bool> remembered;
    for (Node* each : remembered_) remembered[each] = true;
    if (remembered.size() != remembered_.size()) wrong("an object is remembered twice");
    for (Pointer& each : old_) {
      const bool is_remembered = remembered.count(each.open());
      if (!is_remembered && (is_new(each.open()->left) || is_new(each.open()->right))) wrong("a store into an old object was missed");
      if ((weir_region_level(each.get()) == PROT_READ) == is_remembered) wrong("an old object has another level than it should have");
    }
  }

  std::unique_ptr<char[]> memory_{new char[kNursery * sizeof(Node)]};
  size_t used_ = 0;
  std::vector<Pointer> old_;
  std::vector<Node*> remembered_, to_scan_;  // always-open addresses
  size_t major_at_ = kOldAtFirst;
  size_t minors_ = 0, majors_ = 0, moved_ = 0, died_young_ = 0, freed_ = 0, traps_ = 0, most_remembered_ = 0, most_old_ = 0;
};

// --- The program that is collected. It knows nothing of generations.

Pointer* find(Pointer& root, int64_t key) {
  Pointer* slot = &root;
  while (*slot && (*slot)->key != key) slot = key < (*slot)->key ? &(*slot)->left : &(*slot)->right;
  return slot;
}

void put(Heap& heap, Pointer& root, int64_t key, int64_t value) {
  Pointer& slot = *find(root, key);
  if (slot) slot->value = value;
  else slot = heap.make(key, value);
}

void erase(Pointer& root, int64_t key) {
  Pointer* slot = find(root, key);
  if (!*slot) return;
  const Pointer node = *slot;
  if (node->left && node->right) {  // takes the place of the least key on its right
    Pointer* least = &node->right;
    while ((*least)->left) least = &(*least)->left;
    const Pointer moved = *least;
    *least = moved->right;
    node->key = moved->key;
    node->value = moved->value;
  } else {
    *slot = node->left ? node->left : node->right;
  }
}

void compare(const Pointer& root, const std::map<int64_t, int64_t>& expected) {
  std::vector<Pointer> path;
  auto next = expected.begin();
  for (Pointer node = root; node || !path.empty();) {
    if (node) {
      path.push_back(node);
      node = node->left;
      continue;
    }
    node = path.back();
    path.pop_back();
    if (next == expected.end() || node->key != next->first || node->value != next->second) wrong("the tree is not what it should be");
    ++next;
    node = node->right;
  }
  if (next != expected.end()) wrong("the tree has lost an object");
}

}  // namespace

int main(int count, char** words) {
  const long operations = count > 1 ? atol(words[1]) : 100'000;
  std::mt19937_64 random(count > 2 ? strtoul(words[2], nullptr, 10) : 1);
  Heap heap;
  Pointer root;
  std::map<int64_t, int64_t> expected;
  for (long i = 0; i < operations; i++) {
    // Keys crowd around a place that wanders, so most old objects are left alone for long.
    const auto key = static_cast<int64_t>(i / 50 + static_cast<long>(random() % 800) * static_cast<long>(random() % 3));
    if (random() % 3) {
      put(heap, root, key, i);
      expected[key] = i;
    } else {
      erase(root, key);
      expected.erase(key);
    }
    heap.collect_if_full(root, [&] { compare(root, expected); });
  }
  compare(root, expected);
  heap.print();
  printf("%zu keys\n", expected.size());
  root = nullptr;
}
