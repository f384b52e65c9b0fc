#include "patch/patch.h"

#include <errno.h>

#include "base/bytes.h"
#include "patch/original.h"
#include "patch/stub_x86_64.h"
#include "patch/sweep.h"
#include "patch/text_map.h"
#include "patch/window.h"
#include "sys/memory.h"

// The passes of patch_text(), in order:
//
//   1. cut the text into functions                         (text_map)
//   2. sweep it: sites, and all places that control enters  (sweep)
//   3. choose for each wanted site the bytes to replace     (window)
//   4. write the stubs into an area within reach, make it executable, never writable again
//   5. write jumps and int3 into the text
//
// A text may be patched several times (system calls at start, locked instructions when the first thread is created). The
// passes must see the program's code each time: `original` has the bytes that were replaced.
// Until pass 5 the text is untouched, so an error leaves it as it was (sites that were added then lead nowhere).
//
// Where the area lies follows from the memory map alone: downward from the object, in the first gap that is large
// enough, so that it is never in the way of a growing heap; only then upward.

// Weak: a unit test that patches something brings an entry of its own.
extern "C" __attribute__((weak, visibility("hidden"))) void weir_site_entry();

namespace weir {

uint8_t g_syscall_handled[kSyscallNumbers];

namespace {

constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{1} << 22);
constexpr uint64_t kProbe = uint64_t{1} << 16;
constexpr uint64_t kHeapRoom = uint64_t{1} << 29;
constexpr uint64_t kLowestAddress = uint64_t{1} << 16;

void (*g_entry)() = nullptr;

long map_stub_area(Range object, uint64_t size) {
  for (uint64_t below = size; below + object.size() < kReach && object.start >= below + kLowestAddress; below += kProbe) {
    long area = sys::map_anonymous(size, PROT_READ | PROT_WRITE, page_down(object.start - below), MAP_FIXED_NOREPLACE);
    if (!sys::failed(area)) return area;
    if (area != -EEXIST) break;
  }
  for (uint64_t above = kHeapRoom; above + object.size() + size < kReach; above += kProbe) {
    long area = sys::map_anonymous(size, PROT_READ | PROT_WRITE, page_up(object.limit + above), MAP_FIXED_NOREPLACE);
    if (!sys::failed(area)) return area;
    if (area != -EEXIST) return area;
  }
  return -ENOMEM;
}

class Patcher {
 public:
  Patcher(Range text, Range object, PatchKinds kinds) : text_(text), object_(object), kinds_(kinds) {}

  long run() {
    uint64_t set_size = OffsetSet::bytes_for(text_.size());
    if (!taken_memory_.take(set_size)) return -ENOMEM;
    taken_.use(reinterpret_cast<uint64_t*>(taken_memory_.address()));
    take_earlier();
    if (!map_.build(text_, object_) || !original_.build(text_, map_)) return -ENOMEM;
    if (!sweep_.run(text_, map_, original_, kinds_)) return -ENOMEM;
    stats.distrusted += static_cast<uint32_t>(sweep_.distrusted());
    stats.text_bytes += text_.size();
    first_ = site_count();
    if (long result = add_jumps(); result != 0) return result;
    if (long result = add_traps(); result != 0) return result;
    return write_text();
  }

  PatchStats stats;

 private:
  bool is_wanted(const Candidate& site) const { return kinds_ & (1u << static_cast<unsigned>(site.kind)); }

  // Marks the windows of earlier calls.
  void take_earlier() {
    for (uint32_t i = 0; i < site_count(); i++) {
      const Site& site = *site_at(i);
      if (!text_.contains(site.window)) continue;
      auto at = static_cast<uint32_t>(site.window - text_.start);
      mark_taken(Window{at, at + site.window_size});
    }
  }

  void mark_taken(const Window& window) {
    for (uint32_t i = window.start; i < window.limit; i++) taken_.add(i);
  }

  // What a site and its stub have in common whatever the window. False: not a site after all, or one that is refused.
  bool describe(const Candidate& candidate, Site& site) {
    site.address = text_.start + candidate.offset;
    site.kind = candidate.kind;
    site.length = candidate.length;
    if (candidate.kind != SiteKind::kAtomic) return true;
    return decode_atomic(candidate.code + candidate.offset, candidate.length, site.address, site.atomic) &&
           site.atomic.length == candidate.length;
  }

  long add_jumps() {
    WindowSource source{static_cast<uint32_t>(text_.size()), &sweep_.targets(), &taken_};
    uint64_t wanted = 0;
    for (size_t i = 0; i < sweep_.candidate_count(); i++) wanted += is_wanted(sweep_.candidates()[i]);
    if (wanted == 0) return 0;
    uint64_t size = page_up(kStubAreaHeader + wanted * kMaxStubSize);
    long mapped = map_stub_area(object_.empty() ? text_ : object_, size);
    if (sys::failed(mapped)) return 0;  // no room within reach: int3 everywhere
    auto area = static_cast<uint64_t>(mapped);
    *reinterpret_cast<uint64_t*>(area) = reinterpret_cast<uint64_t>(g_entry != nullptr ? g_entry : weir_site_entry);
    uint64_t at = area + kStubAreaHeader;
    for (size_t i = 0; i < sweep_.candidate_count(); i++) {
      const Candidate& candidate = sweep_.candidates()[i];
      Window window;
      Site site;
      if (!is_wanted(candidate) || taken_.has(candidate.offset) || !choose_window(source, candidate, window)) continue;
      if (!describe(candidate, site) || !write_site(candidate.code, window, area, at, site)) continue;
      if (add_site(site) < 0) return -ENOSPC;
      mark_taken(window);
      stats.jumps[static_cast<unsigned>(site.kind)]++;
      at += site.stub_size;
    }
    return finish_area(area, at, size);
  }

  bool write_site(const uint8_t* code, const Window& window, uint64_t area, uint64_t at, Site& site) {
    StubRequest request;
    request.stub = at;
    request.entry_slot = area;
    request.index = site_count();
    request.code = code + window.start;
    request.window = site.window = text_.start + window.start;
    request.window_size = window.limit - window.start;
    request.site_at = static_cast<uint32_t>(site.address - site.window);
    site.window_size = static_cast<uint8_t>(request.window_size);
    copy_bytes(site.original, code + window.start, kJumpSize);
    return write_stub(request, site);
  }

  long finish_area(uint64_t area, uint64_t used_to, uint64_t size) {
    uint64_t limit = page_up(used_to);
    if (limit < area + size) sys::unmap(limit, area + size - limit);
    if (long result = sys::protect(area, limit - area, PROT_READ | PROT_EXEC); result != 0) return result;
    return add_stub_area(Range{area, used_to}, first_, site_count()) ? 0 : -ENOSPC;
  }

  long add_traps() {
    for (size_t i = 0; i < sweep_.candidate_count(); i++) {
      const Candidate& candidate = sweep_.candidates()[i];
      if (!is_wanted(candidate) || taken_.has(candidate.offset)) continue;
      Site site;
      if (!describe(candidate, site)) {
        stats.refused++;
        continue;
      }
      site.is_trap = true;
      site.window = site.address;
      site.window_size = 1;
      site.resume = site.address + site.length;
      site.original[0] = candidate.code[candidate.offset];
      if (add_site(site) < 0) return -ENOSPC;
      mark_taken(Window{candidate.offset, candidate.offset + 1});
      stats.traps[static_cast<unsigned>(site.kind)]++;
    }
    return 0;
  }

  long write_text() {
    if (first_ == site_count()) return 0;
    uint64_t start = page_down(text_.start), size = page_up(text_.limit) - start;
    // Executable throughout where the system allows it: a signal handler may run in this text.
    long result = sys::protect(start, size, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (result != 0) result = sys::protect(start, size, PROT_READ | PROT_WRITE);
    if (result != 0) return result;
    for (uint32_t i = first_; i < site_count(); i++) {
      const Site& site = *site_at(i);
      if (site.is_trap) {
        *reinterpret_cast<uint8_t*>(site.address) = 0xcc;
        continue;
      }
      uint8_t jump[kJumpSize];
      if (encode_jump(site.window, site.stub, jump)) copy_bytes(reinterpret_cast<void*>(site.window), jump, kJumpSize);
    }
    return sys::protect(start, size, PROT_READ | PROT_EXEC);
  }

  Range text_;
  Range object_;
  PatchKinds kinds_;
  TextMap map_;
  Original original_;
  Sweep sweep_;
  Scratch taken_memory_;
  OffsetSet taken_;
  uint32_t first_ = 0;
};

}  // namespace

void PatchStats::add(const PatchStats& other) {
  for (unsigned i = 0; i < kSiteKinds; i++) {
    jumps[i] += other.jumps[i];
    traps[i] += other.traps[i];
  }
  refused += other.refused;
  distrusted += other.distrusted;
  text_bytes += other.text_bytes;
}

long patch_text(Range text, Range object, PatchKinds kinds, PatchStats* stats) {
  if (text.empty()) return 0;
  if (text.size() >= kReach) return -EFBIG;
  Patcher patcher(text, object, kinds);
  long result = patcher.run();
  if (stats != nullptr) stats->add(patcher.stats);
  return result;
}

void set_site_entry(void (*entry)()) { g_entry = entry; }

}  // namespace weir
