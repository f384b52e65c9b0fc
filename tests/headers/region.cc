// All of weir/region.hpp, as a program with all warnings has it (run.py).
#include "weir/region.hpp"

#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

struct Base {
  int number;
};
struct Derived : Base {
  double weight;
};

template class weir::region_ptr<Base>;
template class weir::region_ptr<const std::string>;
static_assert(std::is_same<std::pointer_traits<weir::region_ptr<int>>::element_type, int>::value,
              "a fancy pointer");

int use_region();
int use_region() {
  weir::region_ptr<Derived> derived = weir::make_region<Derived>();
  weir::region_ptr<const Base> base = derived;
  weir::region_ptr<void> untyped(derived);
  auto array = weir::make_region_array<std::string>(10);
  weir::region_ptr<std::string> second = array + 1;
  auto opens = [&](weir_region_trap& trap) {
    weir_region_protect(trap.start, PROT_READ | PROT_WRITE);
  };
  if (weir::region_handler(array, opens) != 0) return 1;
  const weir::region_set set;
  if (set.protect(array, PROT_NONE) != 0) return 2;
  {
    const weir::region_set::use use(set);
    second = array.get();
  }
  std::vector<weir::region_ptr<Derived>> several(3, derived);
  std::unordered_set<weir::region_ptr<Derived>> some{derived};
  auto back = weir::static_pointer_cast<Derived>(weir::static_pointer_cast<Base>(untyped));
  auto open = weir::const_pointer_cast<Base>(base);
  second = nullptr;
  derived = std::move(back);
  open->number = static_cast<int>(some.size() + several.size());
  return base->number + weir::destroy_region(array) + (array == nullptr) + (open <= base);
}
