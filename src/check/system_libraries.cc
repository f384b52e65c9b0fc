// Which memory is the C library's, the C++ library's and an OpenMP runtime's: what they do inside
// for themselves is their authors' affair.
#include <elf.h>

#include "base/bytes.h"
#include "check/core/check.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"
#include "memory/backing.h"
#include "sys/loaded_files.h"
#include "sys/maps.h"

namespace weir::view::checked {

namespace {

// --- what each process keeps to itself

Range g_ignored_text[8], g_trusted_data[16];
uint32_t g_ignored, g_trusted;
Range g_kernel_text;  // the vDSO's
Range g_openmp_text[4];
uint32_t g_openmp;
Range g_gnu_openmp_text;  // of which the inside is known (interpose/openmp_tasks.cc)
constexpr uint32_t kMaxCxxStates = 4;
Range g_cxx_state[kMaxCxxStates];
uint32_t g_cxx_states;
// A replay maps copies that the recording has kept of files, which have other names.
uint64_t g_first_file;  // sys::first_loaded_file()

bool is_system_library(const char* name) {
  static constexpr const char* kNames[] = {"/libc.so", "/libc-",      "/ld-linux", "/libweir.so",
                                           "/libm.so", "/libpthread", "/libdl.so", "/librt.so"};
  for (const char* known : kNames) {
    if (contains_text(name, known)) return true;
  }
  return false;
}

bool is_openmp_library(const char* name) {
  static constexpr const char* kNames[] = {"/libgomp.so", "/libomp.so", "/libiomp5.so"};
  for (const char* known : kNames) {
    if (contains_text(name, known)) return true;
  }
  return false;
}

// Where the loader's lists are in the backing, they may be closed to the task.
bool peek(void* to, uint64_t from, uint64_t size) {
  while (size) {
    const uint64_t here = page::backing_bytes_at(from);
    const uint64_t piece = here && here < size ? here : size;
    copy_bytes(to, reinterpret_cast<const void*>(here ? page::shared_view_of(from) : from), piece);
    to = static_cast<char*>(to) + piece, from += piece, size -= piece;
  }
  return true;
}

// The end of a library's memory, by its first page.
uint64_t image_limit(const Range& first) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(first.start);
  const uint64_t size = first.limit - first.start;
  if (header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > size) return 0;
  const auto* parts = reinterpret_cast<const Elf64_Phdr*>(first.start + header->e_phoff);
  uint64_t limit = 0;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > limit)
      limit = parts[i].p_vaddr + parts[i].p_memsz;
  }
  return page_up(first.start + limit);
}

// The C++ library's own state, which its headers, too, fill when it is asked for first: the same
// values, whoever is first (locales, and the standard streams, of which two threads may use one).
void find_cxx_state() {
  char* cursor = nullptr;
  g_cxx_states = 0;
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  sys::LoadedNames names(g_first_file, peek);
  uint64_t library_limit = 0, data_limit = 0;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    const bool has_file = line.name[0] && !starts_with(line.name, "/memfd:");
    if (has_file ? !contains_text(names.of(line), "/libstdc++.so")
                 : line.range.start != library_limit)
      continue;
    if (has_file && !line.offset) data_limit = image_limit(line.range);
    if (!has_file && line.range.limit > data_limit) line.range.limit = data_limit;
    library_limit = line.range.limit;
    if (line.writable && line.range.limit > line.range.start && g_cxx_states < kMaxCxxStates)
      g_cxx_state[g_cxx_states++] = line.range;
  }
}

}  // namespace

void note_loader() { g_first_file = reinterpret_cast<uint64_t>(sys::first_loaded_file()); }

bool is_cxx_state(uint64_t address) {
  for (uint32_t i = 0; i < g_cxx_states; i++) {
    if (g_cxx_state[i].contains(address)) return true;
  }
  return false;
}

// What the C library does inside is ordered by its own means, of which some are loads and stores
// that only its authors could tell from races.
void find_system_libraries(bool knows_backing) {
  find_cxx_state();
  char* cursor = nullptr;
  g_ignored = g_trusted = g_openmp = 0;
  g_gnu_openmp_text = g_kernel_text = {};
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  sys::LoadedNames names(g_first_file, peek);
  uint64_t library_limit = 0, data_limit = 0;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    const bool has_file = line.name[0] && !(knows_backing && starts_with(line.name, "/memfd:"));
    const char* const name = has_file ? names.of(line) : line.name;
    if (equal_strings(line.name, "[vdso]")) g_kernel_text = line.range;
    const bool is_library =
        has_file
            ? is_system_library(name)
            : line.range.start == library_limit;  // its bss, or data that is in the backing now
    if (has_file && is_library && !line.offset) data_limit = image_limit(line.range);
    if (!has_file && is_library && line.range.limit > data_limit)
      line.range.limit = data_limit > line.range.start ? data_limit : line.range.start;
    if (has_file && line.executable && is_openmp_library(name) && g_openmp < 4)
      g_openmp_text[g_openmp++] = line.range;
    if (has_file && line.executable && contains_text(name, "/libgomp.so"))
      g_gnu_openmp_text = line.range;
    if (!is_library) continue;
    library_limit = line.range.limit;
    if (line.executable && g_ignored < 8) g_ignored_text[g_ignored++] = line.range;
    else if (line.writable && g_trusted < 16) g_trusted_data[g_trusted++] = line.range;
  }
}

bool is_trusted(uint64_t address) {
  for (uint32_t i = 0; i < g_trusted; i++) {
    if (g_trusted_data[i].contains(address)) return true;
  }
  return false;
}

bool is_kernels(uint64_t rip) { return g_kernel_text.contains(rip); }

bool is_ignored(uint64_t rip) {
  for (uint32_t i = 0; i < g_ignored; i++) {
    if (g_ignored_text[i].contains(rip)) return true;
  }
  return g_gnu_openmp_text.contains(rip) && happens::g_checked && thread_of(self()).openmp.inside &&
         !__atomic_load_n(&state().trusts_openmp, __ATOMIC_RELAXED);
}

// The library calls its own functions, and malloc, directly; callbacks through a pointer.
bool is_call_of_library(uint64_t where) {
  constexpr uint64_t kLength = 5;
  constexpr uint8_t kDirectCall = 0xe8;
  return is_ignored(where) && is_ignored(where - kLength) &&
         *reinterpret_cast<const uint8_t*>(where - kLength) == kDirectCall;
}

bool is_openmp(uint64_t address) {
  for (uint32_t i = 0; i < g_openmp; i++) {
    if (g_openmp_text[i].contains(address)) return true;
  }
  return false;
}

// Runtimes of OpenMP count tasks under a lock and look at the count without it. The addition is
// one plain instruction, which no compiler makes of an atomic operation, but on this processor it
// orders all the same. So whatever they store may tell others something.
void order_openmp(const AccessSite& site, Access* accesses, uint32_t count) {
  if (!is_openmp(site.rip)) return;
  for (uint32_t k = 0; k < count; k++) {
    if (accesses[k].size <= 8) accesses[k].kind |= findings::kMayBeAtomic;
  }
}

}  // namespace weir::view::checked
