// One pass over the code of an executable segment: which instructions are sites, and where control
// may enter.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/decode/shape.h"
#include "code/decode/stride.h"
#include "code/find/descent.h"
#include "code/find/offset_set.h"
#include "code/find/original.h"
#include "code/find/text_map.h"
#include "code/sites/site_table.h"

namespace weir {

// A site that the sweep found; offsets into the text.
struct Candidate {
  // The text's bytes: right in the site's chunk and up to Original::kBehind after it.
  const uint8_t* code = nullptr;
  uint32_t offset = 0;
  uint32_t chunk_limit = 0;
  SiteKind kind = SiteKind::kSyscall;
  uint8_t length = 0;
  uint8_t previous = 0;  // length of the instruction before it, 0 where that is not known
  uint8_t before_previous = 0;
};

// Whether an instruction is one that patching intercepts.
bool is_site(const Shape& shape, SiteKind& kind);

enum class Depth : uint8_t {
  kWhereNeeded,
  kEverything,  // for tests: decodes every chunk
};

class Sweep {
 public:
  Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  // Looks for sites of these kinds. Returns false if there is no memory. REQUIRES: `map` and
  // `original` are of this text.
  [[nodiscard]] bool run(Range text, const TextMap& map, const Original& original, PatchKinds kinds,
                         Depth depth = Depth::kWhereNeeded);

  const Candidate* candidates() const { return candidates_; }  // of other kinds too
  size_t candidate_count() const { return candidate_count_; }
  // The targets of direct branches, jump tables, computed gotos and function entries: all of them
  // within kNear of a wanted site. Elsewhere some are no targets.
  const OffsetSet& targets() const { return targets_; }
  const OffsetSet& starts() const { return descent_.starts(); }  // of proved instructions
  size_t distrusted() const {
    return distrusted_;
  }  // what looked like sites where the bytes may be data
  // Where an atomic operation may begin that is not proved to be one (code/patch/doubt.h), if that
  // kind is wanted.
  const OffsetSet& doubts() const { return doubts_; }
  size_t doubt_count() const { return doubt_count_; }
  uint64_t decoded_bytes() const { return decoded_bytes_; }

  // Windows and what is asked about them lie within this distance of their site.
  static constexpr uint32_t kNear = 40;

 private:
  void choose_chunks(PatchKinds kinds);
  void choose_near(uint32_t offset, size_t& first);
  void choose_sources(PatchKinds kinds);
  bool mark_wanted(PatchKinds kinds);
  void want_around(uint32_t offset);
  template <typename Visit>
  void visit_far_branches(uint32_t start, uint32_t limit, Visit visit) const;
  void scan_bytes(uint32_t start, uint32_t limit);
  void list_chunk(const Chunk& chunk);
  uint8_t note_any(uint32_t offset, const Chunk& chunk);
  void add_offset(int64_t target);
  void note_instruction(const Shape& shape, uint32_t offset, const Chunk& chunk);
  void find_doubts();
  void sweep_doubt(uint32_t start, uint32_t limit);
  // A table of jumps may lie there; the instruction at `loaded_at` has its address.
  void note_table(uint64_t table, uint32_t loaded_at);
  template <typename Entry, typename Resolve>
  void follow_entries(uint64_t table, uint32_t loaded_at, Resolve resolve);
  void add_target(uint64_t address);

  Range text_;
  uint32_t size_ = 0;
  Range known_code_;  // from the first to the last chunk that is known to be code
  const TextMap* map_ = nullptr;
  const Original* original_ = nullptr;
  const uint8_t* code_ = nullptr;  // the text as the chunk at hand has it
  const ElfObject* object_ = nullptr;
  Scratch memory_;
  Descent descent_;
  OffsetSet targets_;
  OffsetSet doubts_;
  OffsetSet wanted_;        // unproved bytes around what could be a site
  bool* chosen_ = nullptr;  // chunks to decode
  Candidate* candidates_ = nullptr;
  size_t candidate_count_ = 0;
  size_t distrusted_ = 0;
  size_t doubt_count_ = 0;
  uint64_t decoded_bytes_ = 0;
  uint8_t previous_[2] = {0, 0};
};

}  // namespace weir
