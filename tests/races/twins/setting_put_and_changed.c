// The text that putenv took is the environment's own; a thread changes it while another looks there.
#include "twin.h"

static char setting[] = "WEIR_TWIN=abc", other[] = "WEIR_TWIN=abc";

static void* body(void* number) {
  if ((long)number == 0) {
    (RACY ? setting : other)[11] = 'x';  // RACE
  } else {
    const char* value = getenv("WEIR_TWIN");
    if (value != NULL) use(value[1]);  // RACE
  }
  return NULL;
}

int main(void) {
  if (putenv(setting) != 0) abort();
  run_threads(2, body);
  use(other[3]);
  return 0;
}
