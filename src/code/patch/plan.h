// What patching will do to a text, before any address is known: which instructions are sites, and
// which bytes each site's jump replaces. It follows from the object's file alone, so it may be kept
// from one run to the next.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/find/scratch.h"
#include "code/patch/text_file.h"
#include "code/sites/site_table.h"

namespace weir {

// Layout: as in a kept plan's file.
struct PlannedSite {
  uint64_t digest;  // of the bytes in the window
  uint32_t offset;  // of the site; both are offsets into the text
  uint32_t window;  // where the bytes that are looked at begin: what a jump replaces, of a trap the
                    // site itself
  SiteKind kind;
  uint8_t length;  // of the site's instruction
  uint8_t window_size;
  uint8_t is_trap;      // or kDoubt
  uint8_t is_refused;   // a locked instruction that cannot be executed for the program
  uint8_t is_relative;  // atomic.displacement counts from the text's start
  RandomOp random;      // kRandom only
  AtomicOp atomic;      // kAtomic only
};
static_assert(sizeof(PlannedSite) == 48);
// A value of PlannedSite::is_trap: the site may be an atomic operation, and nothing is replaced
// until it is executed (code/patch/doubt.h).
inline constexpr uint8_t kDoubt = 2;

// Which text a plan is for.
struct TextIdentity {
  uint64_t runtime;      // of the code that planned
  uint64_t text_offset;  // in the object
  uint64_t text_size;
  uint32_t id_size;
  uint32_t unused;
  uint8_t id[32];  // the object's build id
};
static_assert(sizeof(TextIdentity) == 64);

struct PlanHeader {
  char magic[8];
  uint64_t digest;  // of everything behind it
  TextIdentity text;
  TextFile file;         // where the text was last found
  uint64_t text_digest;  // of the whole text as it is in the file: a build id says what was built,
                         // not what has become of it
  uint32_t count;
  uint32_t distrusted;
};
static_assert(sizeof(PlanHeader) == 144);

uint64_t digest_bytes(const uint8_t* bytes, uint64_t size);
// A digest for megabytes: another function than digest_bytes(), four times as fast.
uint64_t digest_text(const uint8_t* bytes, uint64_t size);

class Plan {
 public:
  // Returns false if there is no memory. REQUIRES: called once.
  [[nodiscard]] bool take(uint64_t capacity);
  void add(const PlannedSite& site) { sites()[header().count++] = site; }
  // Drops the sites for which `keep` returns false.
  template <typename Keep>
  void filter(Keep keep) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < header().count; i++) {
      if (keep(sites()[i])) sites()[kept++] = sites()[i];
    }
    header().count = kept;
  }

  PlanHeader& header() const { return *reinterpret_cast<PlanHeader*>(memory_.address()); }
  PlannedSite* sites() const {
    return reinterpret_cast<PlannedSite*>(memory_.address() + sizeof(PlanHeader));
  }
  PlannedSite* begin() const { return sites(); }
  PlannedSite* end() const { return sites() + header().count; }

 private:
  Scratch memory_;
};

// By the object's build id, or by the text if the object has none. `is_changed`: the text is not as
// in the file any more; it is known if this process has identified it before. Returns false if the
// text is not known, or so short that nothing is gained.
[[nodiscard]] bool identify_text(Range text, Range object, bool is_changed, TextIdentity& identity);

// Reads the plan that was kept in `folder` for that text. Returns false if there is none that can
// be trusted; `plan` is then as it was, or moved from. Does not check what the plan says of the
// text's bytes.
[[nodiscard]] bool load_plan(const char* folder, const TextIdentity& identity, Plan& plan);
// Whether the file has been as it is for so long that its times tell of a change to come.
bool has_settled(const TextFile& file);
// Stores the plan, if that can be done.
void store_plan(const char* folder, const TextIdentity& identity, const Plan& plan);

}  // namespace weir
