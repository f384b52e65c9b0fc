#include "effects/call_check.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>
#include <vector>

#include "effects/effects.h"
#include "sys/syscall_x86_64.h"

namespace weir::effects::testing {
namespace {

constexpr size_t kArena = 1 << 18, kGap = 64;

struct Span {
  uint64_t start, limit;
};

struct Arena {
  uint8_t* start;
  size_t used = 0;
  std::vector<Span> buffers;
  std::mt19937_64 random{20260101};
  size_t written = 0, read = 0;

  Arena() {
    start = static_cast<uint8_t*>(
        mmap(nullptr, kArena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    fill();
  }
  void fill() {
    for (size_t i = 0; i < kArena; i += 8) {
      const uint64_t word = random();
      std::memcpy(start + i, &word, 8);
    }
  }
  bool holds(uint64_t address, uint64_t size) const {
    for (const Span& span : buffers) {
      if (address >= span.start && address + size <= span.limit) return true;
    }
    return false;
  }
};

Arena& arena() {
  static Arena one;
  return one;
}

void collect(void* context, uint64_t address, uint64_t size) {
  static_cast<std::vector<Span>*>(context)->push_back({address, address + size});
}

}  // namespace

void clear_buffers() {
  arena().buffers.clear();
  arena().used = 0;
  arena().fill();
}

Buffer random_bytes(size_t size) {
  Arena& a = arena();
  a.used += kGap;
  const auto at = reinterpret_cast<uint64_t>(a.start + a.used);
  a.used += (size + 15) & ~size_t{15};
  EXPECT_LT(a.used + kGap, kArena);
  a.buffers.push_back({at, at + size});
  return {at, size};
}

Buffer bytes(const void* from, size_t size) {
  const Buffer buffer = random_bytes(size);
  std::memcpy(buffer.data(), from, size);
  return buffer;
}

Buffer zeroes(size_t size) {
  const Buffer buffer = random_bytes(size);
  std::memset(buffer.data(), 0, size);
  return buffer;
}

Buffer text(const char* text) { return bytes(text, std::strlen(text) + 1); }

long call(long number, std::initializer_list<long> arguments, size_t unchanged) {
  Arena& a = arena();
  Request request{number, {}};
  int place = 0;
  for (long argument : arguments) request.a[place++] = argument;
  const char* name = name_of(number);
  if (!name) name = "unknown";
  EXPECT_NE(replay_of(request), Replay::kRefuse) << name;
  static Before before;
  prepare(request, &before);
  const std::vector<uint8_t> old(a.start, a.start + kArena);
  const long* v = request.a;
  const long result = sys::raw(number, v[0], v[1], v[2], v[3], v[4], v[5]);
  const std::vector<uint8_t> now(a.start, a.start + kArena);

  std::vector<Span> written, read;
  written_memory(request, before, result, collect, &written);
  read_memory(request, before, result, collect, &read);
  EXPECT_TRUE(std::memcmp(now.data(), a.start, kArena) == 0) << name << ": the question wrote";

  std::vector<bool> is_visited(kArena);
  const auto first = reinterpret_cast<uint64_t>(a.start);
  for (const Span& span : written) {
    EXPECT_TRUE(a.holds(span.start, span.limit - span.start))
        << name << " = " << result << ": writes " << span.limit - span.start
        << " bytes that are in no buffer";
    for (uint64_t at = span.start; at < span.limit; at++) {
      if (at - first < kArena) is_visited[at - first] = true;
    }
  }
  size_t kept = 0;
  a.written = 0;
  for (size_t i = 0; i < kArena; i++) {
    a.written += is_visited[i];
    kept += is_visited[i] && old[i] == now[i];
    if (old[i] == now[i] || is_visited[i]) continue;
    for (const Span& span : a.buffers) {
      if (first + i >= span.start && first + i < span.limit) {
        ADD_FAILURE() << name << " = " << result << ": byte " << first + i - span.start
                      << " of a buffer of " << span.limit - span.start << " was written";
      }
    }
    if (!a.holds(first + i, 1))
      ADD_FAILURE() << name << " = " << result << ": a byte outside all buffers was written";
  }
  if (unchanged == kUsual) unchanged = a.written / 32 + 6;
  EXPECT_LE(kept, unchanged) << name << " = " << result << ": " << kept << " of " << a.written
                             << " bytes have not changed";

  a.read = 0;
  for (const Span& span : read) {
    a.read += span.limit - span.start;
    EXPECT_TRUE(a.holds(span.start, span.limit - span.start))
        << name << " = " << result << ": reads " << span.limit - span.start
        << " bytes that are in no buffer";
    for (const Span& other : written) {
      EXPECT_TRUE(span.limit <= other.start || other.limit <= span.start)
          << name << ": reads what it writes";
    }
  }
  return result;
}

size_t last_written() { return arena().written; }
size_t last_read() { return arena().read; }

}  // namespace weir::effects::testing
