// strtok() has one place for all.
#include "planted.h"
static int words[2];
static void* split(void* n) {
  char text[16];
  strcpy(text, "a b c");
  char* save = NULL;
  (void)save;
  for (char* w = BUG(strtok(text, " ")) FIX(strtok_r(text, " ", &save)); w;
       w = BUG(strtok(NULL, " ")) FIX(strtok_r(NULL, " ", &save)))
    words[(long)n]++;
  return NULL;
}
int main(void) {
  RUN(split, split);
  REQUIRE(words[0] == 3 && words[1] == 3);
  return 0;
}
