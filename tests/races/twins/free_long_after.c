// One thread puts an object into a list and writes it a last time; later another takes and frees it.
#include "twin.h"

struct port {
  struct port* next;
  int number, type;
};

static struct port* ports;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* creator(void* unused) {
  struct port* port = (struct port*)calloc(1, sizeof(struct port));
  if (!RACY) port->type = 9;
  port->number = 1;
  pthread_mutex_lock(&mutex);
  port->next = ports;
  ports = port;
  pthread_mutex_unlock(&mutex);
  if (RACY) port->type = 9;  // RACE
  return unused;
}

static void* remover(void* unused) {
  pause_ms(60);
  pthread_mutex_lock(&mutex);
  struct port* port = ports;
  if (port != NULL) ports = port->next;
  pthread_mutex_unlock(&mutex);
  free(port);  // RACE
  return unused;
}

int main(void) {
  run_two(creator, remover);
  return 0;
}
