// Two views of one file in memory. A unit's right is a right of the program's view alone (page.h).
//
// Regions are protected by libweir-region, whose pointers move. For annotated units a right is only
// what the calls that announce accesses look at; their memory is opened by the first announcement
// on each node, and stays so: a program that forgets them altogether is told. Neighbouring pages
// with one right are one mapping of the kernel, of which a process may have some 65,000: a program
// whose shared pages alternate in right beyond that ends with a message that says so.
//
// The program may not change this mapping (refused_calls.cc), so the calls that do are made at the
// gate.
#include "dsm/segment/segment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/segment/kernel_filter.h"
#include "weir/region.h"

namespace weir::dsm {

namespace {

constexpr int protection_of(Right right) {
  return right == Right::kNone   ? PROT_NONE
         : right == Right::kRead ? PROT_READ
                                 : PROT_READ | PROT_WRITE;
}

long at_gate(long number, const uint8_t* address, uint64_t size, long protection) {
  const long arguments[] = {
      reinterpret_cast<long>(address), static_cast<long>(size), protection, 0, 0, 0};
  return weir_dsm_gate(number, arguments);
}

[[noreturn]] void fail_for_space(uint64_t size) {
  fail(
      "no address space for the shared segment, twice %lu bytes (%s): is it limited (ulimit -v)? "
      "WEIR_DSM_SIZE makes it smaller",
      size, strerror(errno));
}

}  // namespace

Segment::Segment(uint64_t address, uint64_t size) : size_(page_up(size)) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size_)
    fail("no shared memory of %lu bytes: a file may have %lu (ulimit -f); set WEIR_DSM_SIZE", size_,
         limit.rlim_cur);
  file_ = memfd_create("weir-dsm", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size_)))
    fail("no shared memory of %lu bytes (%s)", size_, strerror(errno));
  const int fixed = address ? MAP_FIXED_NOREPLACE : 0;
  void* program = mmap(reinterpret_cast<void*>(address), size_, PROT_NONE,
                       MAP_SHARED | MAP_NORESERVE | fixed, file_, 0);
  if (program == MAP_FAILED && errno == ENOMEM) fail_for_space(size_);
  if (program == MAP_FAILED || (address && program != reinterpret_cast<void*>(address))) {
    fail(
        "the address %#lx of the shared segment is taken on this node (%s); choose another by "
        "WEIR_DSM_ADDRESS",
        address, strerror(errno));
  }
  void* open = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (open == MAP_FAILED) fail_for_space(size_);
  program_ = static_cast<uint8_t*>(program);
  open_ = static_cast<uint8_t*>(open);
}

Segment::~Segment() {
  at_gate(SYS_munmap, program_, size_, 0);
  munmap(open_, size_);
  close(file_);
}

void Segment::protect(uint64_t offset, uint64_t size, Right right) {
  changes_.fetch_add(1, std::memory_order_release);
  const long result = at_gate(SYS_mprotect, program_ + offset, size, protection_of(right));
  if (result == 0) return;
  fail(
      "the rights of shared memory cannot be changed (%s): pages with different rights alternate "
      "too often for vm.max_map_count; use larger units",
      strerror(static_cast<int>(-result)));
}

void Segment::protect_in_child(uint64_t offset, uint64_t size, Right right) const {
  at_gate(SYS_mprotect, program_ + offset, size, protection_of(right));
}

void Segment::clear(uint64_t offset, uint64_t size) { madvise(open_ + offset, size, MADV_REMOVE); }

void RightChanges::add(Page& page, Right right) {
  if (page.right == right) return;
  page.right = right;
  switch (page.kind) {
    case UnitKind::kPages:
      changes_.push_back(
          {static_cast<uint64_t>(page.program - segment_.program()), page_up(page.size), right});
      break;
    case UnitKind::kRegion: weir_region_protect(page.open, protection_of(right)); break;
    case UnitKind::kAnnotated:
      if (right <= page.opened) break;
      page.opened = right;
      changes_.push_back(
          {static_cast<uint64_t>(page.program - segment_.program()), page_up(page.size), right});
      break;
  }
}

void RightChanges::apply() {
  if (changes_.empty()) return;
  // A page that changed twice: the later change stands, so the order among equals is kept.
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const Change& a, const Change& b) { return a.offset < b.offset; });
  size_t out = 0;
  for (size_t i = 1; i < changes_.size(); i++) {
    if (changes_[i].offset == changes_[out].offset) {
      changes_[out] = changes_[i];
    } else {
      changes_[++out] = changes_[i];
    }
  }
  changes_.resize(out + 1);
  for (size_t i = 0; i < changes_.size();) {
    Change run = changes_[i++];
    while (i < changes_.size() && changes_[i].offset == run.offset + run.size &&
           changes_[i].right == run.right)
      run.size += changes_[i++].size;
    segment_.protect(run.offset, run.size, run.right);
  }
  changes_.clear();
}

}  // namespace weir::dsm
