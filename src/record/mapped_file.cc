// Files that the program maps: the recording has a copy of each, so that a replay maps what was
// there, whatever has become of it.

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "control/control.h"
#include "memory/backing.h"
#include "record/stream.h"
#include "sys/descriptor.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::recording {

namespace {

// A file that is mapped again, in other parts, is one: the runtime sees by its name that these are
// one object. What the program writes through a shared mapping is in that mapping's copy only.
uint32_t number_of(const channel::MappedFile& file, bool is_shared, bool& is_new) {
  Shared& s = shared();
  is_new = false;
  for (uint32_t i = 0; i < s.recording.mapped_file_count; i++) {
    const auto& known = s.recording.mapped_files[i];
    if (known.is_shared == is_shared && known.device == file.device && known.inode == file.inode &&
        known.size == file.size && known.modified == file.modified)
      return known.number;
  }
  is_new = true;
  const uint32_t number = __atomic_fetch_add(&header().files, 1u, __ATOMIC_RELAXED);
  // The parts of a file are mapped one after the other: if there is no room, the oldest is
  // forgotten.
  const uint32_t at = number % kMappedFiles;
  if (at >= s.recording.mapped_file_count) s.recording.mapped_file_count = at + 1;
  s.recording.mapped_files[at] = {file.device, file.inode, file.size, file.modified,
                                  number,      is_shared,  -1};
  return number;
}

}  // namespace

channel::MappedFile facts_of(const struct stat& status, long descriptor) {
  return {static_cast<uint64_t>(status.st_size),
          status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
          status.st_dev,
          status.st_ino,
          static_cast<int32_t>(sys::raw(SYS_getpid)),
          static_cast<int32_t>(descriptor)};
}

void put_file(Task& task, long descriptor, bool is_shared) {
  struct stat status {};
  sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status));
  channel::MappedFile facts = facts_of(status, descriptor);
  char path[512];
  long length = sys::name_of_descriptor(descriptor, path, sizeof path);
  if (length < 0) length = 0;
  bool is_new;
  const uint32_t number = number_of(facts, is_shared, is_new);
  if (is_shared) facts.modified = channel::MappedFile::kAnyTime;
  put(task,
      channel::Entry{channel::Kind::kFile, 0, is_new ? uint16_t{0} : channel::kMappedBefore,
                     static_cast<uint32_t>(sizeof facts + static_cast<uint64_t>(length)), 0, 0,
                     number},
      &facts, path, sizeof facts);
  if (is_new) wait_until_taken(task);
}

namespace {

// Holes stay holes.
void copy_extents(long to, long from, int64_t size) {
  sys::raw(SYS_ftruncate, to, size);
  for (int64_t at = 0; at < size;) {
    const long data = sys::raw(SYS_lseek, from, at, SEEK_DATA);
    if (data == -ENXIO) return;
    const long hole = sys::failed(data) ? size : sys::raw(SYS_lseek, from, data, SEEK_HOLE);
    if (!sys::failed(data)) at = data;
    const int64_t limit = sys::failed(hole) || hole > size ? size : hole;
    sys::raw(SYS_lseek, to, at, SEEK_SET);
    while (at < limit) {  // `at` moves on
      if (sys::raw(SYS_sendfile, to, from, reinterpret_cast<long>(&at), limit - at) <= 0) return;
    }
  }
}

// The file's content in memory of this run, with a descriptor that stays: what is written there is
// seen by all that map it, and the recording stays as it is.
long shared_copy(uint32_t number, long file) {
  Shared& s = shared();
  for (uint32_t i = 0; i < s.recording.mapped_file_count; i++) {
    if (s.recording.mapped_files[i].number == number) return s.recording.mapped_files[i].copy;
  }
  struct stat status {};
  const long copy =
      page::open_hidden(SYS_memfd_create, reinterpret_cast<long>("weir-file"), MFD_CLOEXEC);
  if (sys::failed(copy) || s.recording.mapped_file_count == kMappedFiles ||
      sys::raw(SYS_fstat, file, reinterpret_cast<long>(&status)) != 0) {
    report("a file that the program maps cannot be copied for the replay (error %d)",
           int64_t{-copy});
    die(125);
  }
  copy_extents(copy, file, status.st_size);
  s.recording.mapped_files[s.recording.mapped_file_count++] = {
      0, 0, 0, 0, number, true, static_cast<int>(copy)};
  return copy;
}

}  // namespace

long open_file(Task& task, bool shared) {
  const channel::Entry& entry = next(task);
  if (entry.kind != channel::Kind::kFile) diverged(task, entry, "a file is mapped", 0);
  char path[600];
  append_number(append_text(append_text(path, header().directory), "/files/"),
                static_cast<uint64_t>(entry.result));
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) {
    report("%s, the recording's copy of a file that the program maps, cannot be opened (error %d)",
           path, int64_t{-file});
    die(125);
  }
  const auto number = static_cast<uint32_t>(entry.result);
  take(task, entry);
  if (!shared) return file;
  const long copy = shared_copy(number, file);
  sys::raw(SYS_close, file);
  return copy;
}

}  // namespace weir::recording
