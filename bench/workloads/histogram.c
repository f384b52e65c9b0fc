// Question: what does a run cost where threads count into tables of their own and main adds the
// tables up?
// Pattern:  Phoenix's histogram. The pixels of a bitmap are mapped and only read; each thread has a
//           band of them and a table for each colour. The tables lie side by side in one array, so
//           neighbours share the cache line, and under Weir the page, where one's ends and the next
//           begins. No event but the threads' start and end.
// Command:  histogram --threads N --input PATH (generate pixels)
// Figure:   wall time of the program.
#include "input.h"

struct Band {
  const unsigned char* pixels;
  long count;
  unsigned counts[3][256];  // blue, green, red, as the file has them
};

static struct Band* g_bands;

static void* count_band(void* number) {
  struct Band* band = &g_bands[(long)number];
  for (long i = 0; i < band->count; ++i)
    for (int colour = 0; colour < 3; ++colour) ++band->counts[colour][band->pixels[3 * i + colour]];
  return NULL;
}

static unsigned word_at(const struct File* file, size_t place) {
  unsigned word;
  memcpy(&word, file->bytes + place, sizeof word);
  return word;
}

static void print(unsigned counts[3][256], long pixels) {
  static const char* const kColours[3] = {"blue", "green", "red"};
  printf("pixels %ld\n", pixels);
  for (int colour = 0; colour < 3; ++colour) {
    int most = 0;
    for (int value = 1; value < 256; ++value)
      if (counts[colour][value] > counts[colour][most]) most = value;
    printf("%s: most often %d (%u), all %016lx\n", kColours[colour], most, counts[colour][most],
           hash_bytes(kHashStart, counts[colour], sizeof counts[colour]));
  }
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  const struct File file = map_file(options.input);
  must(file.size < 54 || memcmp(file.bytes, "BM", 2) || (word_at(&file, 28) & 0xffff) != 24,
       "a bitmap of 24 bits a pixel");
  const size_t start = word_at(&file, 10);
  must(start > file.size, "the bitmap's head");
  const unsigned char* pixels = (const unsigned char*)file.bytes + start;
  const long count = (long)(file.size - start) / 3;

  unsigned counts[3][256] = {{0}};
  if (options.sequential) {
    for (long i = 0; i < 3 * count; ++i) ++counts[i % 3][pixels[i]];
  } else {
    g_bands = calloc((size_t)options.threads, sizeof *g_bands);
    must(!g_bands, "calloc");
    for (long t = 0; t < options.threads; ++t) {
      const long first = first_of(count, t, options.threads);
      g_bands[t].pixels = pixels + 3 * first;
      g_bands[t].count = first_of(count, t + 1, options.threads) - first;
    }
    run_threads(options.threads, count_band);
    for (long t = 0; t < options.threads; ++t)
      for (int colour = 0; colour < 3; ++colour)
        for (int value = 0; value < 256; ++value)
          counts[colour][value] += g_bands[t].counts[colour][value];
  }
  print(counts, count);
  return 0;
}
