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

bool is_used(int number) {
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.file_range_count; i++) {
    if (s.file_ranges[i].protection == number) return true;
  }
  return false;
}

// A file's number, from 1 on; 0: all are in use.
int take_source(const FileSource& source) {
  Shared& s = shared();
  uint32_t free = s.memory.file_source_high;
  if (free == kFileSources) {
    for (free = 0; free < kFileSources && is_used(static_cast<int>(free + 1));) free++;
    if (free == kFileSources) return 0;
  }
  if (free == s.memory.file_source_high) s.memory.file_source_high++;
  s.memory.file_sources[free] = source;
  return static_cast<int>(free + 1);
}

constexpr char kKept[] = "/proc/self/fd/";

// Descriptors that were kept for files of which nothing is mapped any more.
void let_go() {
  MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.file_source_high; i++) {
    FileSource& source = s.file_sources[i];
    if (!starts_with(source.path, kKept) || is_used(static_cast<int>(i + 1))) continue;
    bool has_moved = false;  // to another number
    for (uint32_t j = 0; j < s.file_source_high; j++) {
      has_moved |= j != i && equal_strings(s.file_sources[j].path, source.path) &&
                   is_used(static_cast<int>(j + 1));
    }
    int kept = 0;
    for (const char* at = source.path + sizeof kKept - 1; *at; at++) kept = kept * 10 + *at - '0';
    if (!has_moved) close_hidden(kept);
    source.path[0] = 0;
  }
}

bool note(Range range, int number) {
  Shared& s = shared();
  return note_protection(s.memory.file_ranges, s.memory.file_range_count, kFileRanges, range,
                         number, 0);
}

void tell_of_room() {
  if (!first_time(FileWord::kRoom)) return;
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

FileSource kept_source_of(long descriptor) {
  FileSource source = source_of(descriptor);
  struct stat status {};
  const auto path = reinterpret_cast<long>(source.path);
  if (source.path[0] && sys::raw(SYS_stat, path, reinterpret_cast<long>(&status)) == 0 &&
      status.st_ino == source.inode && status.st_dev == source.device)
    return source;
  const long kept = open_hidden(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 3);
  if (!sys::failed(kept))
    append_number(append_text(source.path, kKept), static_cast<uint64_t>(kept));
  return source;
}

const char* name_of(const FileSource& source) {
  const bool has_name = source.path[0] && !starts_with(source.path, kKept);
  return has_name ? source.path : "a file without a name";
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
  MemoryState& s = shared().memory;
  range.limit = page_up(range.limit);
  if (!is_noted(s.file_ranges, s.file_range_count, range)) return;
  (void)note(range, 0);
  let_go();
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

Range mapped_part(uint64_t device, uint64_t inode, Range bytes, const FileSource** source) {
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.file_range_count; i++) {
    const FileSource& file = s.file_sources[s.file_ranges[i].protection - 1];
    const Range& range = s.file_ranges[i].range;
    const Range shown{range.start + file.distance, range.limit + file.distance};
    if (file.device != device || file.inode != inode || !shown.overlaps(bytes)) continue;
    *source = &file;
    return range;
  }
  return {};
}

bool first_time(FileWord word) {
  const auto bit = static_cast<uint32_t>(word);
  return !(__atomic_fetch_or(&shared().memory.file_room_told, bit, __ATOMIC_RELAXED) & bit);
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
