// A radix tree that grows under locks: each inner node is allocated by whoever comes there first,
// subtrees have locks of their own, and half of the keys are taken out again, with the memory of
// branches that become empty. The branches of one node lie beside those of others.
#include <cstdint>
#include <cstdio>
#include <map>
#include <weir/dsm.hpp>

namespace {

constexpr unsigned kKeys = 900, kTops = 16;

struct branch {
  branch* below[16] = {};
  std::int64_t value = 0;
  unsigned keys = 0;  // here and below
};
struct tree {
  branch* top[kTops] = {};
};

unsigned key_of(unsigned i) { return i * 2654435761u >> 16; }

void add(branch*& at, unsigned key, unsigned digits, std::int64_t value) {
  if (!at) at = weir::dsm::create<branch>();
  if (digits == 0) {
    if (at->keys == 0) at->keys = 1;
    at->value += value;
    return;
  }
  branch*& next = at->below[key & 15];
  const unsigned before = next ? next->keys : 0;
  add(next, key >> 4, digits - 1, value);
  at->keys += next->keys - before;
}

void remove(branch*& at, unsigned key, unsigned digits) {
  if (!at) return;
  if (digits == 0) {
    at->keys = 0;
  } else {
    branch*& next = at->below[key & 15];
    const unsigned before = next ? next->keys : 0;
    remove(next, key >> 4, digits - 1);
    at->keys -= before - (next ? next->keys : 0);
  }
  if (at->keys > 0) return;
  weir::dsm::destroy(at);
  at = nullptr;
}

const branch* find(const branch* at, unsigned key, unsigned digits) {
  return !at || digits == 0 ? at : find(at->below[key & 15], key >> 4, digits - 1);
}

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  auto* all = weir::dsm::create_shared<tree>();
  const auto with = [&](unsigned key, auto change) {
    const weir::dsm::locked<weir::dsm::auto_mutex> held(weir::dsm::auto_mutex{key % kTops});
    change(all->top[key % kTops], key / kTops);
  };
  unsigned all_workers = 0;
  weir::dsm::run([&](unsigned worker, unsigned workers) {
    if (worker % weir_dsm_threads() == 0) all_workers = workers;
    for (unsigned i = 0; i < kKeys; i++)
      with(key_of(i), [&](branch*& top, unsigned key) { add(top, key, 3, i + worker); });
    weir_dsm_barrier(1);
    for (unsigned i = worker; i < kKeys; i += workers)
      if (i % 2) with(key_of(i), [&](branch*& top, unsigned key) { remove(top, key, 3); });
  });
  weir_dsm_barrier(2);
  std::map<unsigned, std::int64_t> expected;
  for (unsigned i = 0; i < kKeys; i++)
    for (unsigned worker = 0; worker < all_workers; worker++) expected[key_of(i)] += i + worker;
  for (unsigned i = 1; i < kKeys; i += 2) expected.erase(key_of(i));
  std::int64_t wrong = 0, keys = 0;
  for (const branch* top : all->top) keys += top ? top->keys : 0;
  wrong += keys != std::int64_t(expected.size());
  for (unsigned i = 0; i < kKeys; i++) {
    const branch* found = find(all->top[key_of(i) % kTops], key_of(i) / kTops, 3);
    const auto right = expected.find(key_of(i));
    wrong += right == expected.end() ? found != nullptr : !found || found->value != right->second;
  }
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (session.node() == 0) std::printf("index: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
