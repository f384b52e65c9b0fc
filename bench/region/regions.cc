// By regions (weir/region.h).
#include "weir/region.h"

#include <algorithm>
#include <memory>

#include "sequences.h"

namespace bench {

namespace {

constexpr int kOpen = PROT_READ | PROT_WRITE;

class Regions {
 public:
  Regions(const RegionCase& form, weir_region_handler_fn handler, size_t pointers = 1)
      : form_(form),
        all_(new char*[form.count]()),
        more_(new char*[form.count * (pointers - 1)]()) {
    const std::vector<size_t> sizes = spread_sizes();
    for (size_t i = 0; i < form.count; i++) {
      void* start = form.paged ? weir_region_alloc_paged(sizes[i], handler)
                               : weir_region_alloc(sizes[i], &all_[i], handler);
      if (!start) throw "no memory for so many regions";
      if (form.paged) all_[i] = static_cast<char*>(start);
      for (size_t k = 0; k + 1 < pointers; k++) {
        char** more = &more_[i * (pointers - 1) + k];
        *more = all_[i];
        if (weir_region_bptr(&all_[i], more) != 0) throw "a pointer cannot be registered";
      }
    }
    const std::vector<size_t> drawn = shuffled(form.count, 2);
    for (size_t i = 0; i < form.used; i++) {
      used_.push_back(
          {&all_[drawn[i]], sizes[drawn[i]] > 64 ? 64 * (i % 64) : 0});  // all sets of the caches
      store(*used_[i].pointer + used_[i].offset);                        // its memory is there
      starts_.push_back(all_[drawn[i]]);
    }
  }

  size_t count() const { return used_.size(); }
  char* pointer(size_t i) const { return *used_[i].pointer; }
  int level() const { return form_.from_read ? PROT_READ : PROT_NONE; }
  void protect(size_t i) { weir_region_protect(*used_[i].pointer, level()); }
  void unprotect(size_t i) { weir_region_protect(*used_[i].pointer, kOpen); }
  void protect_all() { weir_region_protect_many(starts_.data(), starts_.size(), level()); }
  void open_all() { weir_region_protect_many(starts_.data(), starts_.size(), kOpen); }
  void touch(size_t i) { store(*used_[i].pointer + used_[i].offset); }

 private:
  struct Used {
    char** pointer;
    size_t offset;
  };
  std::vector<size_t> spread_sizes() const {
    std::vector<size_t> sizes(form_.count);
    for (size_t i = 0; i < form_.count; i++)
      sizes[i] = form_.low + (i * 16) % (form_.high - form_.low + 16);
    return sizes;
  }

  RegionCase form_;
  std::unique_ptr<char*[]> all_, more_;
  std::vector<Used> used_;
  std::vector<void*> starts_;
};

Regions* regions_of_process;

void open_and_protect_next(weir_region_trap* trap) {
  Order::on_trap();
  weir_region_protect(trap->start, kOpen);
  if (Order::next != Order::kNone) regions_of_process->protect(Order::next);
}

bool make(const RegionCase& form, size_t pointers, std::string& refusal) {
  try {
    regions_of_process = new Regions(form, open_and_protect_next, pointers);
    return true;
  } catch (const char* reason) {
    refusal = reason;
    return false;
  }
}

}  // namespace

Setup regions(Way way, const RegionCase& form) {
  return [=](std::string& refusal) -> Batch {
    if (!make(form, 1, refusal)) return {};
    const size_t passes = std::max<size_t>(1, 2000 / form.used);
    return [=] { return sequence(*regions_of_process, way, passes, false); };
  };
}

Setup region_protect(size_t pointers, bool paged, size_t used) {
  return [=](std::string& refusal) -> Batch {
    if (!make({.used = used, .paged = paged}, pointers, refusal)) return {};
    return [=] {
      Regions& all = *regions_of_process;
      const size_t passes = (paged ? 1000 : 20000) / all.count();
      const double start = now();
      for (size_t pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < all.count(); i++) all.protect(i);
        for (size_t i = 0; i < all.count(); i++) all.unprotect(i);
      }
      return (now() - start) / static_cast<double>(2 * passes * all.count());
    };
  };
}

Setup region_protect_many() {
  return [](std::string& refusal) -> Batch {
    if (!make({}, 1, refusal)) return {};
    return [] {
      Regions& all = *regions_of_process;
      constexpr size_t kPasses = 200;
      const double start = now();
      for (size_t pass = 0; pass < kPasses; pass++) {
        all.protect_all();
        all.open_all();
      }
      return (now() - start) / static_cast<double>(2 * kPasses * all.count());
    };
  };
}

}  // namespace bench
