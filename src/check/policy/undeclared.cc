// What --policies=declared does with undeclared memory (PUSh, section 2.1): only one thread may
// touch it.
//
// 1. A block of the heap that the program itself asks for is an object like those of weir_alloc,
//    private to the task that asked. A block that a library asks for on its own account is not: the
//    library's authors have declared nothing.
// 2. A static variable of the program is untouched: the task that touches it first has it. On a
//    trapped page that is seen byte by byte (check/shadow.cc). What one task touched while it alone
//    had the page is not known there, and is found when the task touches it again.
// 3. A variable that weir-cc gave pages of its own (globals.h) is an object, untouched from the
//    start. If policies are inferred, it becomes an object when the program first changes its
//    policy, by its name alone.
//
// Which memory is the program's is determined at the start, before anything is loaded later. What
// weir-cc compiled is the program's, in libraries too.

#include <fcntl.h>

#include "check/core/declared.h"
#include "check/core/enforcer.h"
#include "check/policy/globals.h"
#include "control/options.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::declared {

bool g_strict = false;

namespace {

constexpr uint32_t kMaxRanges = 8;
Range g_text[kMaxRanges], g_data[kMaxRanges];  // per process
uint32_t g_text_count, g_data_count;

bool is_same(const char* a, const char* b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

void find_program() {
  char path[512];
  const long length = sys::raw(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                               reinterpret_cast<long>(path), sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  char* cursor = nullptr;
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  uint64_t limit = 0;  // of its last mapping: bss begins there
  while ((cursor = sys::next_map_line(cursor, &line))) {
    const bool is_program =
        is_same(line.name, path) || (!line.name[0] && limit && line.range.start == limit);
    if (!is_program) continue;
    limit = line.range.limit;
    if (line.executable && g_text_count < kMaxRanges) g_text[g_text_count++] = line.range;
    if (line.writable && g_data_count < kMaxRanges) g_data[g_data_count++] = line.range;
  }
}

bool contains(const Range* ranges, uint32_t count, uint64_t address) {
  for (uint32_t i = 0; i < count; i++) {
    if (ranges[i].contains(address)) return true;
  }
  return false;
}

}  // namespace

void switch_on() {
  view::checked::objects().is_on = 1;
  g_strict = options().policies == Policies::kDeclared;
  view::checked::find_globals();
  if (!g_strict) return;
  find_program();
  view::checked::each_global([](Range variable) { view::checked::add_global(variable); });
}

bool is_programs(uint64_t where) {
  return contains(g_text, g_text_count, where) || view::checked::is_of_globals(where);
}

}  // namespace weir::declared

namespace weir::view::checked {

uint32_t add_global(const Range& variable) {
  const uint32_t index = objects().add(variable.start, variable.size());
  if (!index) return 0;
  Declared& object = objects().at(index);
  object.origin = variable.start % kPageSize ? Origin::kDeclared : Origin::kOwnPages;
  object.is_automatic = true;
  object.rules = Rules(Policy::kUntouched);
  return index;
}

// A jump through the table by which a program calls its libraries.
bool is_linkage(uint64_t rip) {
  const auto* code = reinterpret_cast<const uint8_t*>(rip);
  if (code[0] == 0xf2) code++;
  return code[0] == 0xff && (code[1] & 0x38) != 0 && (code[1] & 0xc7) == 5;
}

// What weir-cc has not listed is the compiler's, or stands where the program wants it to.
bool all_is_declared() {
  return declared::g_strict && declared::g_text_count && is_of_globals(declared::g_text[0].start);
}

bool is_untouched(uint64_t address, const AccessSite& site) {
  if (!declared::g_strict || all_is_declared() || !declared::is_programs(site.rip) ||
      is_linkage(site.rip))
    return false;
  return declared::contains(declared::g_data, declared::g_data_count, address);
}

void report_untouched(const PriorAccess& prior, const ThreadState& thread, Access& access,
                      const AccessSite& site) {
  findings::Object object = undeclared_at(access.address);
  object.policy = static_cast<uint32_t>(Policy::kPrivate) + 1;
  report_policy(prior, thread, access, site, findings::Why::kPolicy,
                static_cast<uint32_t>(Fault::kForbidden), 0, object);
}

}  // namespace weir::view::checked
