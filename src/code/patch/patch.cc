#include "code/patch/patch.h"

#include <errno.h>

#include "base/bytes.h"
#include "code/find/original.h"
#include "code/find/sweep.h"
#include "code/find/text_map.h"
#include "code/find/window.h"
#include "code/patch/doubt.h"
#include "code/patch/plan.h"
#include "code/patch/stub_x86_64.h"
#include "sys/memory.h"
#include "sys/report.h"

// The passes of patch_text(), in order:
//
//   1. cut the text into functions                         (text_map)
//   2. sweep it: sites, and all places that control enters  (sweep)
//   3. choose for each wanted site the bytes to replace     (window): the plan
//   4. write the stubs into an area within reach, make it executable, never writable again
//   5. write jumps and int3 into the text
//
// A text may be patched several times (system calls at start, locked instructions when the first
// thread is created). The passes must see the program's code each time: `original` has the bytes
// that were replaced. Until pass 5 the text is untouched, so an error leaves it as it was (sites
// that were added then lead nowhere).
//
// Where plans are kept (code/patch/plan.cc), passes 1 to 3 are made once for all kinds, by the
// first run that meets the text; later ones read the plan, see that the text is as the plan has it,
// and go on with pass 4. A plan is kept only where nothing was patched before, since it leaves out
// what is.
//
// Where the area lies follows from the memory map alone: downward from the object, in the first gap
// that is large enough, so that it is never in the way of a growing heap; only then upward.

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
  for (uint64_t below = size;
       below + object.size() < kReach && object.start >= below + kLowestAddress; below += kProbe) {
    long area = sys::map_anonymous(size, PROT_READ | PROT_WRITE, page_down(object.start - below),
                                   MAP_FIXED_NOREPLACE);
    if (!sys::failed(area)) return area;
    if (area != -EEXIST) break;
  }
  for (uint64_t above = kHeapRoom; above + object.size() + size < kReach; above += kProbe) {
    long area = sys::map_anonymous(size, PROT_READ | PROT_WRITE, page_up(object.limit + above),
                                   MAP_FIXED_NOREPLACE);
    if (!sys::failed(area)) return area;
    if (area != -EEXIST) return area;
  }
  return -ENOMEM;
}

// Kinds that a plan which is kept is made for.
constexpr PatchKinds kKeptKinds =
    kPatchSyscall | kPatchAtomic | kPatchRdtsc | kPatchCpuid | kPatchRandom | kPatchBase;

class Patcher {
 public:
  Patcher(Range text, Range object, PatchKinds kinds, const char* folder, const TextFile& file)
      : text_(text), object_(object), kinds_(kinds), folder_(folder), file_(file) {}

  long run() {
    uint64_t set_size = OffsetSet::bytes_for(text_.size());
    if (!taken_memory_.take(set_size)) return -ENOMEM;
    taken_.use(reinterpret_cast<uint64_t*>(taken_memory_.address()));
    has_earlier_ = take_earlier();
    TextIdentity identity;
    if (folder_ != nullptr &&
        ((kinds_ & ~kKeptKinds) || !identify_text(text_, object_, has_earlier_, identity)))
      folder_ = nullptr;
    if (folder_ != nullptr && load_plan(folder_, identity, kept_) && fits(kept_)) {
      plan_ = &kept_;
      if (!has_earlier_ && !is_same_file(kept_) && may_note_file()) {
        kept_.header().file = file_;
        store_plan(folder_, identity, kept_);
      }
    } else {
      const bool keeps = folder_ != nullptr && !has_earlier_;
      if (!make_plan(keeps ? kKeptKinds : kinds_)) return -ENOMEM;
      if (keeps) made_.header().text_digest = digest_text(code(), text_.size());
      if (keeps && may_note_file()) made_.header().file = file_;
      if (keeps) store_plan(folder_, identity, made_);
      plan_ = &made_;
    }
    stats.distrusted += plan_->header().distrusted;
    stats.text_bytes += text_.size();
    plan_->filter([this](const PlannedSite& site) { return is_wanted(site) && !is_earlier(site); });
    first_ = site_count();
    if (long result = add_jumps(); result != 0) return result;
    if (long result = add_traps(); result != 0) return result;
    return write_text();
  }

  PatchStats stats;

 private:
  bool is_wanted(const PlannedSite& site) const {
    return kinds_ & (1u << static_cast<unsigned>(site.kind)) &&
           (site.kind != SiteKind::kRandom || is_known(site.random));
  }

  const uint8_t* code() const { return reinterpret_cast<const uint8_t*>(text_.start); }

  // Marks the windows of earlier calls. Whether there are any.
  bool take_earlier() {
    bool any = false;
    for (uint32_t i = 0; i < site_count(); i++) {
      const Site& site = *site_at(i);
      if (!text_.contains(site.window)) continue;
      auto at = static_cast<uint32_t>(site.window - text_.start);
      if (!any) taken_memory_.expect(OffsetSet::bytes_for(text_.size()));
      mark_taken(Window{at, at + site.window_size});
      any = true;
    }
    return any;
  }

  void mark_taken(const Window& window) {
    WEIR_CHECK(!taken_.has_any(window.start, window.limit));  // invariant 1 of window.cc
    for (uint32_t i = window.start; i < window.limit; i++) taken_.add(i);
  }

  bool is_same_file(const Plan& plan) const {
    return file_.is_known() && plan.header().file == file_;
  }
  bool may_note_file() const { return file_.is_known() && has_settled(file_); }

  // Whether the text is the one that the plan was made for: as a whole when it is met first; as far
  // as the plan replaces anything of it now, also when earlier calls have changed it.
  bool fits(const Plan& plan) const {
    if (!has_earlier_ && !is_same_file(plan) &&
        plan.header().text_digest != digest_text(code(), text_.size()))
      return false;
    for (const PlannedSite& site : plan) {
      const uint64_t limit = uint64_t{site.window} + site.window_size;
      if (limit > text_.size() || site.offset < site.window ||
          site.offset + uint64_t{site.length} > limit ||
          static_cast<unsigned>(site.kind) >= kSiteKinds || site.length == 0 ||
          (!site.is_trap && site.window_size < kJumpSize)) {
        return false;
      }
      if (!is_wanted(site) || is_earlier(site)) continue;
      if ((has_earlier_ && taken_.has_any(site.window, static_cast<uint32_t>(limit))) ||
          digest_bytes(code() + site.window, site.window_size) != site.digest) {
        return false;
      }
    }
    return true;
  }

  // Whether the site was patched by an earlier call.
  bool is_earlier(const PlannedSite& site) const {
    return has_earlier_ && plan_ != &made_ && taken_.has(site.offset);
  }

  bool make_plan(PatchKinds kinds) {
    if (!map_.build(text_, object_) || !original_.build(text_, map_)) return false;
    if (!sweep_.run(text_, map_, original_, kinds) ||
        !made_.take(sweep_.candidate_count() + sweep_.doubt_count()))
      return false;
    made_.header().distrusted = static_cast<uint32_t>(sweep_.distrusted());
    for (unsigned kind = 0; kind < kSiteKinds; kind++) {
      if (kinds & (1u << kind)) plan_kind(static_cast<SiteKind>(kind));
    }
    plan_doubts();
    return true;
  }

  // Jumps first: a trap may stand anywhere.
  void plan_kind(SiteKind kind) {
    WindowSource source{static_cast<uint32_t>(text_.size()), &sweep_.targets(), &sweep_.starts(),
                        &taken_};
    for (uint8_t is_trap = 0; is_trap <= 1; is_trap++) {
      for (size_t i = 0; i < sweep_.candidate_count(); i++) {
        const Candidate& site = sweep_.candidates()[i];
        if (site.kind != kind || taken_.has(site.offset)) continue;
        PlannedSite planned{};
        planned.is_refused = kind == SiteKind::kAtomic && !plan_atomic(site, planned);
        if (kind == SiteKind::kRandom) plan_random(site, planned);
        Window window{site.offset, site.offset + site.length};
        if (!is_trap && (planned.is_refused || !choose_window(source, site, window))) continue;
        planned.offset = site.offset;
        planned.window = window.start;
        planned.kind = kind;
        planned.length = site.length;
        planned.window_size = static_cast<uint8_t>(window.limit - window.start);
        planned.is_trap = is_trap;
        planned.digest = digest_bytes(code() + window.start, planned.window_size);
        made_.add(planned);
        mark_taken(is_trap ? Window{site.offset, site.offset + 1} : window);
      }
    }
  }

  void plan_doubts() {
    const auto size = static_cast<uint32_t>(text_.size());
    for (uint32_t at = sweep_.doubts().next(0, size); at < size;
         at = sweep_.doubts().next(at + 1, size)) {
      Shape shape;
      WEIR_CHECK(read_shape(code() + at, size - at, shape));
      PlannedSite planned{};
      planned.offset = planned.window = at;
      planned.kind = SiteKind::kAtomic;
      planned.length = planned.window_size = shape.length;
      planned.is_trap = kDoubt;
      planned.digest = digest_bytes(code() + at, shape.length);
      made_.add(planned);
    }
  }

  bool plan_atomic(const Candidate& site, PlannedSite& planned) const {
    Shape shape;
    const uint8_t* at = code() + site.offset;
    if (!decode_atomic(at, site.length, text_.start + site.offset, planned.atomic) ||
        planned.atomic.length != site.length)
      return false;
    planned.atomic.is_unread = is_unread(planned.atomic, code(), text_.size(), site.offset);
    planned.is_relative = read_shape(at, site.length, shape) && shape.is_rip_relative();
    if (planned.is_relative) planned.atomic.displacement -= static_cast<int64_t>(text_.start);
    return true;
  }

  void plan_random(const Candidate& site, PlannedSite& planned) const {
    Shape shape;
    WEIR_CHECK(read_shape(site.code + site.offset, site.length, shape) &&
               decode_random(shape, planned.random));
  }

  // What a site and its stub have in common whatever the window.
  void describe(const PlannedSite& planned, Site& site) {
    site.address = text_.start + planned.offset;
    site.kind = planned.kind;
    site.length = planned.length;
    site.atomic = planned.atomic;
    site.random = planned.random;
    if (planned.is_relative) site.atomic.displacement += static_cast<int64_t>(text_.start);
  }

  // Where no jump is possible after all a trap is planned instead.
  long add_jumps() {
    uint64_t wanted = 0;
    for (const PlannedSite& planned : *plan_) wanted += planned.is_trap != kDoubt;
    if (wanted == 0) return 0;
    expect_sites(static_cast<uint32_t>(wanted));
    uint64_t size = page_up(kStubAreaHeader + wanted * kMaxStubSize);
    long mapped = map_stub_area(object_.empty() ? text_ : object_, size);
    if (sys::failed(mapped)) {  // no room within reach
      for (PlannedSite& planned : *plan_) {
        if (!planned.is_trap) planned.is_trap = 1;
      }
      return 0;
    }
    auto area = static_cast<uint64_t>(mapped);
    *reinterpret_cast<uint64_t*>(area) =
        reinterpret_cast<uint64_t>(g_entry != nullptr ? g_entry : weir_site_entry);
    uint64_t at = area + kStubAreaHeader;
    for (PlannedSite& planned : *plan_) {
      if (planned.is_trap) continue;
      Site site;
      describe(planned, site);
      if (!write_site(planned, area, at, site)) {
        planned.is_trap = 1;
        continue;
      }
      if (add_site(site) < 0) return -ENOSPC;
      stats.jumps[static_cast<unsigned>(site.kind)]++;
      at += site.stub_size;
    }
    return finish_area(area, at, size);
  }

  bool write_site(const PlannedSite& planned, uint64_t area, uint64_t at, Site& site) {
    StubRequest request;
    request.stub = at;
    request.entry_slot = area;
    request.index = site_count();
    request.code = code() + planned.window;
    request.window = site.window = text_.start + planned.window;
    request.window_size = planned.window_size;
    request.site_at = planned.offset - planned.window;
    site.window_size = planned.window_size;
    copy_bytes(site.original, request.code, kJumpSize);
    return write_stub(request, site);
  }

  long finish_area(uint64_t area, uint64_t used_to, uint64_t size) {
    uint64_t limit = page_up(used_to);
    if (limit < area + size) sys::unmap(limit, area + size - limit);
    if (long result = sys::protect(area, limit - area, PROT_READ | PROT_EXEC); result != 0)
      return result;
    return add_stub_area(Range{area, used_to}, first_, site_count()) ? 0 : -ENOSPC;
  }

  long add_traps() {
    doubt::begin_text();
    for (const PlannedSite& planned : *plan_) {
      if (!planned.is_trap) continue;
      if (planned.is_trap == kDoubt) {
        doubt::add(text_.start + planned.offset);
        continue;
      }
      if (planned.is_refused) {
        stats.refused++;
        continue;
      }
      Site site;
      describe(planned, site);
      site.is_trap = true;
      site.window = site.address;
      site.window_size = 1;
      site.resume = site.address + site.length;
      site.original[0] = code()[planned.offset];
      if (add_site(site) < 0) return -ENOSPC;
      stats.traps[static_cast<unsigned>(site.kind)]++;
    }
    return 0;
  }

  // Pages of the text that hold new windows, neighbours together.
  void expect_writes() {
    Range pages{};
    const auto flush = [&] {
      if (pages.size() > kPageSize) sys::expect_writes(pages.start, pages.size());
    };
    for (uint32_t i = first_; i < site_count(); i++) {
      const Site& site = *site_at(i);
      const Range window{page_down(site.window), page_up(site.window + site.window_size)};
      if (window.start < pages.start || window.start > pages.limit) {
        flush();
        pages = window;
      } else if (window.limit > pages.limit) {
        pages.limit = window.limit;
      }
    }
    flush();
  }

  long write_text() {
    if (first_ == site_count()) return 0;
    uint64_t start = page_down(text_.start), size = page_up(text_.limit) - start;
    // Executable throughout where the system allows it: a signal handler may run in this text.
    long result = sys::protect(start, size, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (result != 0) result = sys::protect(start, size, PROT_READ | PROT_WRITE);
    if (result != 0) return result;
    expect_writes();
    for (uint32_t i = first_; i < site_count(); i++) {
      const Site& site = *site_at(i);
      if (site.is_trap) {
        *reinterpret_cast<uint8_t*>(site.address) = 0xcc;
        continue;
      }
      uint8_t jump[kJumpSize];
      if (encode_jump(site.window, site.stub, jump))
        copy_bytes(reinterpret_cast<void*>(site.window), jump, kJumpSize);
    }
    return sys::protect(start, size, PROT_READ | PROT_EXEC);
  }

  Range text_;
  Range object_;
  PatchKinds kinds_;
  const char* folder_;
  const TextFile& file_;
  TextMap map_;
  Original original_;
  Sweep sweep_;
  Scratch taken_memory_;
  OffsetSet taken_;
  bool has_earlier_ = false;
  Plan kept_, made_;
  Plan* plan_ = nullptr;  // one of the two
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

long patch_text(Range text, Range object, PatchKinds kinds, PatchStats* stats, const char* folder,
                const TextFile& file) {
  if (text.empty()) return 0;
  if (text.size() >= kReach) return -EFBIG;
  Patcher patcher(text, object, kinds, folder, file);
  long result = patcher.run();
  if (stats != nullptr) stats->add(patcher.stats);
  return result;
}

void set_site_entry(void (*entry)()) { g_entry = entry; }

}  // namespace weir
