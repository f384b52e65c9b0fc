// The longest common subsequence of two texts, as a pipeline: a node computes a column of blocks
// from top to bottom, and each block's right edge goes to the next node by a semaphore.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
#include <weir/dsm.hpp>

namespace {

constexpr int kLength = 1500, kBlock = 100, kRounds = 3;

std::string text(unsigned seed) {
  std::string out;
  for (int i = 0; i < kLength; i++) seed = seed * 1103515245 + 12345, out += "ACGT"[seed >> 16 & 3];
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const int node = session.node(), nodes = session.nodes();
  // table[row][column]
  weir::dsm::shared_vector<unsigned short> table(std::size_t(kLength + 1) * (kLength + 1));
  const auto at = [&](int y, int x) -> unsigned short& {
    return table[std::size_t(y) * (kLength + 1) + x];
  };
  std::int64_t wrong = 0;
  for (int round = 0; round < kRounds; round++) {
    const std::string a = text(round + 1), b = text(round + 77);
    const auto mine = weir::dsm::part(kLength, node, nodes);
    for (int y = 0; y < kLength; y += kBlock) {
      if (node > 0) weir_dsm_semaphore_wait(node);
      for (int i = y + 1; i <= y + kBlock; i++)
        for (int j = int(mine.first) + 1; j <= int(mine.second); j++)
          at(i, j) =
              a[i - 1] == b[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
      if (node + 1 < nodes) weir_dsm_semaphore_post(node + 1);
    }
    weir_dsm_barrier(1);
    std::vector<unsigned short> last(kLength + 1), row(kLength + 1);
    for (int i = 1; i <= kLength; i++) {
      for (int j = 1; j <= kLength; j++)
        row[j] = a[i - 1] == b[j - 1] ? last[j - 1] + 1 : std::max(last[j], row[j - 1]);
      if (i % 50 == node)
        for (int j = 0; j <= kLength; j++) wrong += row[j] != at(i, j);
      last.swap(row);
    }
    weir_dsm_barrier(2);
  }
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) std::printf("wavefront: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
