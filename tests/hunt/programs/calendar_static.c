// localtime() has one result for all.
#include <time.h>
#include "planted.h"
static void* year(void* n) {
  const time_t t = n ? 0 : 1000000000;
  struct tm own;
  (void)own;
  const struct tm* r = BUG(localtime(&t)) FIX(localtime_r(&t, &own));
  const int y = r->tm_year;
  REQUIRE(y == (n ? 70 : 101));
  return NULL;
}
int main(void) {
  setenv("TZ", "UTC", 1);
  tzset();
  RUN(year, year);
  return 0;
}
