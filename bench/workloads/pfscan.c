// Search for a string in all files of a folder, as pfscan does it: one thread walks the tree, the
// others scan. Sharing: paths go from the walker to the workers by one bounded queue (a mutex, two
// conditions), and the memory of a
//          path goes with it: one allocates, another frees. A worker maps its file, so the address
//          space that all share changes twice for each file (--read: it reads into memory of its
//          own). Totals under one lock.
// Policies: the queue and the totals are locked, until main takes the totals; what to look for, and
// how, is set once (sticky-read).
// Result:  files, bytes, matches (they may overlap), and a sum over files of their name and
//          matches, which does not depend on who scanned what.
// Source:  a benchmark of PUSh (MICRO 2019), section 4: 'hello' in 500 copies of a proceedings
//          volume.
// Sizes:   large is 500 copies of 16 MB. Copies are links to 8 files, so that memory holds them
//          all.
// Options: --input FOLDER, else a tree is made; --needle TEXT; --read.
#include <dirent.h>
#include <limits.h>
#include <sys/mman.h>
#include <weir/weir.h>

#include "bounded_queue.h"
#include "options.h"
#include "random.h"
#include "scratch.h"

enum { kOriginals = 8, kFolders = 5 };
static const struct {
  long files;
  size_t bytes;
} kSizeOf[kSizes] = {{60, 12 << 10}, {250, 4 << 20}, {500, 16 << 20}};

struct Totals {
  long files, unreadable;
  size_t bytes, matches;
  uint64_t sum;
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct Totals g_totals;  // Guarded by: g_lock
static struct Queue g_paths;
static const char *g_root, *g_needle;
static size_t g_needle_size, g_skip[UCHAR_MAX + 1];
static int g_read;

// --- scanning one file

// Horspool's: what stands at the end of the window says how far to move it.
static void prepare_search(void) {
  g_needle_size = strlen(g_needle);
  must(!g_needle_size, "an empty needle");
  for (int i = 0; i <= UCHAR_MAX; ++i) g_skip[i] = g_needle_size;
  for (size_t i = 0; i + 1 < g_needle_size; ++i)
    g_skip[(unsigned char)g_needle[i]] = g_needle_size - 1 - i;
}

static size_t count_matches(const unsigned char* bytes, size_t size) {
  const size_t last = g_needle_size - 1;
  size_t matches = 0;
  for (size_t at = last; at < size; at += g_skip[bytes[at]]) {
    if (bytes[at] == (unsigned char)g_needle[last] &&
        memcmp(bytes + at - last, g_needle, last) == 0)
      ++matches;
  }
  return matches;
}

static unsigned char* read_bytes(int file, size_t size) {
  unsigned char* bytes = malloc(size);
  must(!bytes, "malloc");
  for (size_t done = 0; done < size;) {
    const ssize_t part = pread(file, bytes + done, size - done, (off_t)done);
    must(part <= 0, "reading a file, which has become shorter,");
    done += (size_t)part;
  }
  return bytes;
}

static struct Totals scan(const char* path) {
  struct Totals found = {0};
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &status)) {
    found.unreadable = 1;
    if (file >= 0) close(file);
    return found;
  }
  found.files = 1;
  found.bytes = (size_t)status.st_size;
  if (found.bytes && g_read) {
    unsigned char* bytes = read_bytes(file, found.bytes);
    found.matches = count_matches(bytes, found.bytes);
    free(bytes);
  } else if (found.bytes) {
    unsigned char* bytes = mmap(NULL, found.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    must(bytes == MAP_FAILED, path);
    found.matches = count_matches(bytes, found.bytes);
    munmap(bytes, found.bytes);
  }
  close(file);
  const char* name = path + strlen(g_root);
  found.sum =
      random_mix(digest(digest(0, name, strlen(name)), &found.matches, sizeof found.matches));
  return found;
}

static void add_totals(const struct Totals* found) {
  g_totals.files += found->files;
  g_totals.unreadable += found->unreadable;
  g_totals.bytes += found->bytes;
  g_totals.matches += found->matches;
  g_totals.sum += found->sum;
}

// --- walking

static void scan_now(char* path) {
  const struct Totals found = scan(path);
  add_totals(&found);
  free(path);
}

static void pass_on(char* path) { queue_push(&g_paths, path); }

// Calls `found` with each regular file's path, which it frees. Links are not followed.
static void walk(const char* folder, void (*found)(char* path)) {
  DIR* entries = opendir(folder);
  must(!entries, folder);
  for (struct dirent* entry; (entry = readdir(entries));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char* path;
    struct stat status;
    must(asprintf(&path, "%s/%s", folder, entry->d_name) < 0, "asprintf");
    must(lstat(path, &status), path);
    if (S_ISREG(status.st_mode)) {
      found(path);
    } else {
      if (S_ISDIR(status.st_mode)) walk(path, found);
      free(path);
    }
  }
  closedir(entries);
}

static void* worker(void* number) {
  if ((long)number == 0) {
    walk(g_root, pass_on);
    queue_close(&g_paths);
    return NULL;
  }
  for (char* path; (path = queue_pop(&g_paths));) {
    const struct Totals found = scan(path);
    free(path);
    pthread_mutex_lock(&g_lock);
    add_totals(&found);
    pthread_mutex_unlock(&g_lock);
  }
  return NULL;
}

// --- input

// Text of random letters with the needle about every 4 KB.
static void make_text(char* bytes, size_t size, struct Random* random) {
  static const char kLetters[] = "eeettaaooiinnsshhrrddllccuummwwffggyyppbbvkjxqz         \n";
  random_fill(random, bytes, size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = kLetters[(unsigned char)bytes[i] * (sizeof kLetters - 1) >> 8];
  for (size_t at = 0; (at += 1 + random_below(random, 8 << 10)) + g_needle_size <= size;) {
    memcpy(bytes + at, g_needle, g_needle_size);
  }
}

static void make_tree(enum Size size, uint64_t seed) {
  g_root = scratch_folder();
  char* path = NULL;
  for (int folder = 0; folder < kFolders; ++folder) {
    for (int inner = -1; inner < folder; ++inner) {
      must(asprintf(&path, inner < 0 ? "%s/%d" : "%s/%d/%d", g_root, folder, inner) < 0,
           "asprintf");
      make_folder(path);
      free(path);
    }
  }
  char* originals[kOriginals];
  for (long i = 0; i < kSizeOf[size].files; ++i) {
    const long folder = i / kOriginals % kFolders;
    if (folder) {
      must(asprintf(&path, "%s/%ld/%ld/%ld.txt", g_root, folder, i % folder, i) < 0, "asprintf");
    } else {
      must(asprintf(&path, "%s/%ld/%ld.txt", g_root, folder, i) < 0, "asprintf");
    }
    if (i < kOriginals) {
      struct Random random = random_stream(seed, (uint64_t)i);
      // The first is empty; the others differ in size by up to a quarter.
      const size_t bytes =
          i ? kSizeOf[size].bytes - random_below(&random, kSizeOf[size].bytes / 4) : 0;
      char* text = malloc(bytes + 1);
      must(!text, "malloc");
      make_text(text, bytes, &random);
      write_file(originals[i] = path, text, bytes);
      free(text);
    } else {
      must(link(originals[1 + i % (kOriginals - 1)], path), path);
      free(path);
    }
  }
  for (int i = 0; i < kOriginals; ++i) free(originals[i]);
}

static void scan_by_threads(long threads) {
  queue_open(&g_paths, 1);
  weir_set_locked(&g_totals, &g_lock);
  weir_set_sticky_read(&g_root);
  weir_set_sticky_read(&g_needle);
  weir_set_sticky_read(&g_needle_size);
  weir_set_sticky_read(&g_skip);
  weir_set_sticky_read(&g_read);
  run_threads(threads + 1, worker);
  weir_acquire_read(&g_totals);
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--needle=", "--read", NULL};
  const struct Options options = parse_options(argc, argv, extra);
  g_needle = option_value(argc, argv, "--needle", "hello");
  g_read = has_option(argc, argv, "--read");
  prepare_search();
  if (options.input) g_root = options.input;
  else make_tree((enum Size)options.size, options.seed);
  if (options.sequential) {
    walk(g_root, scan_now);
  } else {
    scan_by_threads(options.threads);
  }
  printf("%ld files, %zu bytes, %zu matches, sum %016lx\n", g_totals.files, g_totals.bytes,
         g_totals.matches, g_totals.sum);
  if (g_totals.unreadable) printf("%ld files could not be read\n", g_totals.unreadable);
  return 0;
}
