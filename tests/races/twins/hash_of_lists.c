// Lists by hash have a lock each; the racy thread goes on along the other list.
#include "twin.h"

struct node {
  struct node* next;
  int value;
};
static struct {
  pthread_mutex_t mutex;
  struct node* first;
} lists[4];

static void* body(void* number) {
  for (int i = 0; i < 12; ++i) {
    const int at = i % 4;
    pthread_mutex_lock(&lists[at].mutex);
    for (struct node* node = lists[RACY && number ? (at + 1) % 4 : at].first; node != NULL; node = node->next)
      node->value++;  // RACE
    pthread_mutex_unlock(&lists[at].mutex);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 4; ++i) {
    pthread_mutex_init(&lists[i].mutex, NULL);
    for (int k = 0; k < 3; ++k) {
      struct node* node = malloc(sizeof *node);
      node->value = k;
      node->next = lists[i].first;
      lists[i].first = node;
    }
  }
  run_threads(2, body);
  return 0;
}
