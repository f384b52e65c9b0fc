// One lock guards everything: the table of threads, in which every trace point looks its thread up,
// and the buffer. Threads are found by their pthread_t, by hash; the lines of a thread are counted
// in its entry, so it changes often.
#include "trace.h"

#include <stdarg.h>
#include <unistd.h>
#include <weir/weir.h>

#include "../random.h"
#include "../workload.h"

enum { kBuckets = 64, kName = 32, kNumber = 22, kBuffer = 64 << 10 };

struct Thread {
  struct Thread* next;  // in the bucket
  pthread_t self;
  char name[kName];
  enum TraceLevel level;
  unsigned units;
  struct TraceTotals totals;
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by: g_lock
static struct Thread* g_threads[kBuckets];
static struct TraceTotals g_totals;
static long g_number;  // of the last line
static char g_buffer[kBuffer];
static long g_used;
static int g_file;

uint64_t trace_sum_line(const char* line, long size) {
  return random_mix(digest(0, line, (size_t)size));
}

// Where the calling thread's entry hangs; where a new one would, if it has none.
static struct Thread** find_self(void) {
  const pthread_t self = pthread_self();
  struct Thread** at = &g_threads[random_mix((uint64_t)self) % kBuckets];
  while (*at && !pthread_equal((*at)->self, self)) at = &(*at)->next;
  return at;
}

static void empty_buffer(void) {
  for (long done = 0; g_file >= 0 && done < g_used;) {
    const ssize_t part = write(g_file, g_buffer + done, (size_t)(g_used - done));
    must(part <= 0, "writing the trace");
    done += part;
  }
  g_used = 0;
}

void trace_open(int file) {
  g_file = file;
  g_used = g_number = 0;
  g_totals = (struct TraceTotals){0, 0};
  weir_set_locked(&g_threads, &g_lock);
  weir_set_locked(&g_totals, &g_lock);
  weir_set_locked(&g_number, &g_lock);
  weir_set_locked(&g_buffer, &g_lock);
  weir_set_locked(&g_used, &g_lock);
  weir_set_locked(&g_file, &g_lock);
}

struct TraceTotals trace_close(void) {
  weir_acquire_write(&g_threads);
  weir_acquire_write(&g_totals);
  weir_acquire_write(&g_buffer);
  weir_acquire_write(&g_used);
  weir_acquire_write(&g_file);
  for (int i = 0; i < kBuckets; ++i) must(g_threads[i] != NULL, "removing all threads");
  empty_buffer();
  return g_totals;
}

void trace_add_thread(const char* name, enum TraceLevel level, unsigned units) {
  struct Thread* thread = weir_alloc(sizeof *thread, WEIR_PRIVATE);
  must(!thread, "malloc");
  memset(thread, 0, sizeof *thread);
  thread->self = pthread_self();
  snprintf(thread->name, sizeof thread->name, "%s", name);
  thread->level = level;
  thread->units = units;
  pthread_mutex_lock(&g_lock);
  struct Thread** at = find_self();
  must(*at != NULL, "registering a thread twice");
  *at = thread;
  weir_set_locked(thread, &g_lock);
  pthread_mutex_unlock(&g_lock);
}

void trace_remove_thread(void) {
  pthread_mutex_lock(&g_lock);
  struct Thread** at = find_self();
  struct Thread* thread = *at;
  if (thread) {
    *at = thread->next;
    g_totals.lines += thread->totals.lines;
    g_totals.sum += thread->totals.sum;
    weir_acquire_write(thread);
  }
  pthread_mutex_unlock(&g_lock);
  weir_free(thread);
}

void trace_set_level(enum TraceLevel level) {
  pthread_mutex_lock(&g_lock);
  struct Thread* thread = *find_self();
  if (thread) thread->level = level;
  pthread_mutex_unlock(&g_lock);
}

void trace_point(enum TraceLevel level, unsigned unit, const char* where, const char* format, ...) {
  pthread_mutex_lock(&g_lock);
  struct Thread* thread = *find_self();
  if (thread && level <= thread->level && (thread->units & unit)) {
    if (kBuffer - g_used < kNumber + kTraceLine) empty_buffer();
    g_used += snprintf(g_buffer + g_used, kNumber, "%ld ", ++g_number);
    // snprintf says how long the line would be, and puts a zero where the end of the line belongs.
    char* line = g_buffer + g_used;
    long size = snprintf(line, kTraceLine, "%s %*s%s ", thread->name, level, "", where);
    if (size < kTraceLine) {
      va_list arguments;
      va_start(arguments, format);
      size += vsnprintf(line + size, (size_t)(kTraceLine - size), format, arguments);
      va_end(arguments);
    }
    if (size > kTraceLine - 1) size = kTraceLine - 1;
    line[size] = '\n';
    ++thread->totals.lines;
    thread->totals.sum += trace_sum_line(line, size);
    g_used += size + 1;
  }
  pthread_mutex_unlock(&g_lock);
}
