// A logger is closed and freed while another thread is about to write to it.
#include "planted.h"

struct Logger {
  char line[64];
  int is_freed;
};
static struct Logger* volatile logger;

static void* write_line(void* text) {
  (void)text;
  FIX(lock();)
  struct Logger* const to = logger;
  if (to) {
    REQUIRE(!to->is_freed);
    strcpy(to->line, "something happened");
  }
  FIX(unlock();)
  return NULL;
}

// What is freed stays readable here, so that the program itself can say what it has seen.
static void* close_logger(void* unused) {
  FIX(lock();)
  struct Logger* const old = logger;
  logger = NULL;
  old->is_freed = 1;
  FIX(unlock();)
  return unused;
}

int main(void) {
  logger = calloc(1, sizeof *logger);
  RUN(write_line, close_logger, write_line);
  return 0;
}
