// A session is closed by one thread while another has found it in the table.
#include "twin.h"

struct session {
  int user, uses;
};
static struct session* table[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* use_session(void* unused) {
  pthread_mutex_lock(&mutex);
  struct session* const session = table[1];
  if (RACY) pthread_mutex_unlock(&mutex);
  if (session) use(session->user);  // RACE
  if (!RACY) pthread_mutex_unlock(&mutex);
  return unused;
}

static void* close_session(void* unused) {
  pause_ms(2);
  pthread_mutex_lock(&mutex);
  struct session* const session = table[1];
  table[1] = NULL;
  pthread_mutex_unlock(&mutex);
  free(session);  // RACE
  return unused;
}

int main(void) {
  table[1] = calloc(1, sizeof *table[1]);
  run_two(use_session, close_session);
  return 0;
}
