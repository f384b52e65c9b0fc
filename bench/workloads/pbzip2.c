// Compression of a file by blocks in parallel, as pbzip2 does it: one thread cuts the input into
// blocks, N compress, one writes what comes out in the order of the input.
// Sharing: blocks go to the workers by a bounded queue, and their memory with them; what a worker
// has made goes into the
//          place of its block in a ring, under one lock with a condition, from where the writer
//          takes and frees it. The cutter waits while the ring is full. Each block is compressed
//          for milliseconds, so threads meet seldom.
// Policies: what lies between two threads belongs to nobody (released, acquired); queue and ring
// are locked; settings are set once (sticky-read).
// Result:  sizes and a digest of the output, which does not depend on the threads. --check unpacks
//          it again and compares.
// Source:  a benchmark of PUSh (MICRO 2019), section 4: pbzip2-0.9.4, a file of 2 GB of random
//          content.
// Sizes:   large is 256 MB; half of the bytes are random, so that there is something to compress.
#include <bzlib.h>
#include <weir/weir.h>

#include "bounded_queue.h"
#include "options.h"
#include "planted.h"
#include "random.h"
#include "workload.h"

enum {
  kRing = 64,
  kRatio = 100
};  // kRatio: a block's packed bytes may be more than its bytes by one part of that, and some
static const struct {
  size_t bytes, block;
} kSizeOf[kSizes] = {{400 << 10, 10 << 10}, {24 << 20, 300 << 10}, {256 << 20, 900 << 10}};

struct Block {
  long number;
  unsigned size;
  unsigned char* bytes;
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;
// Guarded by: g_lock
static struct Block* g_ring[kRing];  // packed blocks by number
static long g_next;                  // the one that the writer waits for
static int g_all_packed;

static struct Queue g_to_pack;
static unsigned char *g_input, *g_output;  // the output: the writer's, and main's in the end
static size_t g_size, g_block_size, g_output_size;
static long g_blocks, g_packers_left;
static struct Options g_options;

// --- what both versions compute

static struct Block* new_block(long number, size_t room) {
  struct Block* block = weir_alloc(sizeof *block, WEIR_PRIVATE);
  must(!block, "malloc");
  block->number = number;
  block->size = (unsigned)room;
  must(!(block->bytes = weir_alloc(room, WEIR_PRIVATE)), "malloc");
  return block;
}

static void free_block(struct Block* block) {
  weir_free(block->bytes);
  weir_free(block);
}

// A block is handed on with its bytes.
static void give(const struct Block* block) {
  weir_release_write(block->bytes);
  weir_release_write(block);
}
static void take(const struct Block* block) {
  weir_acquire_write(block);
  weir_acquire_write(block->bytes);
}

static struct Block* read_block(long number) {
  const size_t from = (size_t)number * g_block_size, left = g_size - from;
  struct Block* block = new_block(number, left < g_block_size ? left : g_block_size);
  memcpy(block->bytes, g_input + from, block->size);
  return block;
}

static struct Block* pack(struct Block* block) {
  struct Block* packed = new_block(block->number, block->size + block->size / kRatio + 600);
  must(BZ2_bzBuffToBuffCompress((char*)packed->bytes, &packed->size, (char*)block->bytes,
                                block->size, 9, 0, 30) != BZ_OK,
       "BZ2_bzBuffToBuffCompress");
  free_block(block);
  return packed;
}

static void write_block(struct Block* packed) {
  memcpy(g_output + g_output_size, packed->bytes, packed->size);
  g_output_size += packed->size;
  free_block(packed);
}

static void sequential(void) {
  for (long number = 0; number < g_blocks; ++number) write_block(pack(read_block(number)));
}

// --- threads

// Planted: how far all have come, by a variable that threads look at without a lock.
static long g_progress;
static void set_progress(long number) {
  weir_acquire_write(&g_progress);
  g_progress = number;
  weir_release_write(&g_progress);
}
static long progress(void) {
  weir_acquire_read(&g_progress);
  const long number = g_progress;
  weir_release_read(&g_progress);
  return number;
}

static void cut(void) {
  for (long number = 0; number < g_blocks; ++number) {
    if (PLANTED(8) && g_output_size > 2 * g_size) break;
    pthread_mutex_lock(&g_lock);
    while (number >= g_next + kRing) pthread_cond_wait(&g_changed, &g_lock);
    pthread_mutex_unlock(&g_lock);
    struct Block* block = read_block(number);
    give(block);
    queue_push(&g_to_pack, block);
  }
  queue_close(&g_to_pack);
}

static void pack_blocks(void) {
  for (struct Block* block; (block = queue_pop(&g_to_pack));) {
    take(block);
    struct Block* packed = pack(block);
    const long place = packed->number % kRing;
    if (PLANTED(7)) set_progress(packed->number);
    give(packed);
    pthread_mutex_lock(&g_lock);
    g_ring[place] = packed;
    pthread_cond_broadcast(&g_changed);
    pthread_mutex_unlock(&g_lock);
  }
  pthread_mutex_lock(&g_lock);
  if (--g_packers_left == 0) g_all_packed = 1;
  pthread_mutex_unlock(&g_lock);
  if (PLANTED(9) && g_all_packed > 1) pthread_cond_broadcast(&g_changed);
}

static void write_in_order(void) {
  weir_acquire_write(g_output);
  weir_acquire_write(&g_output_size);
  for (long number = 0; number < g_blocks; ++number) {
    struct Block** place = &g_ring[number % kRing];
    pthread_mutex_lock(&g_lock);
    while (!*place) pthread_cond_wait(&g_changed, &g_lock);
    struct Block* packed = *place;
    *place = NULL;
    g_next = number + 1;
    pthread_cond_broadcast(&g_changed);
    pthread_mutex_unlock(&g_lock);
    take(packed);
    write_block(packed);
    if (PLANTED(7) && progress() < 0) break;
  }
  if (PLANTED(10) && g_to_pack.count) queue_close(&g_to_pack);
  weir_release_write(g_output);
  weir_release_write(&g_output_size);
}

static void* worker(void* number) {
  if ((long)number == 0) cut();
  else if ((long)number == 1) write_in_order();
  else pack_blocks();
  return NULL;
}

static void set_policies(void) {
  weir_set_locked(&g_ring, &g_lock);
  weir_set_locked(&g_next, &g_lock);
  weir_set_locked(&g_all_packed, &g_lock);
  weir_set_locked(&g_packers_left, &g_lock);
  weir_set_sticky_read(&g_input);
  weir_set_sticky_read(g_input);
  weir_set_sticky_read(&g_output);
  weir_release_write(g_output);
  weir_acquire_write(&g_output_size);
  weir_release_write(&g_output_size);
  weir_set_sticky_read(&g_size);
  weir_set_sticky_read(&g_block_size);
  weir_set_sticky_read(&g_blocks);
}

// --- input and check

static void make_input(void) {
  struct Random random = random_stream(g_options.seed, 0);
  g_input = weir_alloc(g_size, WEIR_PRIVATE);
  must(!g_input, "malloc");
  random_fill(&random, g_input, g_size);
  for (size_t i = 0; i < g_size; ++i) {
    if (g_input[i] & 1) g_input[i] = (unsigned char)('a' + (i / 3) % 5);
  }
}

static int unpacks(void) {
  unsigned char* bytes = malloc(g_block_size);
  size_t done = 0, at = 0;
  must(!bytes, "malloc");
  for (long number = 0; number < g_blocks; ++number) {
    bz_stream stream = {.next_in = (char*)g_output + at,
                        .avail_in = (unsigned)(g_output_size - at),
                        .next_out = (char*)bytes,
                        .avail_out = (unsigned)g_block_size};
    must(BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK, "BZ2_bzDecompressInit");
    if (BZ2_bzDecompress(&stream) != BZ_STREAM_END) return 0;
    const size_t size = g_block_size - stream.avail_out;
    at = g_output_size - stream.avail_in;
    BZ2_bzDecompressEnd(&stream);
    if (memcmp(bytes, g_input + done, size)) return 0;
    done += size;
  }
  free(bytes);
  return done == g_size && at == g_output_size;
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--check", NULL};
  g_options = parse_options(argc, argv, extra);
  must(g_options.threads > kMaxThreads - 2, "more than 62 threads");
  g_size = kSizeOf[g_options.size].bytes;
  g_block_size = kSizeOf[g_options.size].block;
  g_blocks = (long)((g_size + g_block_size - 1) / g_block_size);
  make_input();
  must(!(g_output = weir_alloc(g_size + g_size / kRatio + 600 * (size_t)g_blocks, WEIR_PRIVATE)),
       "malloc");
  if (g_options.sequential) {
    sequential();
  } else {
    g_packers_left = g_options.threads;
    queue_open(&g_to_pack, 1);
    set_policies();
    run_threads(g_options.threads + 2, worker);
    weir_acquire_read(g_output);
    weir_acquire_read(&g_output_size);
  }
  printf("%zu bytes in %ld blocks, packed %zu, digest %016lx\n", g_size, g_blocks, g_output_size,
         (unsigned long)digest(0, g_output, g_output_size));
  if (has_option(argc, argv, "--check")) {
    const int same = unpacks();
    printf("unpacked: %s\n", same ? "yes" : "no");
    if (!same) return 1;
  }
  return 0;
}
