// A node goes from one list to another under both locks, or under one.
#include "twin.h"

struct node {
  struct node* next;
};
static struct list {
  pthread_mutex_t mutex;
  struct node* first;
  int length;
} lists[2] = {{PTHREAD_MUTEX_INITIALIZER, NULL, 0}, {PTHREAD_MUTEX_INITIALIZER, NULL, 0}};

static void move_one(int from, int to) {
  pthread_mutex_lock(&lists[RACY ? from : 0].mutex);
  if (!RACY) pthread_mutex_lock(&lists[1].mutex);
  struct node* node = lists[from].first;  // RACE
  if (node != NULL) {
    lists[from].first = node->next;  // RACE
    lists[from].length--;            // RACE
    node->next = lists[to].first;    // RACE
    lists[to].first = node;          // RACE
    lists[to].length++;              // RACE
  }
  if (!RACY) pthread_mutex_unlock(&lists[1].mutex);
  pthread_mutex_unlock(&lists[RACY ? from : 0].mutex);
}

static void* body(void* number) {
  for (int i = 0; i < 3; ++i) move_one((int)(long)number, 1 - (int)(long)number);
  return NULL;
}

int main(void) {
  for (int i = 0; i < 12; ++i) {
    struct node* node = calloc(1, sizeof *node);
    node->next = lists[i % 2].first;
    lists[i % 2].first = node;
  }
  run_threads(2, body);
  use(lists[0].length);
  return 0;
}
