// Two threads split texts of their own with strtok_r.
#include "program.h"

char text[2][32] = {"one two three four five", "six seven eight nine ten"};
static void* body(void* argument) {
  char* place;
  for (char* word = strtok_r((char*)argument, " ", &place); word; word = strtok_r(NULL, " ", &place)) { use(word[0]); }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, text[0]), two = start(body, text[1]);
  join(one);
  join(two);
  return 0;
}
