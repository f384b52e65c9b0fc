// Threads that call virtual functions: the vptr check of a sanitizer keeps what it has seen in a
// table of its own, without a lock.
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual long area() const = 0;
};
template <int kSide>
struct Square : Shape {
  long area() const override { return kSide * kSide; }
};

template <int kSide>
long sum() {
  long result = 0;
  for (int i = 0; i < 100; i++) {
    const std::unique_ptr<Shape> shape = std::make_unique<Square<kSide>>();
    result += shape->area();
  }
  return result;
}

}  // namespace

int main() {
  long sums[4] = {};
  std::vector<std::thread> threads;
  threads.emplace_back([&] { sums[0] = sum<1>() + sum<5>(); });
  threads.emplace_back([&] { sums[1] = sum<2>() + sum<5>(); });
  threads.emplace_back([&] { sums[2] = sum<3>() + sum<5>(); });
  threads.emplace_back([&] { sums[3] = sum<4>() + sum<5>(); });
  for (std::thread& thread : threads) thread.join();
  for (const long one : sums) std::cout << one << "\n";
}
