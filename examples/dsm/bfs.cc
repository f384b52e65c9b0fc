// Breadth-first search: how far is each vertex of a graph from vertex 0? Each node looks after the
// vertices of its part, and asks whether a vertex with an edge to one of them was reached in the
// step before. usage: bfs [VERTICES]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <weir/dsm.hpp>

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const std::int64_t count = argc > 1 ? std::atol(argv[1]) : 30000;
  const auto sources_of = [count](std::int64_t vertex) {  // of the edges to a vertex
    return std::array<std::int64_t, 3>{(vertex * 5 + 1) % count, (vertex * 7 + 3) % count,
                                       (vertex + count - 1) % count};
  };
  weir::dsm::shared_vector<std::int32_t> depth(count);  // 0: not reached
  const auto [from, to] = weir::dsm::part(count, session.node(), session.nodes());
  if (session.node() == 0) depth[0] = 1;
  weir::dsm::barrier(0).arrive_and_wait();
  std::int64_t news = 1;
  for (std::int32_t step = 1; news > 0; step++) {
    std::vector<std::size_t> found;
    for (std::size_t vertex = from; vertex < to; vertex++) {
      if (depth[vertex] != 0) continue;
      for (const std::int64_t source : sources_of(vertex)) {
        if (depth[source] != step) continue;
        found.push_back(vertex);
        break;
      }
    }
    weir::dsm::barrier(1).arrive_and_wait();  // all have looked
    for (const std::size_t vertex : found) depth[vertex] = step + 1;
    news = found.size();
    weir_dsm_reduce_int64(&news, 1, WEIR_DSM_SUM);  // a barrier too: all have written
  }
  std::int64_t result[2] = {0, 0};
  for (std::size_t vertex = from; vertex < to; vertex++) {
    if (depth[vertex] == 0) continue;
    result[0]++;
    result[1] += depth[vertex] - 1;
  }
  weir_dsm_reduce_int64(result, 2, WEIR_DSM_SUM);
  if (session.node() == 0)
    std::printf("bfs: %ld reached, %ld steps in all\n", long(result[0]), long(result[1]));
}
