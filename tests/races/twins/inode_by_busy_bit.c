// Inodes and blocks of a file system: a bit says that a block is taken, found without its lock.
#include "twin.h"

enum { kInodes = 4, kBlocks = 4 };
static int inode[kInodes], busy[kBlocks];
static pthread_mutex_t inode_lock[kInodes], block_lock[kBlocks];

static void* body(void* number) {
  const int i = (int)(long)number % kInodes;
  pthread_mutex_lock(&inode_lock[i]);
  if (inode[i] == 0) {
    for (int at = i * 2 % kBlocks, tries = 0; tries < kBlocks; ++tries, at = (at + 1) % kBlocks) {
      if (!RACY) pthread_mutex_lock(&block_lock[at]);
      const int is_free = !busy[at];  // RACE
      if (is_free) {
        busy[at] = 1;  // RACE
        inode[i] = at + 1;
      }
      if (!RACY) pthread_mutex_unlock(&block_lock[at]);
      if (is_free) break;
    }
  }
  pthread_mutex_unlock(&inode_lock[i]);
  return NULL;
}

int main(void) {
  for (int i = 0; i < kInodes; ++i) pthread_mutex_init(&inode_lock[i], NULL);
  for (int i = 0; i < kBlocks; ++i) pthread_mutex_init(&block_lock[i], NULL);
  run_threads(4, body);
  use(inode[0]);
  return 0;
}
