// Histogram: how often does each byte occur? Each node counts its part of the data, and adds what
// it has counted under a lock. usage: histogram [BYTES]
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <weir/dsm.hpp>

std::uint8_t byte_at(std::uint32_t i) {
  const std::uint32_t hash = i * 2654435761u;
  return (hash >> 24) * (hash >> 16 & 255) / 255;
}

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const std::size_t count = argc > 1 ? std::atol(argv[1]) : 1000000;
  weir::dsm::shared_vector<std::int64_t> bins(256);
  std::array<std::int64_t, 256> own{};
  const auto [from, to] = weir::dsm::part(count, session.node(), session.nodes());
  for (std::size_t i = from; i < to; i++) own[byte_at(i)]++;
  {
    weir::dsm::locked guard(0);
    std::transform(own.begin(), own.end(), bins.begin(), bins.begin(), std::plus<>());
  }
  weir::dsm::barrier(0).arrive_and_wait();
  if (session.node() == 0) {
    const auto most = std::max_element(bins.begin(), bins.end());
    std::int64_t weighed = 0;
    for (int i = 0; i < 256; i++) weighed += i * bins[i];
    std::printf("histogram: most often %ld (%ld times), sum %ld\n", long(most - bins.begin()),
                long(*most), long(weighed));
  }
}
