// compiler: weir-cc
#include "threads.h"
static int named = 1, unnamed = 2;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
  (void)argument;
  unnamed++;  /* in order: nothing is declared of it */
  named++;  /* REPORT policy lock-not-held access OTHER declared */
  return NULL;
}
int main(void) { /* where policies are inferred, those variables are objects whose policy the program changes */
  if (weir_policy_of(&named) != -1) return 1;
  weir_set_locked(&named, &lock);  /* IS declared */
  if (weir_active() && weir_policy_of(&named) != WEIR_LOCKED) return 1;
  alone(work, NULL);
  alone(work, NULL);
  return unnamed == 4 ? ok() : 1;
}
