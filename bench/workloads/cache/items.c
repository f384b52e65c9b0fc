// Memcached's order of locks: the lock of a hash (one for many buckets), then the lock of a class's
// list, then the slabs' lock. Who needs room goes the other way: he has the list and wants the
// oldest items, which other locks guard; so there he only tries, and passes over what others have.
//
// Policies: buckets lie together that one lock guards, and are slices locked by it; lists are
// locked by their own locks, what is free by the slabs' lock. An item has members that three
// different locks guard, and a value that is read without any: items are racy.
//
// A found item is used without any lock: its references say that it must not be freed, and a new
// value for the key is a new item. item_add alone changes a value in place, where nobody else holds
// the item.
#include "items.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

#include "../planted.h"
#include "../random.h"
#include "../workload.h"

enum {
  kBuckets = 1 << 17,
  kLocks = 1 << 10,
  kSlab = 256 << 10,
  kSmallest = 96,
  kClasses = 48,
  kTries = 50,
  kRefresh = 4
};

// A list by age, of one class of sizes.
struct Class {
  pthread_mutex_t lock;
  // Guarded by: lock
  struct Item *newest, *oldest;
  uint64_t items, bytes, evictions, expired;
};

struct Slabs {
  struct Item* free;
  char* slab;  // the last one; `left` bytes of it have not been used
  size_t left;
};

static struct weir_array *g_buckets, *g_classes;
static pthread_mutex_t g_locks[kLocks];
static size_t g_sizes[kClasses];
static int g_count;  // of classes
static pthread_mutex_t g_slabs_lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by: g_slabs_lock
static struct Slabs g_slabs[kClasses];
static size_t g_room;  // not yet given to slabs
static _Atomic uint32_t g_now = 2;

static struct Class* class_of(int number) { return weir_array_at(g_classes, (size_t)number); }
// Buckets of one lock lie side by side.
static struct Item** bucket_of(uint32_t hash) {
  return weir_array_at(g_buckets,
                       hash % kLocks * (kBuckets / kLocks) + hash / kLocks % (kBuckets / kLocks));
}

static void set_policies(void) {
  for (uint32_t i = 0; i < kLocks; ++i) weir_set_locked(bucket_of(i), &g_locks[i]);
  for (int i = 0; i < g_count; ++i) weir_set_locked(class_of(i), &class_of(i)->lock);
  weir_set_locked(&g_slabs, &g_slabs_lock);
  weir_set_locked(&g_room, &g_slabs_lock);
  weir_set_sticky_read(&g_buckets);
  weir_set_sticky_read(&g_classes);
  weir_set_sticky_read(&g_sizes);
  weir_set_sticky_read(&g_count);
  weir_set_racy(&g_now);
}

void items_open(size_t room) {
  g_buckets = weir_array_slice(kBuckets, sizeof(struct Item*), kBuckets / kLocks, WEIR_PRIVATE);
  g_classes = weir_array_split(kClasses, sizeof(struct Class), WEIR_PRIVATE);
  must(!g_buckets || !g_classes, "malloc");
  for (uint32_t i = 0; i < kLocks; ++i) {
    pthread_mutex_init(&g_locks[i], NULL);
    memset(bucket_of(i), 0, kBuckets / kLocks * sizeof(struct Item*));
  }
  g_room = room;
  for (size_t size = kSmallest; g_count < kClasses && size < kSlab;
       size = (size * 5 / 4 + 7) & ~(size_t)7) {
    memset(class_of(g_count), 0, sizeof(struct Class));
    pthread_mutex_init(&class_of(g_count)->lock, NULL);
    g_sizes[g_count++] = size;
  }
  g_sizes[g_count - 1] = kSlab;
  set_policies();
}

static uint32_t hash_of(const char* key, size_t size) {
  return (uint32_t)random_mix(digest(0, key, size));
}
static pthread_mutex_t* lock_of(uint32_t hash) { return &g_locks[hash % kLocks]; }
static size_t size_of(const struct Item* item) {
  return sizeof *item + item->key_size + item->value_size + 2;
}

// --- slabs

static struct Item* take_free(int class) {
  pthread_mutex_lock(&g_slabs_lock);
  struct Slabs* slabs = &g_slabs[class];
  struct Item* item = slabs->free;
  if (item) {
    slabs->free = item->next;
  } else {
    // Every class gets its first slab, however little room there is.
    if (slabs->left < g_sizes[class] && (g_room >= kSlab || !slabs->slab)) {
      must(!(slabs->slab = weir_alloc(kSlab, WEIR_RACY)), "malloc");
      slabs->left = kSlab;
      g_room -= g_room >= kSlab ? kSlab : g_room;
    }
    if (slabs->left >= g_sizes[class]) {
      item = (struct Item*)(void*)(slabs->slab + kSlab - slabs->left);
      slabs->left -= g_sizes[class];
    }
  }
  pthread_mutex_unlock(&g_slabs_lock);
  return item;
}

static void give_free(struct Item* item) {
  pthread_mutex_lock(&g_slabs_lock);
  item->next = g_slabs[item->class].free;
  g_slabs[item->class].free = item;
  pthread_mutex_unlock(&g_slabs_lock);
}

// --- lists by age

// REQUIRES: the lock of its class, in this and the next.
static void put_newest(struct Class* class, struct Item* item) {
  item->newer = NULL;
  item->older = class->newest;
  if (class->newest) class->newest->newer = item;
  else class->oldest = item;
  class->newest = item;
}

static void take_out(struct Class* class, struct Item* item) {
  *(item->newer ? &item->newer->older : &class->newest) = item->older;
  *(item->older ? &item->older->newer : &class->oldest) = item->newer;
}

static void count_in(struct Class* class, const struct Item* item) {
  ++class->items, class->bytes += size_of(item);
}
static void count_out(struct Class* class, const struct Item* item) {
  --class->items, class->bytes -= size_of(item);
}

// --- buckets. REQUIRES: the lock of the hash

static struct Item** find(uint32_t hash, const char* key, size_t size) {
  struct Item** at = bucket_of(hash);
  while (*at && ((*at)->hash != hash || (*at)->key_size != size || memcmp((*at)->bytes, key, size)))
    at = &(*at)->next;
  return at;
}

static int has_expired(const struct Item* item) {
  return item->expires && item->expires <= atomic_load(&g_now);
}

static void release_locked(struct Item* item) {
  if (--item->references == 0) give_free(item);
}

// Takes the item out of its bucket and its list, and releases it.
static void unlink_locked(struct Item** at, int expired) {
  struct Item* item = *at;
  struct Class* class = class_of(item->class);
  *at = item->next;
  pthread_mutex_lock(&class->lock);
  take_out(class, item);
  count_out(class, item);
  class->expired += (uint64_t)expired;
  pthread_mutex_unlock(&class->lock);
  release_locked(item);
}

static void link_locked(struct Item* item) {
  struct Class* class = class_of(item->class);
  struct Item** at = find(item->hash, item->bytes, item->key_size);
  if (*at) unlink_locked(at, 0);
  at = bucket_of(item->hash);
  item->next = *at;
  *at = item;
  ++item->references;
  pthread_mutex_lock(&class->lock);
  put_newest(class, item);
  count_in(class, item);
  pthread_mutex_unlock(&class->lock);
}

// The item of this key, unless it has expired.
static struct Item* find_locked(uint32_t hash, const char* key, size_t size) {
  struct Item** at = find(hash, key, size);
  if (!*at || !has_expired(*at)) return *at;
  unlink_locked(at, 1);
  return NULL;
}

// --- eviction

// The oldest item that nobody uses, taken out; its memory is the caller's.
static struct Item* evict(struct Class* class) {
  struct Item* found = NULL;
  pthread_mutex_lock(&class->lock);
  struct Item* item = class->oldest;
  for (int tries = 0; item && !found && tries < kTries; ++tries, item = item->newer) {
    // Nobody takes it from the list meanwhile, so its hash stays, and with the hash's lock it is in
    // its bucket.
    if (pthread_mutex_trylock(lock_of(item->hash))) continue;
    if (item->references == 1) {
      found = item;
      *find(found->hash, found->bytes, found->key_size) = found->next;
      take_out(class, found);
      count_out(class, found);
      if (has_expired(found)) ++class->expired;
      else ++class->evictions;
    }
    pthread_mutex_unlock(lock_of(item->hash));
  }
  pthread_mutex_unlock(&class->lock);
  return found;
}

// --- the interface

struct Item* item_new(const char* key, size_t key_size, uint32_t flags, long expires,
                      size_t value_size) {
  int class = 0;
  const size_t size = sizeof(struct Item) + key_size + value_size + 2;
  while (class < g_count && g_sizes[class] < size) ++class;
  if (class == g_count) return NULL;
  struct Item* item = take_free(class);
  if (!item) item = evict(class_of(class));
  if (!item) return NULL;
  item->next = item->newer = item->older = NULL;
  item->hash = hash_of(key, key_size);
  item->expires = expires < 0 ? 1 : expires ? atomic_load(&g_now) + (uint32_t)expires : 0;
  item->references = 1;
  item->finds = 0;
  item->flags = flags;
  item->value_size = (uint32_t)value_size;
  item->key_size = (uint8_t)key_size;
  item->class = (uint8_t) class;
  memcpy(item->bytes, key, key_size);
  memcpy(item_value(item) + value_size, "\r\n", 2);
  return item;
}

void item_link(struct Item* item) {
  pthread_mutex_lock(lock_of(item->hash));
  link_locked(item);
  pthread_mutex_unlock(lock_of(item->hash));
}

struct Item* item_get(const char* key, size_t key_size) {
  const uint32_t hash = hash_of(key, key_size);
  pthread_mutex_lock(lock_of(hash));
  struct Item* item = find_locked(hash, key, key_size);
  if (item) {
    ++item->references;
    // Not at every find, or the list would be what all wait for. Memcached does it once a minute;
    // here no clock runs.
    if (item->finds++ % kRefresh == 0) {
      struct Class* class = class_of(item->class);
      pthread_mutex_lock(&class->lock);
      take_out(class, item);
      put_newest(class, item);
      pthread_mutex_unlock(&class->lock);
    }
  }
  pthread_mutex_unlock(lock_of(hash));
  return item;
}

void item_release(struct Item* item) {
  pthread_mutex_t* lock = lock_of(item->hash);
  pthread_mutex_lock(lock);
  release_locked(item);
  pthread_mutex_unlock(lock);
}

int item_delete(const char* key, size_t key_size) {
  const uint32_t hash = hash_of(key, key_size);
  pthread_mutex_lock(lock_of(hash));
  const int found = find_locked(hash, key, key_size) != NULL;
  if (found) unlink_locked(find(hash, key, key_size), 0);
  pthread_mutex_unlock(lock_of(hash));
  return found;
}

// REQUIRES: the lock of its hash.
static enum ItemAdd add_locked(struct Item* item, uint64_t more, uint64_t* sum) {
  char digits[24], *rest;
  if (!item->value_size || item->value_size >= sizeof digits) return kNotNumber;
  memcpy(digits, item_value(item), item->value_size);
  digits[item->value_size] = 0;
  *sum = strtoull(digits, &rest, 10) + more;
  if (*rest || digits[0] < '0' || digits[0] > '9') return kNotNumber;
  const size_t size = (size_t)snprintf(digits, sizeof digits, "%lu", *sum);
  if (size == item->value_size && item->references == 1) {
    memcpy(item_value(item), digits, size);
    return kAdded;
  }
  struct Item* next = item_new(item->bytes, item->key_size, item->flags, 0, size);
  if (!next) return kNoMemory;
  next->expires = item->expires;
  memcpy(item_value(next), digits, size);
  link_locked(next);
  release_locked(next);
  return kAdded;
}

enum ItemAdd item_add(const char* key, size_t key_size, uint64_t more, uint64_t* sum) {
  const uint32_t hash = hash_of(key, key_size);
  pthread_mutex_lock(lock_of(hash));
  struct Item* item = find_locked(hash, key, key_size);
  const enum ItemAdd outcome = item ? add_locked(item, more, sum) : kNotFound;
  pthread_mutex_unlock(lock_of(hash));
  return outcome;
}

void items_tick(uint32_t seconds) { atomic_fetch_add(&g_now, seconds); }

struct ItemStats items_stats(void) {
  struct ItemStats stats = {0};
  for (int i = 0; i < g_count; ++i) {
    struct Class* class = class_of(i);
    if (!PLANTED(6)) pthread_mutex_lock(&class->lock);
    stats.items += class->items;
    stats.bytes += class->bytes;
    stats.evictions += class->evictions;
    stats.expired += class->expired;
    if (!PLANTED(6)) pthread_mutex_unlock(&class->lock);
  }
  pthread_mutex_lock(&g_slabs_lock);
  stats.room = g_room;
  pthread_mutex_unlock(&g_slabs_lock);
  return stats;
}
