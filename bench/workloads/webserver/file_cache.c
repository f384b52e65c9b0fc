// A table under one read-write lock. Who finds a file only reads the table, and counts itself as a
// user by an atomic; who misses reads the file without the lock, then takes the lock to put it in.
// What is pushed out is found by the clock algorithm: a hand goes round all files, spares those
// found since it last came by, once, and those in use.
//
// Policies: table, ring and entries are locked, by readers and writers; a file's users are counted
// by atomics, so its record is racy; its contents are read-shared by those who use it. What an
// entry points to is reached by users without the lock, and lies apart.
//
// Invariant: users rise from 0 under the lock only (shared or not), so who has it alone and sees 0
// may free the file.
#include "file_cache.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/weir.h>

#include "../random.h"
#include "../workload.h"

enum { kBuckets = 1 << 12 };

struct Counted {
  struct CachedFile file;  // first: a user's pointer is this one's
  atomic_long users;
  atomic_int found;  // since the hand last came by
};

struct Entry {
  struct Counted* counted;
  struct Entry* next;            // in the bucket
  struct Entry *before, *after;  // in the ring that the hand goes round
  char* path;
};

static pthread_rwlock_t g_lock = PTHREAD_RWLOCK_INITIALIZER;
// Guarded by: g_lock
static struct Entry* g_buckets[kBuckets];
static struct Entry* g_hand;
static size_t g_room, g_used;
static long g_evictions;

static atomic_long g_hits, g_misses;

void cache_open(size_t room) {
  g_room = room;
  weir_set_locked(&g_buckets, &g_lock);
  weir_set_locked(&g_hand, &g_lock);
  weir_set_locked(&g_room, &g_lock);
  weir_set_locked(&g_used, &g_lock);
  weir_set_locked(&g_evictions, &g_lock);
  weir_set_racy(&g_hits);
  weir_set_racy(&g_misses);
}

static struct Entry** find(const char* path) {
  struct Entry** at = &g_buckets[digest(0, path, strlen(path)) % kBuckets];
  while (*at && strcmp((*at)->path, path)) at = &(*at)->next;
  return at;
}

static struct Counted* use(struct Counted* counted) {
  atomic_fetch_add(&counted->users, 1);
  // Most of the time it is set already; a store would take the line away from all others.
  if (!atomic_load(&counted->found)) atomic_store(&counted->found, 1);
  return counted;
}

static void free_entry(struct Entry* entry) {
  weir_free(entry->counted->file.bytes);
  weir_free(entry->counted);
  free(entry->path);
  weir_free(entry);
}

static struct Entry* load(const char* path) {
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return NULL;
  struct Entry* entry = NULL;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    entry = weir_alloc(sizeof *entry, WEIR_PRIVATE);
    struct Counted* counted = weir_alloc(sizeof *counted, WEIR_RACY);
    must(!entry || !counted, "malloc");
    memset(entry, 0, sizeof *entry);
    memset(counted, 0, sizeof *counted);
    entry->counted = counted;
    entry->path = strdup(path);
    counted->file.bytes = weir_alloc((size_t)status.st_size + 1, WEIR_PRIVATE);
    must(!entry->path || !counted->file.bytes, "malloc");
    // A file that becomes shorter meanwhile is served as it is then.
    for (ssize_t part; counted->file.size < (size_t)status.st_size;
         counted->file.size += (size_t)part) {
      part = read(file, counted->file.bytes + counted->file.size,
                  (size_t)status.st_size - counted->file.size);
      if (part <= 0) break;
    }
    weir_release_write(counted->file.bytes);
  }
  close(file);
  return entry;
}

static void push_out(struct Entry* entry) {
  struct Entry** at = find(entry->path);
  *at = entry->next;
  entry->before->after = entry->after;
  entry->after->before = entry->before;
  g_hand = entry->after == entry ? NULL : entry->after;
  g_used -= entry->counted->file.size;
  ++g_evictions;
  free_entry(entry);
}

static void make_room(size_t size) {
  // Twice round: the first time all may have been found lately.
  const struct Entry* start = g_hand;
  for (int rounds = 0; g_hand && g_used + size > g_room && rounds < 2;) {
    struct Entry* entry = g_hand;
    if (atomic_load(&entry->counted->users) == 0 && !atomic_exchange(&entry->counted->found, 0)) {
      push_out(entry);
      start = g_hand;
      rounds = 0;
    } else {
      g_hand = entry->after;
      rounds += g_hand == start;
    }
  }
}

const struct CachedFile* cache_get(const char* path) {
  pthread_rwlock_rdlock(&g_lock);
  struct Entry* entry = *find(path);
  struct Counted* counted = entry ? use(entry->counted) : NULL;
  pthread_rwlock_unlock(&g_lock);
  if (counted) {
    atomic_fetch_add(&g_hits, 1);
    weir_acquire_read(counted->file.bytes);
    return &counted->file;
  }
  struct Entry* loaded = load(path);
  if (!loaded) return NULL;
  atomic_fetch_add(&g_misses, 1);
  pthread_rwlock_wrlock(&g_lock);
  struct Entry** at = find(path);
  if (*at) {  // another worker was faster
    counted = use((*at)->counted);
  } else {
    make_room(loaded->counted->file.size);
    at = find(path);  // what was pushed out may have been in this bucket
    *at = entry = loaded;
    counted = use(entry->counted);
    weir_set_locked(entry, &g_lock);
    g_used += counted->file.size;
    if (g_hand) {  // just behind the hand: it comes by last
      entry->after = g_hand;
      entry->before = g_hand->before;
      entry->before->after = entry->after->before = entry;
    } else {
      g_hand = entry->before = entry->after = entry;
    }
    loaded = NULL;
  }
  pthread_rwlock_unlock(&g_lock);
  if (loaded) free_entry(loaded);
  weir_acquire_read(counted->file.bytes);
  return &counted->file;
}

void cache_put(const struct CachedFile* file) {
  weir_release_read(file->bytes);
  atomic_fetch_sub(&((struct Counted*)(void*)file)->users, 1);
}

struct CacheCounts cache_counts(void) {
  pthread_rwlock_rdlock(&g_lock);
  const struct CacheCounts counts = {atomic_load(&g_hits), atomic_load(&g_misses), g_evictions};
  pthread_rwlock_unlock(&g_lock);
  return counts;
}
