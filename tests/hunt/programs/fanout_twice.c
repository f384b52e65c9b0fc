// Two calls add one socket to a group: each looks first whether it is in one, and the group's
// memory is freed with the first of two entries.
#include "planted.h"

struct Group {
  int members;
};
static struct Group* volatile group_of_socket;
static struct Group* groups[2];
static volatile int added;

static void* add(void* number) {
  FIX(lock();)
  if (!group_of_socket) {
    BUG(lock();)
    struct Group* group = malloc(sizeof *group);
    groups[(long)number] = group;
    group->members = 1;
    group_of_socket = group;
    added++;
    BUG(unlock();)
  }
  FIX(unlock();)
  return NULL;
}

int main(void) {
  RUN(add, add);
  REQUIRE(added == 1);
  for (int i = 0; i < 2; i++) free(groups[i]);
  return 0;
}
