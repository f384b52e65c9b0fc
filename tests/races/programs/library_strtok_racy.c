// Two threads split one text with strtok_r: each has a place of its own, but both write ends into the text. gcc's tsan
// does not know strtok_r.
#include "program.h"

char text[2][32] = {"one two three four five", "six seven eight nine ten"};
static void* body(void* argument) {
  char* place;
  for (char* word = strtok_r((char*)argument, " ", &place); word; word = strtok_r(NULL, " ", &place)) {  // RACE
    use(word[0]);
  }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, text[0]), two = start(body, text[0]);
  join(one);
  join(two);
  return 0;
}
