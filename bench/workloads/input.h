// What the Phoenix workloads share besides workload.h and options.h: random numbers, hashes, files
// in memory. Programs that read a file (made by `generate`) take all of it and leave the size and
// the seed unused.
#ifndef WEIR_BENCH_INPUT_H
#define WEIR_BENCH_INPUT_H
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "workload.h"

// splitmix64: every seed will do, zero too.
static inline uint64_t next_random(uint64_t* state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

// FNV-1a over bytes; begin with kHashStart.
static const uint64_t kHashStart = 0xcbf29ce484222325;

static inline uint64_t hash_bytes(uint64_t hash, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3;
  return hash;
}

// Of `count` things thread number t of n has those from first_of(count, t, n) to first_of(count, t
// + 1, n).
static inline long first_of(long count, long number, long threads) {
  return count * number / threads;
}

struct File {
  char* bytes;
  size_t size;
};

static inline int open_file(const char* path, size_t* size) {
  must(!path, "without --input PATH (made by generate) this program");
  const int file = open(path, O_RDONLY);
  struct stat status;
  must(file < 0 || fstat(file, &status) || !S_ISREG(status.st_mode) || !status.st_size, path);
  *size = (size_t)status.st_size;
  return file;
}

// The file mapped and never written: all threads read the kernel's own pages.
static inline struct File map_file(const char* path) {
  struct File mapped;
  const int file = open_file(path, &mapped.size);
  mapped.bytes = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, file, 0);
  must(mapped.bytes == MAP_FAILED, "mmap");
  close(file);
  return mapped;
}

// The file in memory of the heap, which the caller frees.
static inline struct File read_file(const char* path) {
  struct File whole;
  const int file = open_file(path, &whole.size);
  whole.bytes = malloc(whole.size);
  must(!whole.bytes, "malloc");
  for (size_t done = 0; done < whole.size;) {
    const ssize_t more = read(file, whole.bytes + done, whole.size - done);
    must(more <= 0, path);
    done += (size_t)more;
  }
  close(file);
  return whole;
}

#endif
