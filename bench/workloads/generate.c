// The input files of the Phoenix workloads, the same bytes for the same kind, size and seed.
//   generate KIND SIZE SEED PATH
// KIND  pixels (histogram): a bitmap of 24 bits a pixel, darker at the edges
//       points (linear_regression): pairs of bytes near a line
//       keys (string_match): a word a line, a few of them those that are sought
//       text (word_count): sentences of words, some much more frequent than others
//       html (reverse_index): a tree of files with links; PATH is made and must not be there yet
// SIZE  small (tests), medium (benchmarks), large (what the papers ran), or a number of bytes
#include "input.h"

enum { kVocabulary = 30000, kLongestWord = 12, kWordRoom = 16 };
enum {
  kHtmlFile = 24000,
  kFolder = 20,
  kLinkEvery = 2000,
  kSites = 6000
};                       // bytes, files, bytes, sites linked to
enum { kWidth = 4096 };  // of 4 pixels: rows of a bitmap need no filling

static uint64_t g_state;
static FILE* g_out;
static char g_words[kVocabulary][kWordRoom];

static long below(long limit) { return (long)(next_random(&g_state) % (uint64_t)limit); }

static void open_out(const char* path) {
  g_out = fopen(path, "w");
  must(!g_out, path);
  setvbuf(g_out, NULL, _IOFBF, 1 << 20);
}

static void close_out(void) { must(ferror(g_out) || fclose(g_out), "writing"); }

static int random_word(char* word) {
  const int length = 1 + (int)below(kLongestWord / 2) + (int)below(kLongestWord / 2);
  for (int i = 0; i < length; ++i) word[i] = (char)('a' + below(26));
  word[length] = 0;
  return length;
}

// The smaller the number the more frequent.
static const char* frequent_word(void) {
  return g_words[below(kVocabulary) * below(kVocabulary) / kVocabulary * below(1000) / 1000];
}

static void pixels(long size) {
  const long width = kWidth, rows = size / (3 * width) + 1;
  fwrite("BM", 2, 1, g_out);
  const unsigned head[] = {(unsigned)(54 + rows * 3 * width),
                           0,
                           54,
                           40,
                           (unsigned)width,
                           (unsigned)rows,
                           24 << 16 | 1,
                           0,
                           0,
                           0,
                           0,
                           0,
                           0};
  fwrite(head, sizeof head, 1, g_out);
  unsigned char row[3 * kWidth];
  for (long y = 0; y < rows; ++y) {
    for (long x = 0; x < width; ++x) {
      const uint64_t random = next_random(&g_state);
      const long light = 64 + 128 * (x < width / 2 ? x : width - x) / (width / 2);
      for (int colour = 0; colour < 3; ++colour)
        row[3 * x + colour] =
            (unsigned char)(light + (long)(random >> 8 * colour & 63) - 32 * colour / 2);
    }
    fwrite(row, sizeof row, 1, g_out);
  }
}

static void points(long size) {
  for (long i = 0; i < size / 2; ++i) {
    const uint64_t random = next_random(&g_state);
    const int x = (int)(random & 255), y = x * 2 / 3 + (int)(random >> 8 & 31) + 20;
    putc_unlocked(x, g_out), putc_unlocked(y, g_out);
  }
}

static void keys(long size) {
  static const char* const kSought[] = {"Helloworld", "howareyou", "ferrari", "whotheman"};
  for (long done = 0; done < size;) {
    char word[kWordRoom];
    random_word(word);
    done += fprintf(g_out, "%s\n", below(1000) ? word : kSought[below(4)]);
  }
}

static void text(long size) {
  for (long done = 0; done < size;) {
    const long words = 4 + below(16);
    for (long i = 0; i < words; ++i) {
      const char* word = frequent_word();
      const char* after = below(8) ? " " : ", ";
      if (i + 1 == words) after = ".\n";
      done += fprintf(g_out, "%c%s%s", i ? word[0] : word[0] - 'a' + 'A', word + 1, after);
    }
  }
}

static void html(const char* path, long size) {
  char name[4096];
  must(mkdir(path, 0777), path);
  for (long file = 0; size > 0; ++file) {
    const long folder = file / kFolder, above = folder / kFolder;
    snprintf(name, sizeof name, "%s/%ld", path, above);
    if (file % (kFolder * kFolder) == 0) must(mkdir(name, 0777), name);
    snprintf(name, sizeof name, "%s/%ld/%ld", path, above, folder);
    if (file % kFolder == 0) must(mkdir(name, 0777), name);
    snprintf(name, sizeof name, "%s/%ld/%ld/%ld.html", path, above, folder, file);
    open_out(name);
    long done = fprintf(g_out, "<html><head><title>%s</title></head><body>\n", frequent_word());
    const long whole = kHtmlFile / 2 + below(kHtmlFile);
    while (done < whole) {
      const char *word = frequent_word(), *page = g_words[below(4)];
      if (below(kLinkEvery / 7)) {  // a word is about 7 bytes
        done += fprintf(g_out, "%s%s", word, below(12) ? " " : "</p>\n<p>");
      } else {
        const char* site = g_words[below(kSites) * below(kSites) / kSites];
        done += fprintf(g_out, "<a href=\"http://www.%s.org/%s.html\">%s</a> ", site, page, word);
      }
    }
    size -= done + fprintf(g_out, "</p></body></html>\n");
    close_out();
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*make)(long size);
    long sizes[kSizes];
  } kKinds[] = {
      {"pixels", pixels, {3000000, 600000000, 1400000000}},
      {"points", points, {1000000, 300000000, 500000000}},
      {"keys", keys, {500000, 100000000, 500000000}},
      {"text", text, {500000, 80000000, 100000000}},
      {"html", NULL, {400000, 70000000, 100000000}},
  };
  if (argc == 5)
    for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; ++i) {
      if (strcmp(argv[1], kKinds[i].name)) continue;
      const enum Size named = size_by_name(argv[2]);
      const long size = named < kSizes ? kKinds[i].sizes[named] : atol(argv[2]);
      if (size <= 0) break;
      g_state = strtoull(argv[3], NULL, 10);
      for (int word = 0; word < kVocabulary; ++word) random_word(g_words[word]);
      if (!kKinds[i].make) {
        html(argv[4], size);
      } else {
        open_out(argv[4]);
        kKinds[i].make(size);
        close_out();
      }
      return 0;
    }
  fprintf(stderr, "usage: %s pixels|points|keys|text|html small|medium|large|BYTES SEED PATH\n",
          argv[0]);
  return 2;
}
