#include "cli/hunt/habit/heap_choice.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <string_view>

#include "recording/bytes.h"
#include "sys/built_with.h"

namespace weir::cli::hunt {
namespace {

constexpr uint64_t kForRun = 128;  // MiB: what the guard may take of a run, and room for the rest

bool has_sanitizer(const std::string& path) {
  const recording::File file = recording::File::reading(path);
  if (!file.is_open()) return false;
  if (std::string_view(sys::built_with(file.descriptor()).first).find("asan") !=
      std::string_view::npos)
    return true;
  return sys::program_file::Elf(file.descriptor()).has("__asan_init");
}

// MiB that the kernel can give without swapping; UINT64_MAX: it does not say.
uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  uint64_t kib;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kib) return kib >> 10;
  }
  return UINT64_MAX;
}

}  // namespace

HeapChoice choose_heap(const std::string& wanted, const std::string& path, size_t jobs) {
  if (wanted == "plain" || has_sanitizer(path)) return {};
  if (wanted == "guard") return {true, ""};
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return {false,
            "misuse of the heap is not looked for: address space is limited (ulimit -v); --heap "
            "guard asks for it all the same"};
  if (const uint64_t memory = available_memory(); memory < jobs * kForRun)
    return {false, fmt::format("misuse of the heap is not looked for: {} runs at once have {} MiB; "
                               "--jobs takes fewer, --heap guard asks for it all the same",
                               jobs, memory)};
  return {true, ""};
}

}  // namespace weir::cli::hunt
