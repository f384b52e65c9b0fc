// A name is changed by strcpy while another prints it.
#include "planted.h"
static char name[48] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char* next = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static void* rename_it(void* u) {
  FIX(lock();) strcpy(name, *(const char* volatile*)&next);
  FIX(unlock();) return u;
}
static void* read_it(void* u) {
  char own[48];
  FIX(lock();) strcpy(own, name);
  FIX(unlock();) __asm__("" : : "r"(own) : "memory");
  REQUIRE(own[0] == own[35] && own[0] == own[17]);
  return u;
}
int main(void) {
  RUN(rename_it, read_it);
  return 0;
}
