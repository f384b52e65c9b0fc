// Question: what does isolation gain where threads write to one cache line often, but not all the
// time?
// Pattern:  Phoenix's string_match: milder false sharing. Each thread goes through its part of a
//           file of words, enciphers every word and compares it with the four enciphered words that
//           are sought. Where it is, what it has found and the cipher of the present word are in
//           its record, written for each word and each letter, and the records lie side by side in
//           one array. The file is read into the heap. No event but the threads' start and end.
// Command:  string_match --threads N --input PATH (generate keys)
// Figure:   wall time of the program.
#include "input.h"

enum { kSought = 4, kLongest = 24 };

static const char* const kWords[kSought] = {"Helloworld", "howareyou", "ferrari", "whotheman"};

struct Search {
  const char *at, *end;
  long words, found[kSought];
  char cipher[kLongest];
};

static struct Search* g_searches;
static char g_sought[kSought][kLongest];

// Fills `cipher`, what is left of it with zeros; a longer word loses its end, and so never equals
// one that is sought.
static void encipher(const char* word, long length, char* cipher) {
  for (long i = 0; i < kLongest; ++i) cipher[i] = i < length ? (char)(word[i] + 7 * i + 10) : 0;
}

static void* search_part(void* number) {
  struct Search* search = &g_searches[(long)number];
  while (search->at < search->end) {
    const char* word = search->at;
    while (search->at < search->end && *search->at != '\n') ++search->at;
    encipher(word, search->at - word, search->cipher);
    for (int i = 0; i < kSought; ++i)
      if (!memcmp(search->cipher, g_sought[i], kLongest)) ++search->found[i];
    ++search->words;
    ++search->at;
  }
  return NULL;
}

static struct Search search_all(const char* at, const char* end) {
  struct Search all = {0};
  for (const char* next; at < end; at = next + 1) {
    next = memchr(at, '\n', (size_t)(end - at));
    if (!next) next = end;
    ++all.words;
    for (int i = 0; i < kSought; ++i)
      if ((size_t)(next - at) == strlen(kWords[i]) && !memcmp(at, kWords[i], strlen(kWords[i])))
        ++all.found[i];
  }
  return all;
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  const struct File file = read_file(options.input);
  const char* end = file.bytes + file.size;

  struct Search all = {0};
  if (options.sequential) {
    all = search_all(file.bytes, end);
  } else {
    for (int i = 0; i < kSought; ++i) encipher(kWords[i], (long)strlen(kWords[i]), g_sought[i]);
    g_searches = calloc((size_t)options.threads, sizeof *g_searches);
    must(!g_searches, "calloc");
    const char* at = file.bytes;
    for (long t = 0; t < options.threads; ++t) {  // each part ends behind a whole word
      g_searches[t].at = at;
      const char* limit = file.bytes + first_of((long)file.size, t + 1, options.threads);
      if (at < limit) at = limit;
      while (at > file.bytes && at < end && at[-1] != '\n') ++at;
      g_searches[t].end = at;
    }
    run_threads(options.threads, search_part);
    for (long t = 0; t < options.threads; ++t) {
      all.words += g_searches[t].words;
      for (int i = 0; i < kSought; ++i) all.found[i] += g_searches[t].found[i];
    }
  }
  printf("words %ld\n", all.words);
  for (int i = 0; i < kSought; ++i) printf("%s %ld\n", kWords[i], all.found[i]);
  return 0;
}
