// Two threads double the numbers of an array in disjoint slices; main sums after the joins.
#include "program.h"

int numbers[500];
struct Slice {
  int from, to;
};
static void* body(void* argument) {
  struct Slice* slice = (struct Slice*)argument;
  for (int i = slice->from; i < slice->to; ++i) numbers[i] *= 2;
  return NULL;
}

int main(void) {
  struct Slice slices[2] = {{0, 250}, {250, 500}};
  long sum = 0;
  for (int i = 0; i < 500; ++i) numbers[i] = i;
  pthread_t one = start(body, &slices[0]), two = start(body, &slices[1]);
  join(one);
  join(two);
  for (int i = 0; i < 500; ++i) sum += numbers[i];
  return sum == 0;
}
