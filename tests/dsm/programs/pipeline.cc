// A pipeline of three stages over bounded queues in shared memory, with conditions for "not full"
// and "not empty": numbers are read, factored and collected. Nodes have several stages at once by
// threads of weir_dsm_run; each queue ends by a mark for each of its consumers. What a stage
// allocates the next one frees.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weir/dsm.hpp>

namespace {

struct item {
  unsigned number = 0, count = 0;
  unsigned factors[32] = {};
};

constexpr unsigned kRoom = 5, kNumbers = 240;

struct queue {
  item* items[kRoom] = {};
  unsigned first = 0, filled = 0;
};

// Lock n, and conditions 2n (not empty) and 2n + 1 (not full).
class channel {
 public:
  channel(queue* its, unsigned number) : queue_(its), number_(number) {}
  void put(item* what) const {
    weir::dsm::locked<> held(number_);
    not_full().wait(held, [&] { return queue_->filled < kRoom; });
    queue_->items[(queue_->first + queue_->filled++) % kRoom] = what;
    not_empty().notify_one();
  }
  item* take() const {
    weir::dsm::locked<> held(number_);
    not_empty().wait(held, [&] { return queue_->filled > 0; });
    item* what = queue_->items[queue_->first];
    queue_->first = (queue_->first + 1) % kRoom;
    queue_->filled--;
    not_full().notify_one();
    return what;
  }

 private:
  weir::dsm::condition not_empty() const { return weir::dsm::condition(2 * number_); }
  weir::dsm::condition not_full() const { return weir::dsm::condition(2 * number_ + 1); }
  queue* queue_;
  unsigned number_;
};

unsigned number_of(unsigned i) { return 2 + i * 7919u % 100003u; }

std::vector<unsigned> factor(unsigned number) {
  std::vector<unsigned> found;
  for (unsigned d = 2; d * d <= number; d++)
    for (; number % d == 0; number /= d) found.push_back(d);
  if (number > 1) found.push_back(number);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const channel raw(weir::dsm::create_shared<queue>(), 1),
      done(weir::dsm::create_shared<queue>(), 2);
  weir::dsm::shared_vector<unsigned> largest(kNumbers);
  std::int64_t wrong = 0;
  weir::dsm::run([&](unsigned worker, unsigned workers) {
    // The last worker reads, the first collects, and if there are only these two, they factor too.
    const bool reads = worker == workers - 1, collects = worker == 0, few = workers < 3;
    const unsigned factoring = few ? 1 : workers - 2;
    if (reads && !few) {
      for (unsigned i = 0; i < kNumbers; i++) {
        auto* one = weir::dsm::create<item>();
        one->number = i;
        raw.put(one);
      }
      for (unsigned i = 0; i < factoring; i++) raw.put(nullptr);
    }
    if (reads && few) {
      for (unsigned i = 0; i < kNumbers; i++) {
        auto* one = weir::dsm::create<item>();
        one->number = i;
        for (const unsigned d : factor(number_of(i))) one->factors[one->count++] = d;
        done.put(one);
      }
      done.put(nullptr);
    }
    if (!reads && !collects) {
      while (item* one = raw.take()) {
        for (const unsigned d : factor(number_of(one->number))) one->factors[one->count++] = d;
        done.put(one);
      }
      done.put(nullptr);
    }
    if (collects) {
      for (unsigned ended = 0; ended < factoring;) {
        item* one = done.take();
        if (!one) {
          ended++;
          continue;
        }
        largest[one->number] = *std::max_element(one->factors, one->factors + one->count);
        const std::vector<unsigned> right = factor(number_of(one->number));
        wrong += !std::equal(right.begin(), right.end(), one->factors, one->factors + one->count);
        weir::dsm::destroy(one);
      }
    }
  });
  weir_dsm_barrier(1);
  for (unsigned i = 0; i < kNumbers; i++) wrong += largest[i] != factor(number_of(i)).back();
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (session.node() == 0)
    std::printf("pipeline: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
