// All of weir/dsm.hpp, as a program with all warnings has it (run.py).
#include "weir/dsm.hpp"

#include <mutex>
#include <vector>

template class weir::dsm::shared_vector<double>;
template class weir::dsm::atomic_ref<long>;
template class weir::dsm::locked<weir::dsm::auto_mutex>;

int use_dsm(int argc, char** argv);
int use_dsm(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  weir::dsm::shared_vector<double> values(1000);
  const auto mine = weir::dsm::part(values.size(), session.node(), session.nodes());
  for (std::size_t i = mine.first; i < mine.second; i++) values[i] = 1;
  weir::dsm::barrier(0).replay();
  auto* names = weir::dsm::create_shared<std::vector<int, weir::dsm::allocator<int>>>();
  const weir::dsm::unique_ptr<long> number = weir::dsm::make_unique<long>(3);
  weir::dsm::run([&](unsigned worker, unsigned workers) {
    weir::dsm::mutex queue(3);
    const std::lock_guard<weir::dsm::mutex> guard(queue);
    names->push_back(static_cast<int>(worker + workers));
  });
  {
    weir::dsm::locked<> guard(4);
    weir::dsm::condition(1).wait(guard, [&] { return !names->empty(); });
    const weir::dsm::locked<weir::dsm::user_mutex> brings(weir::dsm::user_mutex(5, number.get()));
  }
  weir::dsm::semaphore(2).release();
  const weir::dsm::producing producing;
  const weir::dsm::flushing flushing;
  weir::dsm::atomic_ref<long> counter(*number, 7);
  counter.fetch_add(1);
  bool some = weir::dsm::reduce_max(counter.load() > 2);
  const auto sum = weir::dsm::reduce_sum(1.5f) +
                   static_cast<float>(weir::dsm::reduce_min(static_cast<unsigned short>(9)));
  const auto most = weir::dsm::reduce_max(~std::uint64_t{0});
  weir::dsm::destroy(names);
  return static_cast<int>(static_cast<unsigned>(sum) + (most & 1) +
                          weir::dsm::counters_total().misses + some);
}
