// Atomic loads and stores of an enumeration. clang's __atomic_load_n and __atomic_store_n take
// numbers and pointers only.
#pragma once

namespace weir {

template <int kOrder, typename Enum>
[[gnu::always_inline]] inline Enum load_enum(const Enum& from) {
  Enum value;
  __atomic_load(&from, &value, kOrder);
  return value;
}

template <int kOrder, typename Enum>
[[gnu::always_inline]] inline void store_enum(Enum& to, Enum value) {
  __atomic_store(&to, &value, kOrder);
}

}  // namespace weir
