// The sequences of Appel and Li over anything that can be protected. `Things` has:
//   void protect(size_t i), unprotect(size_t i), protect_all();  size_t count();
//   void touch(size_t i);                                          a store, which traps where i is
//                                                                  protected
// and a handler that opens what was accessed, calls Order::on_trap(), and protects number
// Order::next where there is one.
#pragma once

#include <random>

#include "sides.h"

namespace bench {

struct Order {
  static constexpr size_t kNone = ~size_t{0};
  static inline size_t next = kNone;
  static inline volatile size_t traps = 0;
  static void on_trap() { traps = traps + 1; }
};

// Stores through register rax, which a handler can find.
inline void store(char* at) { asm volatile("movb $1, (%%rax)" : "+a"(at) : : "memory"); }

inline std::vector<size_t> shuffled(size_t count, unsigned seed = 1) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; i++) order[i] = i;
  std::mt19937 random(seed);
  for (size_t i = count; i > 1; i--) std::swap(order[i - 1], order[random() % i]);
  return order;
}

// ns for each access, or for all of one pass over the things.
template <typename Things>
double sequence(Things& things, Way way, size_t passes, bool whole) {
  static const std::vector<size_t> order = shuffled(things.count());
  const size_t count = order.size();
  double spent = 0;
  Order::traps = 0;
  if (way == Way::kProt1) things.protect(order[0]);
  for (size_t pass = 0; pass < passes; pass++) {
    if (way == Way::kTrap) things.protect_all();
    const double start = now();
    if (way == Way::kProtN) things.protect_all();
    for (size_t i = 0; i < count; i++) {
      if (way == Way::kProt1) Order::next = order[i + 1 < count ? i + 1 : 0];
      things.touch(order[i]);
    }
    spent += now() - start;
  }
  Order::next = Order::kNone;
  if (way == Way::kProt1) things.unprotect(order[0]);
  if (Order::traps != passes * count) fail("an access has not trapped, or has trapped twice");
  return spent / static_cast<double>(whole ? passes : passes * count);
}

}  // namespace bench
