// Two threads have the places of what matches written to one array.
#include <regex.h>

#include "twin.h"

static regmatch_t matches[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  regex_t expression;
  if (regcomp(&expression, "b+", REG_EXTENDED) != 0) abort();
  if (regexec(&expression, "abbc", 2, matches, 0) != 0) abort();  // RACE
  regfree(&expression);
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(matches[0].rm_so);
  return 0;
}
