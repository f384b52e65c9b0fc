// Regions for tests, with a handler that notes what it is told.
#pragma once

#include <gtest/gtest.h>

#include "weir/region.h"

namespace weir::region {

constexpr int kOpen = PROT_READ | PROT_WRITE;

struct Seen {
  int count = 0;
  weir_region_trap last{};
  int raise_to = kOpen;
};

inline void note(weir_region_trap* trap) {
  auto& seen = *static_cast<Seen*>(trap->context);
  seen.count++;
  seen.last = *trap;
  if (seen.raise_to >= 0) { EXPECT_EQ(0, weir_region_protect(trap->start, seen.raise_to)); }
}

// So that no store is moved past a change of level, and no pointer is kept in a register.
template <typename T>
T* volatile& fresh(T*& pointer) {
  return const_cast<T* volatile&>(pointer);
}

struct Owned {
  int* p = nullptr;
  Seen seen;
  explicit Owned(size_t size = 64) {
    EXPECT_NE(nullptr, weir_region_alloc(size, &p, note));
    EXPECT_EQ(0, weir_region_handler(p, note, &seen));
  }
  ~Owned() {
    void* open = weir_region_open(p);
    p = nullptr;
    EXPECT_EQ(0, weir_region_free(open));
  }
};

}  // namespace weir::region
