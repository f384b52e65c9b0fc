// What calls tell by the names of files.

#include "check/calls/names_of_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "check/core/attach.h"
#include "check/core/descriptors.h"
#include "check/core/happens_before.h"
#include "sys/syscall_x86_64.h"

namespace weir::checking {

namespace {

using happens::acquire;
using happens::kAnyDescriptor;
using happens::release;
// The last part of the path, wherever the folder is: more is ordered than has to be, never less.
// 0: none can be read, or the path ends in a folder's.
uint64_t name_of_path(long path) {
  char text[512];
  long length = read_text(text, path, long{sizeof text});
  if (length <= 0 || length == static_cast<long>(sizeof text)) return 0;
  while (length > 1 && text[length - 1] == '/') length--;
  uint64_t hash = 0;
  for (long i = length; i-- > 0 && (text[i] != '/' || i == length - 1);)
    hash = mix(hash ^ static_cast<uint8_t>(text[i])) ^ hash >> 31;
  return kPathName | (hash & kNameBits);
}

struct Paths {
  long first = 0, second = 0;
};

// `is_beside_folder`: the path is the second word, behind a folder's descriptor.
Paths paths_of(const CallArguments& call, bool is_beside_folder) {
  const long* word = call.word;
  switch (call.number) {
    case SYS_link:
    case SYS_rename: return {word[0], word[1]};
    case SYS_symlink: return {word[1]};
    case SYS_linkat:
    case SYS_renameat:
    case SYS_renameat2: return {word[1], word[3]};
    case SYS_symlinkat: return {word[2]};
    default: return {is_beside_folder ? word[1] : word[0]};
  }
}

bool is_fifo(long folder, long path) {
  struct stat status;
  return is_replayed() ||
         (sys::raw(SYS_newfstatat, folder, path, reinterpret_cast<long>(&status), 0) == 0 &&
          S_ISFIFO(status.st_mode));
}

// Others may notice that it has been made: what names stand for has changed.
bool changes_names(const CallArguments& call) {
  const long* word = call.word;
  switch (call.number) {
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlinkat: return false;
    case SYS_open: return (word[1] & (O_CREAT | O_TRUNC)) || is_fifo(AT_FDCWD, word[0]);
    case SYS_openat: return (word[2] & (O_CREAT | O_TRUNC)) || is_fifo(word[0], word[1]);
    default: return true;
  }
}

}  // namespace

void release_names(const CallArguments& call, bool is_beside_folder) {
  if (!changes_names(call)) return;
  const Paths paths = paths_of(call, is_beside_folder);
  if (const uint64_t name = name_of_path(paths.first)) release(name);
  if (const uint64_t name = paths.second ? name_of_path(paths.second) : 0) release(name);
  release(kFolders);
  release(kAnyDescriptor);  // who watches the folder is told
}

void acquire_names(const CallArguments& call, bool is_beside_folder, long result) {
  const Paths paths = paths_of(call, is_beside_folder);
  if (const uint64_t name = name_of_path(paths.first)) acquire(name);
  if (const uint64_t name = paths.second ? name_of_path(paths.second) : 0) acquire(name);
  if (result < 0) return;
  switch (call.number) {  // who has written to the file may be told by what it is like now
    case SYS_stat:
    case SYS_lstat:
    case SYS_newfstatat: {
      struct stat status;
      const long at = call.number == SYS_newfstatat ? call.word[2] : call.word[1];
      if (is_replayed()) acquire_any_descriptor();
      else if (read_program(status, at)) acquire(name_of_file(status.st_ino, status.st_dev));
      return;
    }
    case SYS_statx: return acquire_any_descriptor();
    default: return;
  }
}

}  // namespace weir::checking
