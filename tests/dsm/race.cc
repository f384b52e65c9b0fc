// A small program with a race, or with none, for check.sh: workers count in one word, which is
// theirs by a lock, or not. usage: dsm_race [--locked] [STATUS]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/dsm.h"

namespace {

struct Board {
  long count[4];
};

bool locked = false;

void work(unsigned worker, unsigned, void* context) {
  auto& board = *static_cast<Board*>(context);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 10; i++) {
      if (locked) weir_dsm_lock(1);
      board.count[1]++;
      if (locked) weir_dsm_unlock(1);
    }
    weir_dsm_barrier(0);
  }
  (void)worker;
}

}  // namespace

int main(int argc, char** argv) {
  locked = argc > 1 && !strcmp(argv[1], "--locked");
  weir_dsm_start(&argc, &argv);
  Board* board = nullptr;
  if (weir_dsm_node() == 0) board = static_cast<Board*>(weir_dsm_alloc(sizeof *board));
  weir_dsm_share(&board, sizeof board, 0);
  weir_dsm_run(work, board);
  weir_dsm_finish();
  printf("done\n");
  return argc > 1 ? atoi(argv[argc - 1]) : 0;
}
