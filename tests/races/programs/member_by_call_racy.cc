// Two threads write a member of the one object that a function returns: its making is in order, the member is not.
#include "program.h"

struct Settings {
  int level = 0;
};

static Settings* settings() {
  static Settings* one = new Settings;
  return one;
}

static void* first(void* unused) {
  settings()->level = 1;  // RACE
  return unused;
}

static void* second(void* unused) {
  pause_ms(5);
  settings()->level = 2;  // RACE
  return unused;
}

int main() {
  run_two(first, second);
  return 0;
}
