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

void add(const SharedMapping& mapping) {
  MemoryState& s = state();
  if (s.shared_count == kSharedMappings) s.shared_incomplete = 1;
  else s.shared_mappings[s.shared_count++] = mapping;
}

// No mapping lies on both sides of the address.
void split_at(uint64_t address) {
  MemoryState& s = state();
  for (uint32_t i = 0; i < s.shared_count; i++) {
    Range& range = s.shared_mappings[i].range;
    if (!range.contains(address) || range.start == address) continue;
    SharedMapping rest = s.shared_mappings[i];
    rest.offset += address - range.start;
    rest.range.start = range.limit = address;
    add(rest);
    return;
  }
}

void split_around(Range range) {
  split_at(range.start);
  split_at(range.limit);
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
  if (!range.empty()) add({range, file, offset, protection, 0});
}

void note_protection(Range range, int protection) {
  MemoryState& s = state();
  split_around(range);
  for (uint32_t i = 0; i < s.shared_count; i++) {
    if (s.shared_mappings[i].range.overlaps(range)) s.shared_mappings[i].protection = protection;
  }
}

void forget(Range range) {
  MemoryState& s = state();
  split_around(range);
  for (uint32_t i = 0; i < s.shared_count;) {
    if (s.shared_mappings[i].range.overlaps(range))
      s.shared_mappings[i] = s.shared_mappings[--s.shared_count];
    else i++;
  }
}

void note_move(Range from, Range to) {
  const SharedMapping* found = find(from.start);
  if (!found) return;
  SharedMapping mapping = *found;
  mapping.offset += from.start - mapping.range.start;
  mapping.range = to;
  forget(from);
  forget(to);
  add(mapping);
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
