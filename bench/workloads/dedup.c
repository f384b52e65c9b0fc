// Compression of a stream by leaving out what was there already, as PARSEC's dedup does it: it is
// cut where a rolling hash says so, coarsely, then finely; a chunk is known by its SHA-1; the first
// of its kind is compressed, others become references.
// Sharing: a pipeline of five stages with bounded queues; fine cutting, hashing and compressing
// have N threads each.
//          The table of chunks has a lock for each bucket. Memory goes from hand to hand: what one
//          stage allocates, the last one frees.
// Result:  sizes and the output's SHA-1. Which of two equal chunks is compressed depends on the
//          threads, the output does not. --check reads the output back and compares what it
//          restores.
// Sizes:   large is PARSEC's simlarge, 184 MB.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "bounded_queue.h"
#include "options.h"
#include "random.h"
#include "sha1.h"
#include "workload.h"

enum {
  kBuckets = 1 << 14,
  kCoarse = 128 << 10,
  kFewest = 1 << 10,
  kMax = 32 << 10,
  kOutput = 64 << 10
};
static const uint64_t kFineMask = 0xfffull << 40;  // one place in 4096
static const uint64_t kCoarseMask = 0x3fffull << 40;
static const size_t kBytes[] = {256 << 10, 32 << 20, 184 << 20};

// Contents that occur at least once.
struct Content {
  struct Sha1 sum;
  struct Content* next;  // in the bucket
  // From the stage that compresses to the last one:
  unsigned char* packed;
  uLongf packed_size;
  // Of the last stage only:
  int ready;
  long index;  // in the output; -1: not written yet
};

struct Chunk {
  const unsigned char* bytes;
  size_t size;
  long coarse, fine;  // its place in the stream
  int last_fine;      // the last of its coarse chunk
  int first;          // the first of its contents to come to the table
  struct Content* content;
};

struct Bucket {
  pthread_mutex_t lock;
  struct Content* contents;
};

static unsigned char* g_bytes;
static size_t g_size;
static long g_threads;
static uint64_t g_gear[256];  // of the rolling hash
static struct Bucket g_buckets[kBuckets];
static struct Queue g_to_cut, g_to_hash, g_to_pack, g_to_write;

// --- what both versions compute

// Bytes up to where the hash of the last 64 bytes has no bit of the mask; at least `fewest`, at
// most `most`.
static size_t cut(const unsigned char* bytes, size_t size, uint64_t mask, size_t fewest,
                  size_t most) {
  if (size <= fewest) return size;
  uint64_t hash = 0;
  if (size > most) size = most;
  for (size_t i = fewest - 64; i < size; ++i) {
    hash = (hash << 1) + g_gear[bytes[i]];
    if (i >= fewest && !(hash & mask)) return i + 1;
  }
  return size;
}

static size_t cut_coarse(const unsigned char* bytes, size_t size) {
  return cut(bytes, size, kCoarseMask, kCoarse, size);
}
static size_t cut_fine(const unsigned char* bytes, size_t size) {
  return cut(bytes, size, kFineMask, kFewest, kMax);
}

static struct Chunk* new_chunk(const unsigned char* bytes, size_t size, long coarse, long fine) {
  struct Chunk* chunk = calloc(1, sizeof *chunk);
  must(!chunk, "malloc");
  *chunk = (struct Chunk){.bytes = bytes, .size = size, .coarse = coarse, .fine = fine};
  return chunk;
}

static unsigned bucket_of(const struct Sha1* sum) {
  return (sum->bytes[0] | (unsigned)sum->bytes[1] << 8) % kBuckets;
}

static struct Content* find(const struct Bucket* bucket, const struct Sha1* sum) {
  struct Content* content = bucket->contents;
  while (content && memcmp(&content->sum, sum, sizeof *sum) != 0) content = content->next;
  return content;
}

static struct Content* insert(struct Bucket* bucket, const struct Sha1* sum) {
  struct Content* content = calloc(1, sizeof *content);
  must(!content, "malloc");
  content->sum = *sum;
  content->index = -1;
  content->next = bucket->contents;
  return bucket->contents = content;
}

static void pack(const struct Chunk* chunk) {
  struct Content* content = chunk->content;
  content->packed_size = compressBound(chunk->size);
  content->packed = malloc(content->packed_size);
  must(!content->packed, "malloc");
  must(compress(content->packed, &content->packed_size, chunk->bytes, chunk->size) != Z_OK,
       "compress");
}

// --- the output: for each chunk a word, the size of packed bytes, which follow, or 2^31 + index of
//     earlier contents

static int g_output;
static unsigned char g_waiting[kOutput];
static size_t g_waiting_size, g_written;
static long g_chunks, g_contents;

static void flush_output(void) {
  for (size_t done = 0; done < g_waiting_size;) {
    const ssize_t part = write(g_output, g_waiting + done, g_waiting_size - done);
    must(part <= 0, "write");
    done += (size_t)part;
  }
  g_written += g_waiting_size;
  g_waiting_size = 0;
}

static void put(const void* bytes, size_t size) {
  while (size > 0) {
    const size_t room = kOutput - g_waiting_size, part = size < room ? size : room;
    memcpy(g_waiting + g_waiting_size, bytes, part);
    g_waiting_size += part;
    bytes = (const char*)bytes + part;
    size -= part;
    if (g_waiting_size == kOutput) flush_output();
  }
}

static void put_chunk(struct Content* content) {
  uint32_t word = (uint32_t)content->packed_size;
  ++g_chunks;
  if (content->index >= 0) {
    word = 1u << 31 | (uint32_t)content->index;
    put(&word, sizeof word);
    return;
  }
  content->index = g_contents++;
  put(&word, sizeof word);
  put(content->packed, content->packed_size);
  free(content->packed);
}

// --- sequential

static void sequential(void) {
  for (size_t from = 0, to; from < g_size; from = to) {
    to = from + cut_coarse(g_bytes + from, g_size - from);
    for (size_t at = from, size; at < to; at += size) {
      size = cut_fine(g_bytes + at, to - at);
      struct Chunk chunk = {.bytes = g_bytes + at, .size = size};
      const struct Sha1 sum = sha1(chunk.bytes, chunk.size);
      struct Bucket* bucket = &g_buckets[bucket_of(&sum)];
      chunk.content = find(bucket, &sum);
      if (!chunk.content) {
        chunk.content = insert(bucket, &sum);
        pack(&chunk);
      }
      put_chunk(chunk.content);
    }
  }
  flush_output();
}

// --- the stages

static void cut_coarsely(void) {
  long coarse = 0;
  for (size_t from = 0, size; from < g_size; from += size) {
    size = cut_coarse(g_bytes + from, g_size - from);
    queue_push(&g_to_cut, new_chunk(g_bytes + from, size, coarse++, 0));
  }
  queue_close(&g_to_cut);
}

static void cut_finely(void) {
  for (struct Chunk* whole; (whole = queue_pop(&g_to_cut));) {
    long fine = 0;
    for (size_t at = 0, size; at < whole->size; at += size) {
      size = cut_fine(whole->bytes + at, whole->size - at);
      struct Chunk* chunk = new_chunk(whole->bytes + at, size, whole->coarse, fine++);
      chunk->last_fine = at + size == whole->size;
      queue_push(&g_to_hash, chunk);
    }
    free(whole);
  }
  queue_close(&g_to_hash);
}

static void hash(void) {
  for (struct Chunk* chunk; (chunk = queue_pop(&g_to_hash));) {
    const struct Sha1 sum = sha1(chunk->bytes, chunk->size);
    struct Bucket* bucket = &g_buckets[bucket_of(&sum)];
    pthread_mutex_lock(&bucket->lock);
    chunk->content = find(bucket, &sum);
    chunk->first = !chunk->content;
    if (chunk->first) chunk->content = insert(bucket, &sum);
    pthread_mutex_unlock(&bucket->lock);
    queue_push(chunk->first ? &g_to_pack : &g_to_write, chunk);
  }
  queue_close(&g_to_pack);
  queue_close(&g_to_write);
}

static void pack_firsts(void) {
  for (struct Chunk* chunk; (chunk = queue_pop(&g_to_pack));) {
    pack(chunk);
    queue_push(&g_to_write, chunk);
  }
  queue_close(&g_to_write);
}

// Chunks that came before their turn, in a heap by their place in the stream.
struct Early {
  struct Chunk** chunks;
  long count, room;
};

static int before(const struct Chunk* a, const struct Chunk* b) {
  return a->coarse < b->coarse || (a->coarse == b->coarse && a->fine < b->fine);
}

static void early_push(struct Early* early, struct Chunk* chunk) {
  if (early->count == early->room) {
    early->room = early->room ? 2 * early->room : 64;
    early->chunks = realloc(early->chunks, (size_t)early->room * sizeof *early->chunks);
    must(!early->chunks, "realloc");
  }
  long at = early->count++;
  for (; at > 0 && before(chunk, early->chunks[(at - 1) / 2]); at = (at - 1) / 2) {
    early->chunks[at] = early->chunks[(at - 1) / 2];
  }
  early->chunks[at] = chunk;
}

static void early_pop(struct Early* early) {
  struct Chunk* last = early->chunks[--early->count];
  long at = 0;
  for (long child; (child = 2 * at + 1) < early->count; at = child) {
    if (child + 1 < early->count && before(early->chunks[child + 1], early->chunks[child])) ++child;
    if (!before(early->chunks[child], last)) break;
    early->chunks[at] = early->chunks[child];
  }
  early->chunks[at] = last;
}

// Never waits for one chunk, since the queue that it comes through may be full of others: a chunk
// whose contents are not packed yet stays among the early ones until those come by.
static void write_in_order(void) {
  struct Early early = {0};
  long coarse = 0, fine = 0;
  for (struct Chunk* chunk; (chunk = queue_pop(&g_to_write));) {
    if (chunk->first) chunk->content->ready = 1;
    early_push(&early, chunk);
    while (early.count > 0) {
      struct Chunk* next = early.chunks[0];
      if (next->coarse != coarse || next->fine != fine || !next->content->ready) break;
      early_pop(&early);
      put_chunk(next->content);
      coarse += next->last_fine;
      fine = next->last_fine ? 0 : fine + 1;
      free(next);
    }
  }
  must(early.count != 0, "writing all chunks");
  free(early.chunks);
  flush_output();
}

static void* worker(void* number) {
  const long thread = (long)number;
  if (thread == 0) {
    cut_coarsely();
  } else if (thread == 1) {
    write_in_order();
  } else if ((thread - 2) % 3 == 0) {
    cut_finely();
  } else if ((thread - 2) % 3 == 1) {
    hash();
  } else {
    pack_firsts();
  }
  return NULL;
}

// --- input and check

// Text of invented words; about half of it is copied from earlier, in stretches of 2 to 64 KB.
static void make_input(size_t size, uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  g_size = size;
  g_bytes = malloc(size);
  must(!g_bytes, "malloc");
  for (size_t at = 0; at < size;) {
    size_t part = (2 << 10) + random_below(&random, 62 << 10);
    if (part > size - at) part = size - at;
    if (at > (64 << 10) && random_below(&random, 2)) {
      memcpy(g_bytes + at, g_bytes + random_below(&random, at - part), part);
      at += part;
      continue;
    }
    for (const size_t end = at + part; at < end;) {
      struct Random word =
          random_stream(seed, 1 + (random_bits(&random) & random_bits(&random) & 0xfff));
      uint64_t letters = random_bits(&word);
      for (int left = 2 + (int)(letters >> 60) / 2; left > 0 && at < end; --left, letters >>= 5) {
        g_bytes[at++] = (unsigned char)('a' + (letters & 31) % 26);
      }
      if (at < end) g_bytes[at++] = random_below(&random, 12) ? ' ' : '\n';
    }
  }
}

static void read_input(const char* path) {
  const int file = open(path, O_RDONLY);
  must(file < 0, path);
  g_size = (size_t)lseek(file, 0, SEEK_END);
  g_bytes = malloc(g_size + 1);
  must(!g_bytes, "malloc");
  for (size_t done = 0; done < g_size;) {
    const ssize_t part = pread(file, g_bytes + done, g_size - done, (off_t)done);
    must(part <= 0, path);
    done += (size_t)part;
  }
  close(file);
}

static int restores(const unsigned char* output) {
  struct Stretch {
    size_t at, size;
  }* contents = malloc((size_t)(g_contents + 1) * sizeof *contents);
  unsigned char* bytes = malloc(g_size + kMax);
  must(!contents || !bytes, "malloc");
  size_t at = 0, restored = 0;
  long count = 0;
  while (at < g_written && restored <= g_size) {
    uint32_t word;
    memcpy(&word, output + at, sizeof word);
    at += sizeof word;
    if (word >> 31) {
      const struct Stretch* from = &contents[word & ~(1u << 31)];
      memcpy(bytes + restored, bytes + from->at, from->size);
      restored += from->size;
    } else {
      uLongf size = kMax;
      if (uncompress(bytes + restored, &size, output + at, word) != Z_OK) return 0;
      contents[count++] = (struct Stretch){restored, size};
      restored += size;
      at += word;
    }
  }
  const int same = restored == g_size && memcmp(bytes, g_bytes, g_size) == 0;
  free(contents);
  free(bytes);
  return same;
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--check", NULL};
  const struct Options options = parse_options(argc, argv, extra);
  g_threads = options.threads;
  must(3 * g_threads + 2 > kMaxThreads, "more than 20 threads for a stage");
  if (options.input) {
    read_input(options.input);
  } else {
    make_input(kBytes[options.size], options.seed);
  }
  struct Random random = random_stream(0, 0);
  for (int i = 0; i < 256; ++i) g_gear[i] = random_bits(&random);
  FILE* file = tmpfile();
  must(!file, "tmpfile");
  g_output = fileno(file);
  if (options.sequential) {
    sequential();
  } else {
    for (long i = 0; i < kBuckets; ++i) pthread_mutex_init(&g_buckets[i].lock, NULL);
    queue_open(&g_to_cut, 1);
    queue_open(&g_to_hash, g_threads);
    queue_open(&g_to_pack, g_threads);
    queue_open(&g_to_write, 2 * g_threads);
    run_threads(3 * g_threads + 2, worker);
  }
  unsigned char* output = malloc(g_written + 1);
  must(!output || pread(g_output, output, g_written, 0) != (ssize_t)g_written,
       "reading the output");
  const struct Sha1 sum = sha1(output, g_written);
  printf("%zu bytes, %ld chunks, %ld different, %zu bytes written\n", g_size, g_chunks, g_contents,
         g_written);
  for (int i = 0; i < 20; ++i) printf("%02x", sum.bytes[i]);
  printf("\n");
  if (has_option(argc, argv, "--check")) {
    const int same = restores(output);
    printf("restored: %s\n", same ? "yes" : "no");
    if (!same) return 1;
  }
  return 0;
}
