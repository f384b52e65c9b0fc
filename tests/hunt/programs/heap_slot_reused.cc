// A session is deleted while a request that has found it is still at work; the block would be used
// again at once, so without a quarantine nothing shows.
#include "planted.h"

struct Session {
  long user = 1;
  char name[48] = "";
};
static Session* volatile session = new Session;

static void* request(void* unused) {
  FIX(lock();)
  Session* const mine = session;
  if (mine) {
    mine->user = 2;
    strcpy(mine->name, "somebody");
  }
  FIX(unlock();)
  return unused;
}

static void* end(void* unused) {
  lock();
  delete session;
  session = nullptr;
  Session* const next = new Session;
  session = next;
  unlock();
  return unused;
}

int main() {
  RUN(request, end);
  return 0;
}
