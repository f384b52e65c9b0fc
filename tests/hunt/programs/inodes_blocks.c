// Files take blocks by a search over a table: 26 threads, some of which come to the same block.
// The busy flag is looked at and set under the lock of the inode, not the one of the block.
#include "planted.h"

enum { kThreads = 26, kInodes = 32, kBlocks = 26 };
static pthread_mutex_t inode_lock[kInodes], block_lock[kBlocks];
static volatile int inode[kInodes], busy[kBlocks], owners[kBlocks];

static void* create(void* number) {
  const long i = (long)number % kInodes;
  pthread_mutex_lock(&inode_lock[i]);
  long b = i * 2 % kBlocks;
  while (inode[i] == 0) {
    FIX(pthread_mutex_lock(&block_lock[b]);)
    if (!busy[b]) {
      BUG(pthread_mutex_lock(&block_lock[b]);)
      busy[b] = 1;
      owners[b] = owners[b] + 1;
      inode[i] = (int)b + 1;
      BUG(pthread_mutex_unlock(&block_lock[b]);)
    }
    FIX(pthread_mutex_unlock(&block_lock[b]);)
    b = (b + 1) % kBlocks;
  }
  pthread_mutex_unlock(&inode_lock[i]);
  return NULL;
}

int main(void) {
  Body bodies[kThreads];
  for (int i = 0; i < kInodes; i++) pthread_mutex_init(&inode_lock[i], NULL);
  for (int i = 0; i < kBlocks; i++) pthread_mutex_init(&block_lock[i], NULL);
  for (int i = 0; i < kThreads; i++) bodies[i] = create;
  run_threads(kThreads, bodies);
  for (int i = 0; i < kBlocks; i++) REQUIRE(owners[i] <= 1);
  return 0;
}
