// Question: what does a run cost where threads build tables in memory of their own that others take
// over afterwards?
// Pattern:  Phoenix's word_count, map and reduce. Map: each thread counts the words of its chunk of
//           a text in a hash table of its own, an allocation for each new word. Reduce: other
//           threads, each with a range of buckets, move the words of all tables into the first one,
//           so they write what others allocated. Many written pages, no lock.
// Command:  word_count --threads N --input PATH (generate text)
// Figure:   wall time of the program.
#include <ctype.h>

#include "input.h"

enum {
  kBuckets = 1 << 14,
  kLongest = 64,
  kPrinted = 10
};  // of a longer word the first letters count

struct Word {
  struct Word* next;
  uint64_t hash;
  long count;
  int length;
  char letters[];  // lower case, without a zero
};

struct Chunk {
  const char *at, *end;
  struct Word** buckets;
};

static struct Chunk g_chunks[kMaxThreads];
static long g_threads;

// Where the word is in its bucket's list, or the list's end.
static struct Word** find(struct Word** place, uint64_t hash, const char* letters, int length) {
  while (*place && ((*place)->hash != hash || (*place)->length != length ||
                    memcmp((*place)->letters, letters, (size_t)length)))
    place = &(*place)->next;
  return place;
}

static void count_word(struct Word** buckets, const char* letters, int length) {
  const uint64_t hash = hash_bytes(kHashStart, letters, (size_t)length);
  struct Word** place = find(&buckets[hash % kBuckets], hash, letters, length);
  if (!*place) {
    *place = malloc(sizeof **place + (size_t)length);
    must(!*place, "malloc");
    **place = (struct Word){.hash = hash, .length = length};
    memcpy((*place)->letters, letters, (size_t)length);
  }
  ++(*place)->count;
}

static struct Word** new_table(void) {
  struct Word** buckets = calloc(kBuckets, sizeof *buckets);
  must(!buckets, "calloc");
  return buckets;
}

static void* map(void* number) {
  struct Chunk* chunk = &g_chunks[(long)number];
  chunk->buckets = new_table();
  char word[kLongest];
  int length = 0;
  for (const char* at = chunk->at; at != chunk->end; ++at) {
    if (isalpha((unsigned char)*at)) {
      if (length < kLongest) word[length++] = (char)(*at | 0x20);
    } else if (length) {
      count_word(chunk->buckets, word, length);
      length = 0;
    }
  }
  if (length) count_word(chunk->buckets, word, length);
  return NULL;
}

static void* reduce(void* number) {
  struct Word** all = g_chunks[0].buckets;
  for (long b = first_of(kBuckets, (long)number, g_threads);
       b < first_of(kBuckets, (long)number + 1, g_threads); ++b)
    for (long t = 1; t < g_threads; ++t)
      for (struct Word *word = g_chunks[t].buckets[b], *next; word; word = next) {
        next = word->next;
        struct Word** place = find(&all[b], word->hash, word->letters, word->length);
        if (*place) {
          (*place)->count += word->count;
          free(word);
        } else {
          word->next = NULL;
          *place = word;
        }
      }
  return NULL;
}

static struct Word** count_all(const struct File* file) {
  struct Word** buckets = new_table();
  const char* end = file->bytes + file->size;
  for (const char* at = file->bytes; at != end;) {
    char word[kLongest];
    const char* start = at;
    for (; at != end && isalpha((unsigned char)*at); ++at)
      if (at - start < kLongest) word[at - start] = (char)(*at | 0x20);
    if (at == start) ++at;
    else count_word(buckets, word, at - start < kLongest ? (int)(at - start) : kLongest);
  }
  return buckets;
}

static void split(const struct File* file) {
  const char *at = file->bytes, *end = file->bytes + file->size;
  for (long t = 0; t < g_threads; ++t) {  // each chunk ends behind a whole word
    g_chunks[t].at = at;
    const char* limit = file->bytes + first_of((long)file->size, t + 1, g_threads);
    if (at < limit) at = limit;
    while (at < end && isalpha((unsigned char)*at)) ++at;
    g_chunks[t].end = at;
  }
}

static int by_count(const void* one, const void* two) {
  const struct Word *a = *(struct Word*const*)one, *b = *(struct Word*const*)two;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  const int order =
      memcmp(a->letters, b->letters, (size_t)(a->length < b->length ? a->length : b->length));
  return order ? order : a->length - b->length;
}

static void print(struct Word** buckets) {
  long distinct = 0, words = 0;
  for (long b = 0; b < kBuckets; ++b)
    for (const struct Word* word = buckets[b]; word; word = word->next) ++distinct;
  struct Word** sorted = malloc((size_t)distinct * sizeof *sorted);
  must(distinct && !sorted, "malloc");
  distinct = 0;
  for (long b = 0; b < kBuckets; ++b)
    for (struct Word* word = buckets[b]; word; word = word->next)
      sorted[distinct++] = word, words += word->count;
  qsort(sorted, (size_t)distinct, sizeof *sorted, by_count);
  uint64_t hash = kHashStart;
  for (long i = 0; i < distinct; ++i) {
    hash = hash_bytes(hash, sorted[i]->letters, (size_t)sorted[i]->length);
    hash = hash_bytes(hash, &sorted[i]->count, sizeof sorted[i]->count);
  }
  printf("words %ld, different %ld, all %016lx\n", words, distinct, hash);
  for (long i = 0; i < kPrinted && i < distinct; ++i)
    printf("%.*s %ld\n", sorted[i]->length, sorted[i]->letters, sorted[i]->count);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  const struct File file = read_file(options.input);
  g_threads = options.threads;
  if (options.sequential) {
    print(count_all(&file));
  } else {
    split(&file);
    run_threads(g_threads, map);
    run_threads(g_threads, reduce);
    print(g_chunks[0].buckets);
  }
  return 0;
}
