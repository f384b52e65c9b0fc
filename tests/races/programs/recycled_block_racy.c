// A thread looks into a block that it has given away and that the other writes and frees.
#include "program.h"

char* given;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* maker(void* unused) {
  for (int i = 0; i < 50; ++i) {
    char* block = (char*)malloc(2000);
    memset(block, i, 2000);
    pthread_mutex_lock(&mutex);
    char* old = given;
    given = block;
    pthread_mutex_unlock(&mutex);
    use(block[100]);  // RACE
    free(old);
    usleep(50);
  }
  return unused;
}

static void* taker(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    char* block = given;
    given = NULL;
    pthread_mutex_unlock(&mutex);
    if (block) memset(block, -i, 2000);  // RACE
    free(block);                         // RACE
    usleep(20);
  }
  return unused;
}

int main(void) {
  run_two(maker, taker);
  free(given);
  return 0;
}
