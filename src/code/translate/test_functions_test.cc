#include "code/translate/test_functions.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir::translate::test::functions {

#define WEIR_TEST_FUNCTION __attribute__((noinline))

namespace {
// Every call of a function has the same memory at the same addresses: libc's comparisons and copies
// take other ways where a page ends, and the heap gives out other addresses each time.
class Memory : public std::pmr::monotonic_buffer_resource {
 public:
  Memory() : monotonic_buffer_resource(buffer_, sizeof buffer_, std::pmr::null_memory_resource()) {}

 private:
  alignas(4096) static inline char buffer_[1 << 14];
};
}  // namespace

WEIR_TEST_FUNCTION int64_t fibonacci(int64_t n, int64_t unused) {
  return n < 2 ? n : fibonacci(n - 1, unused) + fibonacci(n - 2, unused);
}

WEIR_TEST_FUNCTION int64_t sieve(int64_t n, int64_t) {
  Memory memory;
  std::pmr::vector<char> composite(static_cast<size_t>(n), &memory);
  int64_t count = 0;
  for (int64_t i = 2; i < n; i++) {
    if (composite[static_cast<size_t>(i)]) continue;
    count++;
    for (int64_t k = i * i; k < n; k += i) composite[static_cast<size_t>(k)] = 1;
  }
  return count;
}

WEIR_TEST_FUNCTION int64_t table(int64_t n, int64_t start) {
  auto x = static_cast<uint64_t>(start);
  for (uint64_t i = 0; i < static_cast<uint64_t>(n); i++) {
    switch ((x ^ i) % 11) {
      case 0: x += 3; break;
      case 1: x *= 5; break;
      case 2: x ^= x >> 3; break;
      case 3: x -= i; break;
      case 4: x = -x; break;
      case 5: x |= 1; break;
      case 6: x = (x << 7) | (x >> 57 & 0x7f); break;
      case 7: x /= 3; break;
      case 8: x ^= i; break;
      default: x++;
    }
  }
  return static_cast<int64_t>(x);
}

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  double side = 2;
  double area() const override { return side * side; }
};
struct Circle : Shape {
  double radius = 3;
  double area() const override { return M_PI * radius * radius; }
};
}  // namespace

WEIR_TEST_FUNCTION int64_t virtual_calls(int64_t n, int64_t) {
  Memory memory;
  std::pmr::vector<std::unique_ptr<Shape>> shapes(&memory);
  for (int64_t i = 0; i < n; i++) {
    if (i % 3) {
      shapes.push_back(std::make_unique<Square>());
    } else {
      shapes.push_back(std::make_unique<Circle>());
    }
  }
  double sum = 0;
  for (auto& shape : shapes) sum += shape->area();
  return static_cast<int64_t>(sum * 1000);
}

WEIR_TEST_FUNCTION int64_t sorting(int64_t n, int64_t seed) {
  Memory memory;
  std::pmr::vector<uint64_t> values(static_cast<size_t>(n), &memory);
  auto x = static_cast<uint64_t>(seed);
  for (auto& value : values) value = x = x * 6364136223846793005u + 1442695040888963407u;
  std::sort(values.begin(), values.end());
  std::stable_sort(values.begin(), values.end(),
                   [](uint64_t a, uint64_t b) { return a % 1000 < b % 1000; });
  uint64_t hash = 0;
  for (uint64_t value : values) hash = hash * 31 + value;
  return static_cast<int64_t>(hash);
}

WEIR_TEST_FUNCTION int64_t floating(int64_t n, int64_t) {
  double sum = 0;
  float small = 1;
  long double large = 1;
  for (int64_t i = 1; i < n; i++) {
    sum += sin(static_cast<double>(i)) * sqrt(static_cast<double>(i)) +
           pow(1.0001, static_cast<double>(i));
    small = small * 1.0001f + static_cast<float>(i);
    large = large * 1.0001L + 1.0L / static_cast<long double>(i);
    if (sum > 100) sum -= static_cast<double>(small > 50);
  }
  return static_cast<int64_t>(sum * 1e6) ^ static_cast<int64_t>(small) ^
         static_cast<int64_t>(large * 1e3L);
}

__attribute__((noinline, target("avx2,fma"))) int64_t vectors(int64_t n, int64_t seed) {
  static float a[256], b[256], c[256];
  for (int i = 0; i < 256; i++) {
    a[i] = static_cast<float>(seed + i);
    b[i] = static_cast<float>(i) * 0.5f;
  }
  for (int64_t k = 0; k < n; k++) {
    for (int i = 0; i < 256; i++) c[i] += a[i] * b[i];
  }
  double sum = 0;
  for (float value : c) sum += value;
  memset(c, 0, sizeof c);
  return static_cast<int64_t>(sum);
}

WEIR_TEST_FUNCTION int64_t strings(int64_t n, int64_t) {
  Memory memory;
  std::pmr::map<std::pmr::string, int> counts(&memory);
  std::pmr::string text(&memory);
  for (int64_t i = 0; i < n; i++) text += (std::to_string(i * 7919 % 101) += " ");
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find(' ', at);
    counts[std::pmr::string(text, at, end - at, &memory)]++;
    at = end + 1;
  }
  uint64_t hash = 0;
  for (auto& [word, count] : counts)
    hash =
        hash * 31 + word.size() * static_cast<unsigned>(count) + (strcmp(word.c_str(), "55") > 0);
  char buffer[200];
  snprintf(buffer, sizeof buffer, "%.3f %.20s %lx", static_cast<double>(n) / 3, text.c_str(), n);
  for (const char* p = buffer; *p; p++) hash = hash * 33 + static_cast<unsigned char>(*p);
  return static_cast<int64_t>(hash);
}

namespace {
jmp_buf g_jump;
WEIR_TEST_FUNCTION void jumps_back(int64_t n) {
  if (n > 3) longjmp(g_jump, static_cast<int>(n));
}
}  // namespace

WEIR_TEST_FUNCTION int64_t jumping(int64_t n, int64_t) {
  static int64_t sum, i;  // not in registers, which longjmp takes back
  sum = 0;
  for (i = 1; i < n; i++) {
    if (const int came = setjmp(g_jump)) {
      sum += 100 * came;
    } else {
      jumps_back(i);
      sum++;
    }
  }
  return sum;
}

static WEIR_TEST_FUNCTION void throws(int64_t n) {
  std::string local = "some string that has to be destroyed " + std::to_string(n);
  if (n % 2) throw std::runtime_error(local);
  throw n;
}
WEIR_TEST_FUNCTION int64_t catching(int64_t n, int64_t) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    try {
      throws(i);
    } catch (const std::exception& e) {
      sum += static_cast<int64_t>(strlen(e.what()));
    } catch (int64_t value) { sum += 1000 * value; }
  }
  return sum;
}

}  // namespace weir::translate::test::functions
