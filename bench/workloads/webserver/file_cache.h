// Contents of files by path, of all workers together.
#ifndef WEIR_BENCH_WEBSERVER_FILE_CACHE_H
#define WEIR_BENCH_WEBSERVER_FILE_CACHE_H
#include <stddef.h>

struct CachedFile {
  char* bytes;  // to be read only
  size_t size;
};

struct CacheCounts {
  long hits, misses, evictions;
};

// `room`: bytes of files that it keeps, but for those in use.
void cache_open(size_t room);
// NULL: there is no such regular file. The file stays until it is put back.
const struct CachedFile* cache_get(const char* path);
void cache_put(const struct CachedFile* file);
struct CacheCounts cache_counts(void);

#endif
