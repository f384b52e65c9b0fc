// pool_test [hastily]
#include <cstdio>

#include "stock.h"
int main(int count, char**) {
  const long there = count > 1 ? brought(2, 3, true) : brought(4, 300, false),
             wanted = count > 1 ? 6 : 1200;
  if (there != wanted) std::printf("%ld instead of %ld\n", there, wanted);
  return there != wanted;
}
