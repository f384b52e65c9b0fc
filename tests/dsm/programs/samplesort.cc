// Sample sort: samples, splitters, counts of each pair of workers, then each takes its range from
// all parts. The result is allocated anew in each round, by the node that sorts it, and freed by
// another.
#include <algorithm>
#include <cstdio>
#include <vector>
#include <weir/dsm.hpp>

namespace {
constexpr std::size_t kCount = 50000, kSamples = 64, kRounds = 3;
std::vector<std::uint32_t> input(unsigned round, unsigned worker, unsigned workers) {
  const auto part = weir::dsm::part(kCount, worker, workers);
  std::vector<std::uint32_t> out;
  for (std::size_t i = part.first; i < part.second; i++) {
    const std::uint64_t mixed = (i * 31 + round + 1) * 0x9e3779b97f4a7c15u;
    out.push_back(std::uint32_t(mixed >> 33) % (round == 1 ? 5 : 1000000));
  }
  return out;
}
}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const unsigned me = session.node(), nodes = session.nodes();
  weir::dsm::shared_vector<std::uint32_t> data(kCount), samples(kSamples * nodes);
  weir::dsm::shared_vector<std::uint32_t> counts(std::size_t(nodes) * nodes);
  weir::dsm::shared_vector<std::uint32_t*> results(nodes);
  weir::dsm::shared_vector<std::size_t> sizes(nodes);
  std::int64_t wrong = 0;
  for (unsigned round = 0; round < kRounds; round++) {
    const auto part = weir::dsm::part(kCount, me, nodes);
    auto own = input(round, me, nodes);
    std::sort(own.begin(), own.end());
    std::copy(own.begin(), own.end(), data.begin() + part.first);
    for (std::size_t i = 0; i < kSamples; i++)
      samples[me * kSamples + i] = own[own.size() * i / kSamples];
    weir::dsm::barrier(1).replay();
    std::vector<std::uint32_t> all(samples.begin(), samples.end());
    std::sort(all.begin(), all.end());
    std::vector<std::uint32_t> splitters;
    for (unsigned i = 1; i < nodes; i++) splitters.push_back(all[all.size() * i / nodes]);
    const auto from = [&](std::uint32_t* first, std::uint32_t* last, unsigned of) {
      return of == 0       ? first
             : of == nodes ? last
                           : std::lower_bound(first, last, splitters[of - 1]);
    };
    for (unsigned to = 0; to < nodes; to++)
      counts[me * nodes + to] = from(own.data(), own.data() + own.size(), to + 1) -
                                from(own.data(), own.data() + own.size(), to);
    weir::dsm::barrier(2).replay();
    std::size_t size = 0;
    for (unsigned of = 0; of < nodes; of++) size += counts[of * nodes + me];
    auto* mine = static_cast<std::uint32_t*>(weir_dsm_alloc(size * sizeof(std::uint32_t)));
    results[me] = mine, sizes[me] = size;
    for (unsigned of = 0; of < nodes; of++) {
      const auto theirs = weir::dsm::part(kCount, of, nodes);
      std::uint32_t *first = data.data() + theirs.first, *last = data.data() + theirs.second;
      mine = std::copy(from(first, last, me), from(first, last, me + 1), mine);
    }
    std::sort(results[me], mine);
    weir::dsm::barrier(3).replay();
    std::vector<std::uint32_t> expected, got;
    for (unsigned of = 0; of < nodes; of++) {
      const auto theirs = input(round, of, nodes);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
      got.insert(got.end(), results[of], results[of] + sizes[of]);
    }
    std::sort(expected.begin(), expected.end());
    wrong += got != expected;
    weir::dsm::barrier(4).replay();
    weir_dsm_free(results[(me + 1) % nodes]);
    weir::dsm::barrier(5).arrive_and_wait();
  }
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (me == 0) std::printf("samplesort: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
