// The generated documents: server and clients know them by seed and number, so a client can tell
// every byte.
#ifndef WEIR_BENCH_WEBSERVER_DOCUMENTS_H
#define WEIR_BENCH_WEBSERVER_DOCUMENTS_H
#include <stdio.h>

#include "../random.h"

enum { kMaxDocument = 40 << 10, kDocumentPath = 40, kFolders = 7 };

// The first is the 10 KB of the paper, the second is empty.
static inline size_t document_size(uint64_t seed, long number) {
  if (number < 2) return number ? 0 : 10 << 10;
  struct Random random = random_stream(seed, (uint64_t)(2 * number));
  return random_below(&random, kMaxDocument);
}

static inline void fill_document(uint64_t seed, long number, char* bytes) {
  struct Random random = random_stream(seed, (uint64_t)(2 * number + 1));
  random_fill(&random, bytes, document_size(seed, number));
}

// Inside the folder, with a slash in front.
static inline void document_path(long number, char* path) {
  snprintf(path, kDocumentPath, "/%ld/%ld/doc%ld.txt", number % kFolders,
           number / kFolders % kFolders, number);
}

#endif
