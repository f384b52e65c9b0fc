// compiler: weir-cc
// options: policies=declared
#include "threads.h"
static int counter = 4, second_counter;
static long table[2000];
static const int kConstant = 7;
static __thread int own;
static struct { pthread_mutex_t lock; long count; } guarded = {PTHREAD_MUTEX_INITIALIZER, 0};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int under_lock, set_once, made_once;
static void make(void) { made_once = 1; }
static void *first(void *argument) {
  (void)argument;
  pthread_once(&once, make);
  counter++;  /* IS touched */
  own = kConstant;
  table[0] = own + set_once;
  weir_release_write(table);  /* IS released */
  pthread_mutex_lock(&lock);
  under_lock++;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&guarded.lock);
  guarded.count++;
  pthread_mutex_unlock(&guarded.lock);
  return NULL;
}
static void *second(void *argument) {
  (void)argument;
  pthread_once(&once, make);
  counter++;  /* REPORT policy forbidden access OTHER touched */
  second_counter++;
  own = kConstant;
  table[1999] = own + set_once;  /* REPORT policy forbidden access OTHER released */
  pthread_mutex_lock(&lock);
  under_lock++;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&guarded.lock);
  guarded.count++;
  pthread_mutex_unlock(&guarded.lock);
  return NULL;
}
int main(void) { /* each static variable is an object, and is named without a declaration */
  set_once = 5;
  weir_set_sticky_read(&set_once);
  weir_set_locked(&under_lock, &lock);
  weir_set_locked(&guarded, &guarded.lock);
  if (weir_active() && weir_policy_of(&second_counter) != WEIR_UNTOUCHED) return 1;
  if (weir_policy_of(&kConstant) != -1 || weir_policy_of(&own) != -1) return 1;
  alone(first, NULL);
  alone(second, NULL);
  weir_acquire_read(&under_lock);
  weir_acquire_read(&guarded);
  return under_lock == 2 && guarded.count == 2 ? ok() : 1;
}
