// Sorting of whole numbers digit by digit, as SPLASH-2's radix does it.
// Sharing: each thread owns a stretch of the keys. In each pass it counts the digits of its keys;
// the counts go up a
//          binary tree of threads and the first places for each digit come down again, threads of
//          the tree waiting for one another on conditions. Then each thread writes its keys to
//          their new places, scattered over the whole array: every thread writes nearly every page,
//          each other words of it. Barriers divide the passes.
// Result:  a digest of the sorted keys and their places, and two checks: they are in order, and
//          they are the keys that there were (two sums). All sums are of whole numbers, so their
//          order does not show.
// Sizes:   small 2^14 keys of 16 bits, medium 2^24 of 24 bits, large 2^26 of 24 bits; digits of 8,
//          12 and 12 bits.
#include "options.h"
#include "random.h"
#include "workload.h"

struct Setting {
  long keys;
  int key_bits, digit_bits;
};
static const struct Setting kSettings[] = {{1 << 14, 16, 8}, {1 << 24, 24, 12}, {1 << 26, 24, 12}};

// Of the stretches of 2^level neighbours. Passes are counted so that nothing has to be set back.
struct Node {
  long* counts;  // of each digit
  long* first;   // place of the first key of each digit
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int counted, placed;  // passes for which that is there; guarded by lock
};
enum { kMaxLevels = 7 };  // 64 threads

// Of one stretch of the sorted keys; `before` and `after` of keys without their places.
struct Check {
  uint64_t digest, before[2], after[2], disorders;
};

static struct Setting g_setting;
static long g_threads, g_digits;
static int g_levels;
static uint64_t g_seed;
static uint32_t *g_keys, *g_other;
static struct Node* g_tree[kMaxLevels];  // the leaves first
static struct Check g_checks[kMaxThreads];
static pthread_barrier_t g_barrier;

static uint32_t key(long i) {
  return (uint32_t)(random_mix(g_seed + random_mix((uint64_t)i)) >> (64 - g_setting.key_bits));
}

static uint32_t digit_of(uint32_t of, int pass) {
  return of >> pass * g_setting.digit_bits & (uint32_t)(g_digits - 1);
}

static int passes(void) {
  return (g_setting.key_bits + g_setting.digit_bits - 1) / g_setting.digit_bits;
}

static void swap_arrays(uint32_t** one, uint32_t** other) {
  uint32_t* swapped = *one;
  *one = *other;
  *other = swapped;
}

static void* array(long count, size_t size) {
  void* made = calloc((size_t)count, size);
  must(!made, "malloc");
  return made;
}

static struct Check check(const uint32_t* keys, long first, long limit) {
  struct Check check = {0};
  for (long i = first; i < limit; ++i) {
    const uint64_t before = key(i), after = keys[i];
    check.before[0] += random_mix(before);
    check.before[1] += before * before;
    check.after[0] += random_mix(after);
    check.after[1] += after * after;
    check.digest += random_mix(after << 32 | (uint64_t)i);
    check.disorders += i > 0 && keys[i - 1] > keys[i];
  }
  return check;
}

// --- sequential

static void sort_sequentially(void) {
  long* places = array(g_digits, sizeof *places);
  for (long i = 0; i < g_setting.keys; ++i) g_keys[i] = key(i);
  for (int pass = 0; pass < passes(); ++pass) {
    memset(places, 0, (size_t)g_digits * sizeof *places);
    for (long i = 0; i < g_setting.keys; ++i) ++places[digit_of(g_keys[i], pass)];
    for (long digit = 0, before = 0; digit < g_digits; ++digit) {
      const long count = places[digit];
      places[digit] = before;
      before += count;
    }
    for (long i = 0; i < g_setting.keys; ++i)
      g_other[places[digit_of(g_keys[i], pass)]++] = g_keys[i];
    swap_arrays(&g_keys, &g_other);
  }
  g_checks[0] = check(g_keys, 0, g_setting.keys);
  free(places);
}

// --- threads

static long nodes_of(int level) { return ((g_threads - 1) >> level) + 1; }

static void make_tree(void) {
  for (g_levels = 0; g_levels == 0 || nodes_of(g_levels - 1) > 1; ++g_levels) {
    g_tree[g_levels] = array(nodes_of(g_levels), sizeof(struct Node));
    for (long i = 0; i < nodes_of(g_levels); ++i) {
      struct Node* node = &g_tree[g_levels][i];
      node->counts = array(g_digits, sizeof *node->counts);
      node->first = array(g_digits, sizeof *node->first);
      must(pthread_mutex_init(&node->lock, NULL), "pthread_mutex_init");
      must(pthread_cond_init(&node->changed, NULL), "pthread_cond_init");
    }
  }
}

static void tell(struct Node* node, int* what, int passes_done) {
  pthread_mutex_lock(&node->lock);
  *what = passes_done;
  pthread_cond_signal(&node->changed);
  pthread_mutex_unlock(&node->lock);
}

static void wait_for(struct Node* node, const int* what, int passes_done) {
  pthread_mutex_lock(&node->lock);
  while (*what < passes_done) pthread_cond_wait(&node->changed, &node->lock);
  pthread_mutex_unlock(&node->lock);
}

// Up: a right node tells that its counts are there, and waits for its places; the thread of a left
// node adds up both and goes on with their parent. Down: who has a parent's places gives the left
// node the same, and the right one those behind.
static void place_digits(long me, int pass) {
  int level = 0;
  while (level + 1 < g_levels && !(me >> level & 1)) {
    const long index = me >> level;
    const struct Node* left = &g_tree[level][index];
    struct Node *right = index + 1 < nodes_of(level) ? &g_tree[level][index + 1] : NULL,
                *parent = &g_tree[level + 1][index / 2];
    if (right) wait_for(right, &right->counted, pass + 1);
    for (long digit = 0; digit < g_digits; ++digit) {
      parent->counts[digit] = left->counts[digit] + (right ? right->counts[digit] : 0);
    }
    ++level;
  }
  struct Node* top = &g_tree[level][me >> level];
  if (level + 1 < g_levels) {
    tell(top, &top->counted, pass + 1);
    wait_for(top, &top->placed, pass + 1);
  } else {
    for (long digit = 0, before = 0; digit < g_digits; before += top->counts[digit++])
      top->first[digit] = before;
  }
  while (--level >= 0) {
    const long index = me >> level;
    const struct Node* parent = &g_tree[level + 1][index / 2];
    struct Node *left = &g_tree[level][index],
                *right = index + 1 < nodes_of(level) ? left + 1 : NULL;
    for (long digit = 0; digit < g_digits; ++digit) {
      left->first[digit] = parent->first[digit];
      if (right) right->first[digit] = parent->first[digit] + left->counts[digit];
    }
    if (right) tell(right, &right->placed, pass + 1);
  }
}

static void* worker(void* number) {
  const long me = (long)number, first = g_setting.keys * me / g_threads,
             limit = g_setting.keys * (me + 1) / g_threads;
  uint32_t *from = g_keys, *to = g_other;
  struct Node* leaf = &g_tree[0][me];
  for (long i = first; i < limit; ++i) from[i] = key(i);
  for (int pass = 0; pass < passes(); ++pass) {
    memset(leaf->counts, 0, (size_t)g_digits * sizeof *leaf->counts);
    for (long i = first; i < limit; ++i) ++leaf->counts[digit_of(from[i], pass)];
    place_digits(me, pass);
    for (long i = first; i < limit; ++i) to[leaf->first[digit_of(from[i], pass)]++] = from[i];
    pthread_barrier_wait(&g_barrier);
    swap_arrays(&from, &to);
  }
  g_checks[me] = check(from, first, limit);
  return NULL;
}

static void sort_by_threads(void) {
  make_tree();
  run_with_barrier(g_threads, worker, &g_barrier);
  if (passes() % 2) swap_arrays(&g_keys, &g_other);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_seed = options.seed;
  g_setting = kSettings[options.size];
  g_digits = 1L << g_setting.digit_bits;
  g_keys = array(g_setting.keys, sizeof *g_keys);
  g_other = array(g_setting.keys, sizeof *g_other);
  if (options.sequential) sort_sequentially();
  else sort_by_threads();

  struct Check sum = g_checks[0];
  for (long thread = 1; thread < g_threads;
       ++thread) {  // of the sequential version only the first is not zero
    const struct Check* more = &g_checks[thread];
    sum.digest += more->digest;
    sum.disorders += more->disorders;
    for (int i = 0; i < 2; ++i) {
      sum.before[i] += more->before[i];
      sum.after[i] += more->after[i];
    }
  }
  const int same = sum.before[0] == sum.after[0] && sum.before[1] == sum.after[1];
  printf("%ld keys, digest %016lx, median %lu\n", g_setting.keys, (unsigned long)sum.digest,
         (unsigned long)g_keys[g_setting.keys / 2]);
  printf("in order: %s, the same keys: %s\n", sum.disorders ? "no" : "yes", same ? "yes" : "no");
  return !(same && !sum.disorders);
}
