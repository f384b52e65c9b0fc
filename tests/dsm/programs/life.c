/* The game of life on a torus, a byte a cell and several rows a page: nodes meet inside of pages.
 * The nodes' parts move by some rows in each generation, as a program that balances its load does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/dsm.h>

enum { kWidth = 150, kHeight = 131, kGenerations = 60 };

static void step(const unsigned char* from, unsigned char* to, int first, int last) {
  for (int y = first; y < last; y++) {
    for (int x = 0; x < kWidth; x++) {
      int count = 0;
      for (int dy = kHeight - 1; dy <= kHeight + 1; dy++)
        for (int dx = kWidth - 1; dx <= kWidth + 1; dx++)
          count += from[(y + dy) % kHeight * kWidth + (x + dx) % kWidth];
      const int lives = from[y * kWidth + x];
      to[y * kWidth + x] = count == 3 || (lives && count == 4);
    }
  }
}

static void work(unsigned worker, unsigned workers, void* context) {
  unsigned char** boards = context;
  unsigned char *from = boards[0], *to = boards[1];
  for (int generation = 0; generation < kGenerations; generation++) {
    const int shift = generation % 7;
    int first = worker ? (int)(worker * kHeight / workers) + shift : 0;
    int last = worker + 1 < workers ? (int)((worker + 1) * kHeight / workers) + shift : kHeight;
    step(from, to, first, last);
    unsigned char* other = from;
    from = to, to = other;
    weir_dsm_barrier(generation % 2);
  }
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  unsigned char* boards[2];
  for (int i = 0; i < 2; i++) boards[i] = weir_dsm_alloc_shared(kWidth * kHeight, 1, NULL);
  unsigned char *a = calloc(kWidth, kHeight), *b = calloc(kWidth, kHeight);
  srand(5);
  for (int i = 0; i < kWidth * kHeight; i++) a[i] = rand() % 3 == 0;
  if (weir_dsm_node() == weir_dsm_nodes() - 1) memcpy(boards[0], a, kWidth * kHeight);
  weir_dsm_barrier(5);
  weir_dsm_run(work, boards);
  for (int i = 0; i < kGenerations; i++) {
    step(a, b, 0, kHeight);
    unsigned char* other = a;
    a = b, b = other;
  }
  int64_t wrong = memcmp(a, boards[kGenerations % 2], kWidth * kHeight) != 0;
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (weir_dsm_node() == 0) printf("life: %s\n", wrong ? "WRONG" : "right");
  weir_dsm_finish();
  return wrong != 0;
}
