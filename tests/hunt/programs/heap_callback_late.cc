// A listener is taken off the list and deleted while a notification that has copied the list is
// about to call it.
#include <vector>

#include "planted.h"

struct Listener {
  virtual ~Listener() = default;
  virtual void on_change() { calls++; }
  int calls = 0;
};
static std::vector<Listener*> listeners;

static void* notify(void* unused) {
  lock();
  const std::vector<Listener*> all = listeners;
  BUG(unlock();)
  for (Listener* const one : all) one->on_change();
  FIX(unlock();)
  return unused;
}

static void* leave(void* unused) {
  lock();
  Listener* const mine = listeners.back();
  listeners.pop_back();
  unlock();
  delete mine;
  return unused;
}

int main() {
  for (int i = 0; i < 2; i++) listeners.push_back(new Listener);
  RUN(notify, leave);
  return 0;
}
