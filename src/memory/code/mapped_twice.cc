#include "memory/code/mapped_twice.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "memory/backing.h"
#include "memory/code/executed.h"
#include "sys/memory.h"

namespace weir::page::twice {
namespace {

constexpr uint32_t kMaxWritten = 256;
uint64_t g_written[kMaxWritten];  // pages that this process has opened for writing
uint32_t g_written_count = 0;
bool g_wrote_more = false;  // and others, which are closed again

MemoryState& state() { return shared().memory; }

bool add(const SharedMapping& mapping) {
  MemoryState& s = state();
  if (mapping.range.empty()) return true;
  if (s.shared_count == kSharedMappings) {
    s.shared_incomplete = 1;
    return false;
  }
  s.shared_mappings[s.shared_count++] = mapping;
  return true;
}

// Cuts the range out of the mappings; calls with(piece) for what was there.
template <typename With>
void cut(Range range, With with) {
  MemoryState& s = state();
  for (uint32_t i = 0; i < s.shared_count;) {
    const SharedMapping whole = s.shared_mappings[i];
    if (!whole.range.overlaps(range)) {
      i++;
      continue;
    }
    s.shared_mappings[i] = s.shared_mappings[--s.shared_count];
    const auto piece = [&](uint64_t start, uint64_t limit) {
      SharedMapping part = whole;
      part.range = {start, limit};
      part.offset = whole.offset + (start - whole.range.start);
      return part;
    };
    if (whole.range.start < range.start) add(piece(whole.range.start, range.start));
    if (range.limit < whole.range.limit) add(piece(range.limit, whole.range.limit));
    const uint64_t start = whole.range.start > range.start ? whole.range.start : range.start;
    const uint64_t limit = whole.range.limit < range.limit ? whole.range.limit : range.limit;
    with(piece(start, limit));
  }
}

// Calls act(page) for where else the page's bytes are mapped, and for itself.
template <typename Act>
void each_alias(uint64_t page, Act act) {
  const MemoryState& s = state();
  const SharedMapping* own = find(page);
  if (!own) return;
  const uint64_t offset = own->offset + (page - own->range.start), file = own->file;
  for (uint32_t i = 0; i < s.shared_count; i++) {
    const SharedMapping& mapping = s.shared_mappings[i];
    if (mapping.file == file && offset >= mapping.offset &&
        offset - mapping.offset < mapping.range.size())
      act(mapping.range.start + (offset - mapping.offset));
  }
}

void close_page(uint64_t page) {
  if (const SharedMapping* mapping = find(page))
    sys::protect(page, kPageSize, closed(mapping->protection));
}

}  // namespace

uint64_t file_of(int descriptor) {
  struct stat status {};
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return 0;
  return mix(status.st_ino) ^ status.st_dev << 1 ^ 1;
}

void note_map(Range range, uint64_t file, uint64_t offset, int protection) {
  forget(range);
  add({range, file, offset, protection, 0});
}

void note_protection(Range range, int protection) {
  SharedMapping pieces[16];
  uint32_t count = 0;
  cut(range, [&](SharedMapping piece) {
    piece.protection = protection;
    if (count < sizeof pieces / sizeof pieces[0]) pieces[count++] = piece;
    else state().shared_incomplete = 1;
  });
  for (uint32_t i = 0; i < count; i++) add(pieces[i]);
}

void forget(Range range) {
  cut(range, [](const SharedMapping&) {});
}

const SharedMapping* find(uint64_t address) {
  const MemoryState& s = state();
  for (uint32_t i = 0; i < s.shared_count; i++) {
    if (s.shared_mappings[i].range.contains(address)) return &s.shared_mappings[i];
  }
  return nullptr;
}

bool holds_code(uint64_t file) {
  const MemoryState& s = state();
  for (uint32_t i = 0; i < s.shared_count; i++) {
    if (s.shared_mappings[i].file == file && (s.shared_mappings[i].protection & PROT_EXEC))
      return true;
  }
  return false;
}

bool is_incomplete() { return state().shared_incomplete; }

bool open_to_write(uint64_t page) {
  const SharedMapping* mapping = find(page);
  if (!mapping || !(mapping->protection & PROT_WRITE) || !holds_code(mapping->file)) return false;
  if (g_written_count == kMaxWritten) {
    for (const uint64_t written : g_written) close_page(written);
    g_written_count = 0;
    g_wrote_more = true;
  }
  each_alias(page, [](uint64_t alias) { executed::close({alias, alias + kPageSize}); });
  bool is_noted = false;
  for (uint32_t i = 0; i < g_written_count; i++) is_noted |= g_written[i] == page;
  if (!is_noted) g_written[g_written_count++] = page;
  return sys::protect(page, kPageSize, mapping->protection & ~PROT_EXEC) == 0;
}

void close_to_write(uint64_t page) { each_alias(page, close_page); }

bool has_written() { return g_written_count || g_wrote_more; }

void publish_written() {
  constexpr Range kEverywhere{0, uint64_t{1} << 47};  // files are mapped above the arena
  if (g_wrote_more) executed::note_change(kEverywhere);
  g_wrote_more = false;
  for (uint32_t i = 0; i < g_written_count; i++) {
    each_alias(g_written[i], [](uint64_t alias) {
      executed::note_change({alias, alias + kPageSize});
    });
    close_page(g_written[i]);
  }
  g_written_count = 0;
}

}  // namespace weir::page::twice

namespace weir::page::executed {

void close_shared() {
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.shared_count; i++) {
    const SharedMapping& mapping = s.shared_mappings[i];
    if (twice::holds_code(mapping.file))
      protect(mapping.range.start, mapping.range.size(), twice::closed(mapping.protection));
  }
}

}  // namespace weir::page::executed
