// Two threads step one state machine by a switch.
#include "twin.h"

enum state { kIdle, kBusy, kDone };
static enum state state;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* step(void* unused) {
  for (int i = 0; i < 3; ++i) {
    guard(&mutex);
    switch (state) {  // RACE
      case kIdle: state = kBusy; break;  // RACE
      case kBusy: state = kDone; break;  // RACE
      default: state = kIdle;  // RACE
    }
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(step, step);
  return 0;
}
