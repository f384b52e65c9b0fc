#include "threads.h"
static struct {
  int before;
  int mine;
  int between;
  int other;
  int locked;
  int after;
} parts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *argument) { /* parts of one struct, on one page */
  int i;
  (void)argument;
  weir_acquire_write(&parts.other);
  for (i = 0; i < 200; i++) {
    parts.other++;
    pthread_mutex_lock(&lock);
    parts.locked++;
    parts.before++;
    pthread_mutex_unlock(&lock);
  }
  parts.mine++;    /* REPORT policy forbidden access OTHER got */
  parts.locked++;  /* REPORT policy lock-not-held access OTHER set */
  weir_release_write(&parts.other);
  return NULL;
}
int main(void) {
  pthread_t thread;
  int i;
  weir_object_declare(&parts.mine, sizeof parts.mine, WEIR_INACCESSIBLE);
  weir_object_declare(&parts.other, sizeof parts.other, WEIR_INACCESSIBLE);
  weir_object_declare(&parts.locked, sizeof parts.locked, WEIR_PRIVATE);
  weir_set_locked(&parts.locked, &lock);  /* IS set */
  weir_acquire_write(&parts.mine);  /* IS got */
  thread = begin(use, NULL);
  for (i = 0; i < 200; i++) {
    parts.mine++;
    parts.after++;
    pthread_mutex_lock(&lock);
    parts.locked++;
    parts.before++;
    pthread_mutex_unlock(&lock);
  }
  end(thread);
  return parts.before == 400 ? ok() : 1;
}
