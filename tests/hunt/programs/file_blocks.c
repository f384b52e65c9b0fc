// A file system in small: threads make files, each under the lock of its inode, and take a free
// block for it. Who looks for a free one has the lock of that block while it looks, but marks it as
// taken only after it has given that lock back.
#include "planted.h"

enum { kThreads = 14, kInodes = 8, kBlocks = 12 };
static pthread_mutex_t inode_locks[kInodes], block_locks[kBlocks];
static int inodes[kInodes], owners[kBlocks];
static volatile int is_taken[kBlocks];

static void* make_file(void* number) {
  const int inode = (int)((long)number % kInodes);
  pthread_mutex_lock(&inode_locks[inode]);
  for (int i = 0; !inodes[inode] && i < kBlocks; i++) {
    const int block = (2 * inode + i) % kBlocks;
    pthread_mutex_lock(&block_locks[block]);
    const int is_free = !is_taken[block];
    FIX(is_taken[block] = 1;)
    pthread_mutex_unlock(&block_locks[block]);
    if (!is_free) continue;
    BUG(is_taken[block] = 1;)
    inodes[inode] = block + 1;
    __atomic_add_fetch(&owners[block], 1, __ATOMIC_SEQ_CST);
  }
  pthread_mutex_unlock(&inode_locks[inode]);
  return number;
}

int main(void) {
  for (int i = 0; i < kInodes; i++) pthread_mutex_init(&inode_locks[i], NULL);
  for (int i = 0; i < kBlocks; i++) pthread_mutex_init(&block_locks[i], NULL);
  run_many(kThreads, make_file, 0, NULL);
  for (int i = 0; i < kBlocks; i++) REQUIRE(owners[i] <= 1);
  return 0;
}
