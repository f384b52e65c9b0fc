// A fast Fourier transform in six steps: the vector is a square, rows are transformed, and
// transposed between the nodes. The modulus is a prime (998244353), so results are exact.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weir/dsm.hpp>

namespace {

constexpr std::uint64_t kPrime = 998244353, kRoot = 3;
constexpr std::size_t kSide = 128, kCount = kSide * kSide;

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent; exponent >>= 1, base = base * base % kPrime)
    if (exponent & 1) result = result * base % kPrime;
  return result;
}

// In place, of `count` elements, a power of two.
void transform(std::uint64_t* values, std::size_t count, std::uint64_t root) {
  for (std::size_t i = 1, j = 0; i < count; i++) {
    std::size_t bit = count >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t length = 2; length <= count; length <<= 1) {
    const std::uint64_t step = power(root, count / length);
    for (std::size_t at = 0; at < count; at += length) {
      std::uint64_t factor = 1;
      for (std::size_t k = 0; k < length / 2; k++, factor = factor * step % kPrime) {
        const std::uint64_t even = values[at + k],
                            odd = values[at + k + length / 2] * factor % kPrime;
        values[at + k] = (even + odd) % kPrime;
        values[at + k + length / 2] = (even + kPrime - odd) % kPrime;
      }
    }
  }
}

std::uint64_t input(std::size_t i) { return (i * 2654435761u + 12345) % kPrime; }

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const std::uint64_t root = power(kRoot, (kPrime - 1) / kCount), back = power(root, kPrime - 2),
                      row_root = power(root, kSide);
  std::uint64_t wrong = 0;
  {
    weir::dsm::shared_vector<std::uint64_t> one(kCount), two(kCount);
    std::uint64_t *from = one.data(), *to = two.data();
    weir::dsm::run([&](unsigned worker, unsigned workers) {
      const auto mine = weir::dsm::part(kSide, worker, workers);
      std::uint64_t *a = from, *b = to;
      const auto transpose = [&] {
        weir_dsm_barrier_replay(1, WEIR_DSM_STATIC);
        for (std::size_t row = mine.first; row < mine.second; row++)
          for (std::size_t column = 0; column < kSide; column++)
            b[row * kSide + column] = a[column * kSide + row];
        std::swap(a, b);
        weir_dsm_barrier_replay(2, WEIR_DSM_STATIC);
      };
      const auto pass = [&](std::uint64_t whole, std::uint64_t row) {
        transpose();
        for (std::size_t i = mine.first; i < mine.second; i++) {
          transform(a + i * kSide, kSide, row);
          for (std::size_t j = 0; j < kSide; j++)
            a[i * kSide + j] = a[i * kSide + j] * power(whole, i * j) % kPrime;
        }
        transpose();
        for (std::size_t i = mine.first; i < mine.second; i++) transform(a + i * kSide, kSide, row);
        transpose();
      };
      for (std::size_t i = mine.first * kSide; i < mine.second * kSide; i++) a[i] = input(i);
      pass(root, row_root);
      if (worker == 0) {
        std::vector<std::uint64_t> own(kCount);
        for (std::size_t i = 0; i < kCount; i++) own[i] = input(i);
        transform(own.data(), kCount, root);
        for (std::size_t i = 0; i < kCount; i++) wrong += own[i] != a[i];
      }
      pass(back, power(row_root, kPrime - 2));
      const std::uint64_t scale = power(kCount, kPrime - 2);
      std::int64_t differ = 0;
      for (std::size_t i = 0; i < kCount; i += 1 + worker)
        differ += a[i] * scale % kPrime != input(i);
      weir_dsm_reduce_int64(&differ, 1, WEIR_DSM_SUM);
      if (worker == 0) wrong += differ;
    });
  }
  if (session.node() == 0) std::printf("fft: %s (%lu)\n", wrong ? "WRONG" : "right", wrong);
  return wrong != 0;
}
