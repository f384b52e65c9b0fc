// The items of the cache: keys with values, found by hash, forgotten by age of use. All functions
// may be called by all threads at once, but for items_open.
#ifndef WEIR_BENCH_CACHE_ITEMS_H
#define WEIR_BENCH_CACHE_ITEMS_H
#include <stddef.h>
#include <stdint.h>

enum { kMaxKey = 250, kMaxValue = 200 << 10 };

struct Item {
  // In its bucket. Guarded by: the lock of its hash; while free: the slabs' lock.
  struct Item* next;
  struct Item *newer, *older;  // Guarded by: the lock of its class
  uint32_t hash;               // constant from item_new on, as all that is not guarded
  int references;    // users, and one more while it is linked. Guarded by: the lock of its hash
  unsigned finds;    // likewise
  uint32_t expires;  // on the cache's clock; 0: never
  uint32_t flags, value_size;
  uint8_t key_size, class;
  char bytes[];  // key, value, CR LF
};

static inline char* item_value(struct Item* item) { return item->bytes + item->key_size; }

struct ItemStats {
  uint64_t items, bytes, evictions, expired, room;
};

// `room`: bytes that items may take, in slabs.
void items_open(size_t room);

// An item of the caller's alone, whose value he fills in; it is released, linked or not. NULL: no
// memory can be had. `expires`: seconds from now; 0: never; below: it is so already.
struct Item* item_new(const char* key, size_t key_size, uint32_t flags, long expires,
                      size_t value_size);
// It takes the place of the item of the same key, if there is one.
void item_link(struct Item* item);
// With a reference of the caller's; NULL: there is none. Its value does not change while it is
// held.
struct Item* item_get(const char* key, size_t key_size);
void item_release(struct Item* item);
// Whether there was one.
int item_delete(const char* key, size_t key_size);

enum ItemAdd { kAdded, kNotFound, kNotNumber, kNoMemory };
enum ItemAdd item_add(const char* key, size_t key_size, uint64_t more, uint64_t* sum);

// The clock moves by this alone, so that what expires does not depend on how long anything takes.
void items_tick(uint32_t seconds);

struct ItemStats items_stats(void);

#endif
