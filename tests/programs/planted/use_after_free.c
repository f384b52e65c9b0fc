// Use after free by a race: a session is looked up under the lock and used after it, when a
// request's second part has come. Another thread, told by a ticker, meanwhile ends sessions that
// had no request for a time by the clock.
#include "planted.h"

enum { kSessions = 4, kRequests = 6, kTicks = 4 };

struct peer {
  long total;
};

struct session {
  long last_used;  // microseconds
  struct peer* peer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session* sessions[kSessions];
static struct peer peers[kSessions];
static int requests;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void* serve(void* argument) {
  struct first_part first;
  struct second_part second;
  const int requester = (int)(intptr_t)argument;
  while (receive(requester, &first, sizeof first)) {
    pthread_mutex_lock(&lock);
    struct session* session = sessions[first.subject];
    if (!session) {
      session = sessions[first.subject] = malloc(sizeof *session);
      session->peer = &peers[first.subject];
    }
    session->last_used = now();
    pthread_mutex_unlock(&lock);
    if (!receive(requester, &second, sizeof second)) break;
    session->peer->total += second.amount;  // the bug: it may have been ended
    requests++;
  }
  return NULL;
}

static void* reap(void* argument) {
  struct first_part tick;
  struct second_part rest;
  const int ticker = (int)(intptr_t)argument;
  while (receive(ticker, &tick, sizeof tick) && receive(ticker, &rest, sizeof rest)) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < kSessions; i++) {
      if (!sessions[i] || now() - sessions[i]->last_used < 500) continue;
      explicit_bzero(sessions[i], sizeof *sessions[i]);
      free(sessions[i]);
      sessions[i] = NULL;
    }
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  report_crashes();
  const int requester = start_sender(kRequests, -kSessions, 12000, 900),
            ticker = start_sender(kTicks, 0, 20000, 0);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, serve, (void*)(intptr_t)requester);
  pthread_create(&threads[1], NULL, reap, (void*)(intptr_t)ticker);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d requests\n", requests);
  return 0;
}
