// Every part of weir/dsm.hpp, once, on any number of nodes. Prints "cxx: N nodes: well" where all
// is as it should be.
#include "weir/dsm.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mutex>
#include <string>
#include <vector>

#include "weir/tape.hpp"

namespace {

int wrong = 0;

void expect(bool is_true, const char* what) {
  if (is_true) return;
  fprintf(stderr, "cxx: node %u: not so: %s\n", weir_dsm_node(), what);
  wrong++;
}

struct Board {
  std::uint64_t counter = 0;
  double best = 0;
  unsigned queued = 0, taken = 0;
  bool closed = false;
};

using numbers = std::vector<int, weir::dsm::allocator<int>>;

}  // namespace

#define EXPECT(condition) expect(condition, #condition)

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const unsigned me = session.node(), nodes = session.nodes();
  {
    // Arrays, barriers, reductions
    weir::dsm::shared_vector<double> values(10000);
    const auto [first, last] = weir::dsm::part(values.size(), me, nodes);
    const weir::dsm::barrier step(0);
    for (int round = 1; round <= 4; round++) {
      for (std::size_t i = first; i < last; i++) values[i] = static_cast<double>(i) * round;
      step.replay();
      double sum = 0;
      for (const double value : values) sum += value;
      EXPECT(sum == 9999.0 * 10000 / 2 * round);
      weir::dsm::barrier(1).arrive_and_wait();
    }
    values.touch(0, values.size());
    EXPECT(weir::dsm::reduce_sum(me + 1) == nodes * (nodes + 1) / 2);
    EXPECT(weir::dsm::reduce_max(~std::uint64_t{0} - me) == ~std::uint64_t{0});
    EXPECT(weir::dsm::reduce_min(~std::uint64_t{0} - me) == ~std::uint64_t{0} - (nodes - 1));
    EXPECT(weir::dsm::reduce_min(-1.5f - static_cast<float>(me)) ==
           -0.5f - static_cast<float>(nodes));
    EXPECT(weir::dsm::reduce_sum(-static_cast<short>(me)) ==
           -static_cast<int>(nodes * (nodes - 1) / 2));
    std::vector<std::int64_t> many(3000, me);
    weir::dsm::reduce(many.data(), many.size(), WEIR_DSM_MAX);
    EXPECT(many.front() == nodes - 1 && many.back() == nodes - 1);

    // Objects, locks, atomics
    auto* board = weir::dsm::create_shared<Board>();
    const weir::dsm::atomic_ref counter(board->counter, 1);
    for (int i = 0; i < 50; i++) counter.fetch_add(2);
    for (int i = 0; i < 50; i++) counter.fetch_sub(1);
    const weir::dsm::atomic_ref best(board->best, 2);
    for (double seen = best; seen < me && !best.compare_exchange(seen, me);) {}
    for (int i = 0; i < 20; i++) {
      const weir::dsm::locked<weir::dsm::auto_mutex> guard(3);
      board->taken++;
    }
    weir::dsm::mutex plain(3);
    for (int i = 0; i < 10; i++) {
      const std::lock_guard<weir::dsm::mutex> guard(plain);
      board->taken++;
    }
    {
      std::unique_lock<weir::dsm::mutex> guard(plain, std::try_to_lock);
      if (guard) board->taken += 0;
    }
    step.arrive_and_wait();
    EXPECT(counter.load() == 50 * nodes);
    EXPECT(best.load() == nodes - 1);
    EXPECT(board->taken == 30 * nodes);
    step.arrive_and_wait();

    // Node 0 fills a queue, everybody empties it; who finds it closed goes on
    const weir::dsm::condition not_empty(0);
    unsigned mine = 0;
    if (me == 0) {
      for (int i = 0; i < 30; i++) {
        const weir::dsm::locked guard(4);
        board->queued++;
        not_empty.notify_one();
      }
      const weir::dsm::locked guard(4);
      board->closed = true;
      not_empty.notify_all();
    }
    for (bool more = true; more;) {
      weir::dsm::locked guard(4);
      not_empty.wait(guard, [&] { return board->queued > 0 || board->closed; });
      more = board->queued > 0;
      if (more) board->queued--, mine++;
    }
    EXPECT(weir::dsm::reduce_sum(mine) == 30);

    // A token that goes round by semaphores
    if (me > 0) weir::dsm::semaphore(me).acquire();
    board->counter += me;
    if (me + 1 < nodes) weir::dsm::semaphore(me + 1).release();
    step.arrive_and_wait();
    EXPECT(board->counter == 50 * nodes + nodes * (nodes - 1) / 2);
    step.arrive_and_wait();
    if (me == 0) weir::dsm::destroy(board);

    // Annotated units: everybody its words of two, under no lock; each announces them in another
    // order
    weir_dsm_attributes annotated{};
    annotated.unit = WEIR_DSM_ANNOTATED;
    weir::dsm::shared_vector<unsigned> one(1000, annotated), other(1000, annotated);
    for (int round = 1; round <= 20; round++) {
      weir_dsm_write_access(me % 2 ? &one[0] : &other[0]);
      weir_dsm_write_access(me % 2 ? &other[0] : &one[0]);
      for (std::size_t i = me; i < one.size(); i += nodes) one[i]++, other[i]++;
      if (round % 5 == 0) step.arrive_and_wait();
    }
    weir_dsm_read_access(&one[0]);
    weir_dsm_read_access(&other[0]);
    for (std::size_t i = 0; i < one.size(); i++) EXPECT(one[i] == 20 && other[i] == 20);
    step.arrive_and_wait();

    // A container of the standard library's
    auto* list = weir::dsm::create_shared<numbers>();
    {
      const weir::dsm::flushing flush;
      if (me == 0) list->assign(5000, 7);
    }
    step.arrive_and_wait();
    EXPECT(list->size() == 5000 && list->back() == 7);
    step.arrive_and_wait();
    if (me == 0) weir::dsm::destroy(list);
    const auto own = weir::dsm::make_unique<std::uint64_t>(me);
    EXPECT(*own == me);
    double pi = me == 0 ? 3.14 : 0;
    weir::dsm::share(pi);
    EXPECT(pi == 3.14);

    weir::dsm::run([&](unsigned worker, unsigned workers) {
      EXPECT(worker < workers && workers == nodes * weir_dsm_threads());
    });

    // Tapes: what node 0 writes comes to all, under a protocol that has them
    weir_dsm_attributes lazy{};
    const char* const protocol = getenv("WEIR_DSM_PROTOCOL");
    if (protocol && !strcmp(protocol, "sc")) lazy.protocol = WEIR_DSM_LRC;
    weir::dsm::shared_vector<int> pages(8 * 1024, lazy);
    weir::dsm::Tape writes;
    if (me == 0) {
      writes.start_writing();
      for (int& one : pages) one = 3;
      writes.stop();
      EXPECT(writes.flatten() == weir::dsm::Extent(pages.data(), pages.size() * sizeof(int)));
      weir::dsm::send_all(writes);
    }
    step.arrive_and_wait();
    const auto before = weir::dsm::counters().misses;
    for (const int one : pages) EXPECT(one == 3);
    EXPECT(weir::dsm::counters().misses == before);
    weir::dsm::shared_vector<int> moved = std::move(pages);
    EXPECT(moved.size() == 8 * 1024 && pages.empty());
    EXPECT(weir::dsm::counters_total().write_faults > 0);
  }
  const int all = weir::dsm::reduce_sum(wrong);
  if (me == 0 && all == 0) printf("cxx: %u nodes: well\n", nodes);
  return all ? 1 : 0;
}
