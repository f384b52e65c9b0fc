// A folder for files that a program generates. It goes when the process that made it exits.
#ifndef WEIR_BENCH_SCRATCH_H
#define WEIR_BENCH_SCRATCH_H
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/weir.h>

#include "workload.h"

static char g_scratch[4000];
static pid_t g_scratch_maker;  // processes that it forks exit without removing anything

static inline int remove_entry(const char* path, const struct stat* status, int kind,
                               struct FTW* place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

static inline void remove_scratch(void) {
  if (getpid() == g_scratch_maker) nftw(g_scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

// Its name; made by the first call.
static inline const char* scratch_folder(void) {
  if (!g_scratch_maker) {
    const char* parent = getenv("TMPDIR");
    must(snprintf(g_scratch, sizeof g_scratch, "%s/workload.XXXXXX",
                  parent && *parent ? parent : "/tmp") >= (int)sizeof g_scratch,
         "TMPDIR, which is long,");
    must(!mkdtemp(g_scratch), g_scratch);
    weir_set_sticky_read(&g_scratch);
    g_scratch_maker = getpid();
    atexit(remove_scratch);
  }
  return g_scratch;
}

static inline void make_folder(const char* path) { must(mkdir(path, 0755), path); }

static inline void write_file(const char* path, const void* bytes, size_t size) {
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  must(file < 0, path);
  for (size_t done = 0; done < size;) {
    const ssize_t part = write(file, (const char*)bytes + done, size - done);
    must(part <= 0, path);
    done += (size_t)part;
  }
  close(file);
}

#endif
