// A table of ranges, each with the number of a file; and files, with the distance from an address
// to the place in the file. A replay has the same ranges, whatever the names.
#include "memory/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/range_table.h"
#include "memory/backing.h"
#include "sys/descriptor.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

namespace {

void note_status(FileSource& source, const struct stat& status) {
  source.device = status.st_dev;
  source.inode = status.st_ino;
}

// A file's number, from 1 on; 0: all are in use.
int take_source(const FileSource& source) {
  Shared& s = shared();
  const auto is_used = [&s](int number) {
    for (uint32_t i = 0; i < s.memory.file_range_count; i++) {
      if (s.memory.file_ranges[i].protection == number) return true;
    }
    return false;
  };
  uint32_t free = s.memory.file_source_high;
  if (free == kFileSources) {
    for (free = 0; free < kFileSources && is_used(static_cast<int>(free + 1));) free++;
    if (free == kFileSources) return 0;
  }
  if (free == s.memory.file_source_high) s.memory.file_source_high++;
  s.memory.file_sources[free] = source;
  return static_cast<int>(free + 1);
}

bool note(Range range, int number) {
  Shared& s = shared();
  return note_protection(s.memory.file_ranges, s.memory.file_range_count, kFileRanges, range,
                         number, 0);
}

void tell_of_room() {
  if (__atomic_exchange_n(&shared().memory.file_room_told, 1u, __ATOMIC_RELAXED)) return;
  report("there are more than %u private mappings of files: MADV_DONTNEED of others gives zeros",
         uint64_t{kFileSources});
}

}  // namespace

FileSource source_of(long descriptor) {
  FileSource source{};
  struct stat status {};
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return source;
  const long length = sys::name_of_descriptor(descriptor, source.path, sizeof source.path);
  const bool fits = length > 0 && length < static_cast<long>(sizeof source.path);
  source.path[fits ? length : 0] = 0;
  note_status(source, status);
  return source;
}

FileSource source_of(const sys::MapLine& line) {
  FileSource source{};
  struct stat status {};
  if (string_length(line.name) >= sizeof source.path) return source;
  append_text(source.path, line.name);
  const auto path = reinterpret_cast<long>(source.path);
  if (sys::raw(SYS_stat, path, reinterpret_cast<long>(&status)) != 0 ||
      status.st_ino != line.inode) {
    source.path[0] = 0;  // there is another one of that name
    return source;
  }
  note_status(source, status);
  return source;
}

void remember_file(Range range, const FileSource& source, uint64_t offset) {
  range.limit = page_up(range.limit);
  forget_file(range);
  FileSource placed = source;
  placed.distance = offset - range.start;
  const int number = take_source(placed);
  if (!number || !note(range, number)) tell_of_room();
}

void forget_file(Range range) {
  if (shared().memory.file_range_count) (void)note({range.start, page_up(range.limit)}, 0);
}

void move_file(Range from, Range to) {
  const FileSource* source;
  uint64_t offset;
  const Range part = file_part({from.start, page_up(from.limit)}, &source, &offset);
  if (part.start != from.start || part.limit < page_up(from.limit)) return;  // of several
  remember_file(to, FileSource{*source}, offset);
}

Range file_part(Range range, const FileSource** source, uint64_t* offset) {
  const Shared& s = shared();
  const uint32_t i = first_above(s.memory.file_ranges, s.memory.file_range_count, range.start);
  if (i == s.memory.file_range_count || s.memory.file_ranges[i].range.start >= range.limit)
    return {};
  Range part = s.memory.file_ranges[i].range;
  if (part.start < range.start) part.start = range.start;
  if (part.limit > range.limit) part.limit = range.limit;
  *source = &s.memory.file_sources[s.memory.file_ranges[i].protection - 1];
  *offset = part.start + (*source)->distance;
  return part;
}

long open_source(const FileSource& source) {
  struct stat status {};
  if (!source.path[0]) return -ENOENT;
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(source.path), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) return file;
  const bool is_there = sys::raw(SYS_fstat, file, reinterpret_cast<long>(&status)) == 0;
  if (is_there && status.st_dev == source.device && status.st_ino == source.inode) return file;
  sys::raw(SYS_close, file);
  return -ESTALE;
}

}  // namespace weir::page
