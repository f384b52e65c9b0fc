// A pipe's data hangs on its inode: opening it again looks for the data outside the lock, and the
// last one to close it takes it away.
#include "planted.h"

struct Pipe {
  int readers;
};
static struct Pipe the_pipe;
static struct Pipe* volatile pipe_of_inode = &the_pipe;
static int openers = 1;

static void* close_last(void* unused) {
  lock();
  if (--openers == 0) pipe_of_inode = NULL;
  unlock();
  return unused;
}

static void* open_again(void* unused) {
  FIX(lock();)
  const int is_there = pipe_of_inode != NULL;
  BUG(lock();)
  if (is_there) {
    pipe_of_inode->readers++;
    openers++;
  }
  unlock();
  return unused;
}

int main(void) {
  RUN(open_again, close_last);
  return 0;
}
