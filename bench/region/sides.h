// What region_bench measures: by regions, and by each of the kernel's ways to protect pages. All
// setups are for Worker; figures are ns.
#pragma once

#include "worker.h"

namespace bench {

inline constexpr size_t kPage = 4096;
inline constexpr size_t kMany = 100;  // the N of ProtN, as in the paper

enum class Pages { kMprotect, kLibsigsegv, kUserfaultfd };

enum class Way {
  kTrap,   // all are protected beforehand; the time of an access to each, with its handler
  kProt1,  // one is protected; the handler of an access to it opens it, and protects another
  kProtN,  // all are protected, and accessed one after the other; a handler opens that one
};

// A SIGSEGV whose handler does nothing but repair the register that holds the address.
Setup bare_trap();

// `count` pages. Figure: one access; of kProt1, `count` accesses where `whole`.
Setup pages(Pages pages, Way way, size_t count, bool whole);

struct RegionCase {
  size_t count = kMany;              // regions that exist
  size_t used = kMany;               // accessed, spread over all
  size_t low = kPage, high = kPage;  // their sizes, in bytes
  bool paged = false;                // weir_region_alloc_paged
  bool from_read = false;            // protected from writes only
};
Setup regions(Way way, const RegionCase& regions);

// Changes of level alone, of `used` of 100 regions in turn between none and read-write, with so
// many pointers to each.
Setup region_protect(size_t pointers, bool paged, size_t used = kMany);
Setup region_protect_many();
Setup page_protect();

}  // namespace bench
