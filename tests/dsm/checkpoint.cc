// An iteration that can be interrupted at any moment: it goes on from its last checkpoint, on as
// many nodes as it finds, and its result is that of an iteration that never was. usage:
// dsm_checkpoint DIRECTORY ITERATIONS MICROSECONDS
//   MICROSECONDS: pause of each iteration. Prints "node N: process P" once it iterates, "from N"
//   and in the end "right" or "wrong" by node 0.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#include "weir/dsm.h"

namespace {

constexpr uint32_t kCells = 30'000;
constexpr uint64_t kEvery = 3;

struct World {
  uint64_t iteration;
  uint64_t steps;  // of all nodes, under a lock
  uint64_t* cells[2];
};

uint64_t next(uint64_t left, uint64_t own, uint64_t right) {
  return (left ^ (right << 7) ^ (right >> 57)) * 0x9e37'79b9'7f4a'7c15 + own;
}

void advance(const uint64_t* from, uint64_t* to, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++)
    to[i] = next(from[(i + kCells - 1) % kCells], from[i], from[(i + 1) % kCells]);
}

bool is_right(const World& world, uint64_t iterations) {
  std::vector<uint64_t> cells(kCells), others(kCells);
  for (uint32_t i = 0; i < kCells; i++) cells[i] = i;
  for (uint64_t i = 0; i < iterations; i++) {
    advance(cells.data(), others.data(), 0, kCells);
    cells.swap(others);
  }
  return world.iteration == iterations && world.steps == iterations &&
         memcmp(world.cells[iterations % 2], cells.data(), kCells * sizeof(uint64_t)) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const char* directory = argv[1];
  const uint64_t iterations = strtoul(argv[2], nullptr, 10);
  const auto pause = static_cast<useconds_t>(strtoul(argv[3], nullptr, 10));
  const unsigned me = weir_dsm_node(), nodes = weir_dsm_nodes();
  auto* world = static_cast<World*>(weir_dsm_restart(directory));
  if (!world) {
    if (me == 0) {
      world = static_cast<World*>(weir_dsm_alloc(sizeof(World)));
      for (auto& cells : world->cells)
        cells = static_cast<uint64_t*>(weir_dsm_alloc(kCells * sizeof(uint64_t)));
      for (uint32_t i = 0; i < kCells; i++) world->cells[0][i] = i;
    }
    weir_dsm_share(&world, sizeof world, 0);
  }
  weir_dsm_barrier(0);
  if (me == 0) printf("from %lu\n", world->iteration);
  printf("node %u: process %d\n", me, getpid());
  fflush(stdout);
  for (uint64_t i = world->iteration; i < iterations; i++) {
    advance(world->cells[i % 2], world->cells[(i + 1) % 2], kCells * me / nodes,
            kCells * (me + 1) / nodes);
    usleep(pause);
    if (i % nodes == me) {
      weir_dsm_lock(1);
      world->steps++;
      weir_dsm_unlock(1);
    }
    weir_dsm_barrier(1);
    if (me == 0) world->iteration = i + 1;
    if ((i + 1) % kEvery) continue;
    if (const int error = weir_dsm_checkpoint(directory, world)) {
      fprintf(stderr, "no checkpoint: %s\n", strerror(error));
      weir_dsm_abort(1, "no checkpoint");
    }
  }
  weir_dsm_barrier(2);
  if (me == 0) printf("%s\n", is_right(*world, iterations) ? "right" : "wrong");
  weir_dsm_finish();
  return 0;
}
