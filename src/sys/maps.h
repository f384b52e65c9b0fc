// The lines of /proc/self/maps, and small files of /proc, without libc and without touching memory
// of the program.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "base/bytes.h"
#include "base/types.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

struct MapLine {
  Range range;
  uint64_t offset;
  uint64_t device, inode;
  bool readable, writable, executable, shared;
  const char* name;  // NUL-terminated, "" for anonymous memory
};

// `open` opens a file of /proc/self. The kernel gives those of a process that has changed its user
// to root, and then the process cannot open them; here it can. A descriptor, or -errno.
template <typename Open>
long open_own(Open open) {
  const long file = open();
  if (file != -EACCES || raw(SYS_prctl, PR_GET_DUMPABLE) == 1) return file;
  raw(SYS_prctl, PR_SET_DUMPABLE, 1);  // the kernel decides when they are opened
  const long again = open();
  raw(SYS_prctl, PR_SET_DUMPABLE, 0);
  return again;
}

// A folder that is /proc, kept for a program that has changed its root: 0 there is none. Memory
// that all processes of the program see.
inline int g_no_folder = 0;
inline int* g_proc_folder = &g_no_folder;

// Opens a file of /proc for reading: a descriptor, or -errno.
inline long open_proc(const char* path) {
  constexpr long kHow = O_RDONLY | O_CLOEXEC, kBehindProc = sizeof "/proc/" - 1;
  const long file = raw(SYS_open, reinterpret_cast<long>(path), kHow);
  if (file != -ENOENT || !*g_proc_folder) return file;
  return raw(SYS_openat, *g_proc_folder, reinterpret_cast<long>(path) + kBehindProc, kHow);
}
inline long open_own(const char* path) {
  return open_own([path] { return open_proc(path); });
}

// Reads what fits of a file of /proc that tells of the program, and ends it with a NUL. Returns its
// length, or -errno.
template <size_t kRoom>
long read_own_file(const char* path, char (&text)[kRoom]) {
  const long file = open_own(path);
  if (failed(file)) return file;
  const long length = raw(SYS_read, file, reinterpret_cast<long>(text), long{kRoom - 1});
  raw(SYS_close, file);
  text[length > 0 ? length : 0] = 0;
  return length;
}

// Of a thread of this process: reads /proc/self/task/TID and `name`, which begins with a slash.
template <size_t kRoom>
long read_thread_file(int tid, const char* name, char (&text)[kRoom]) {
  char path[64];
  append_text(append_number(append_text(path, "/proc/self/task/"), static_cast<uint64_t>(tid)),
              name);
  return read_own_file(path, text);
}

// Of the text of /proc/PID/status: what stands behind a line's name ("State:\t"), null if there is
// no such line.
inline const char* status_line(const char* text, const char* name) {
  for (const char* line = text; *line; line++)
    if ((line == text || line[-1] == '\n') && starts_with(line, name))
      return line + string_length(name);
  return nullptr;
}

// A set of signals, as a mask; empty if there is no such line.
inline uint64_t status_signals(const char* text, const char* name) {
  uint64_t set = 0;
  const char* at = status_line(text, name);
  for (; at && *at && *at != '\n'; at++)
    set = set * 16 + static_cast<uint64_t>(*at <= '9' ? *at - '0' : *at - 'a' + 10);
  return set;
}

// Reads all of /proc/self/maps; `text` (it is changed when parsed) stays until the next call in
// this process. Returns its length, or -errno.
long read_maps(char** text);

// This process has about as many mappings as the kernel allows (vm.max_map_count).
bool has_most_maps();
// Two thirds of that.
bool has_many_maps();

// The next line at `cursor` of the NUL-terminated text; null at the end, else where the line after
// it begins.
char* next_map_line(char* cursor, MapLine* line);

// The line of the mapping in which the address lies, as read_maps() has it now. False: there is
// none, or the lines cannot be read.
bool find_map_line(uint64_t address, MapLine* line);

}  // namespace weir::sys
