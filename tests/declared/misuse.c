#include "threads.h"
static long array[4];
static void *use(void *argument) {
  int here = 0;
  weir_acquire_write(NULL);                                /* REPORT misuse null acquire-write */
  weir_object_declare(NULL, 8, WEIR_RACY);                 /* REPORT misuse null access */
  weir_object_declare(&array[0], 0, WEIR_RACY);            /* REPORT misuse null access */
  weir_object_declare(&array[1], 2 * sizeof(long), WEIR_RACY);
  weir_object_declare(&array[0], 2 * sizeof(long), WEIR_RACY);  /* REPORT misuse overlaps access */
  weir_object_declare((void *)0x7000, 8, WEIR_RACY);       /* REPORT misuse foreign access */
  weir_acquire_read((void *)0x7000);                       /* REPORT misuse foreign acquire-read */
  weir_acquire_read(&here);                                /* REPORT misuse unknown-object acquire-read */
  weir_object_forget(&array[1]);
  weir_object_forget(&array[1]);                           /* REPORT misuse unknown-object access */
  weir_set_locked(argument, NULL);                         /* REPORT misuse null to-locked */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_UNTOUCHED);
  use(object);
  alone(use, object);
  return ok();
}
