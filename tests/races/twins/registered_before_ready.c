// A device is in the list before its name is set.
#include "twin.h"

struct device {
  const char* name;
  struct device* next;
};
static struct device* devices;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* probe(void* unused) {
  struct device* const device = calloc(1, sizeof *device);
  if (!RACY) device->name = "disk";
  pthread_mutex_lock(&mutex);
  device->next = devices;
  devices = device;
  pthread_mutex_unlock(&mutex);
  if (RACY) device->name = "disk";  // RACE
  return unused;
}

static void* list(void* unused) {
  pause_ms(3);
  pthread_mutex_lock(&mutex);
  for (struct device* at = devices; at; at = at->next) use((long)at->name);  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(probe, list);
  return 0;
}
