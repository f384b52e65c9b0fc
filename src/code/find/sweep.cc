#include "code/find/sweep.h"

#include "code/find/byte_scan.h"
#include "sys/report.h"

// Sites are instructions that the descent proves to be such (code/find/descent.h says why nothing
// less will do). Branches are believed wherever they may stand, also in what is not proved: a false
// target costs a trap at worst.
//
// Besides direct branches, control enters code through tables: entries of 4 bytes relative to the
// table (position independent switches), of 8 bytes absolute (other switches, computed gotos).
// Every address of a constant that code loads is tried as both; the listing ends at the first entry
// that does not lead into known code.
//
// Decoding is slow (over 10 ns an instruction, 336,000 in libc) and most chunks hold no site, so a
// chunk is decoded only where it must be. Nothing is lost by that:
//
// 1. An instruction that is a site has certain bytes at certain places (may_begin_site()). They are
//    looked for at every offset. A chunk without them holds no site, however its instructions lie.
// 2. What a chunk's own entries do not reach may be reached from chunks that are not decoded. If
//    such bytes could hold a site, every place whose bytes could be a far branch into them has its
//    chunk decoded, too, and so on until there is none. (A short branch starts within kMargin.)
// 3. The targets matter only near sites, in [site - kNear, site + kNear]: a window reaches at most
//    two instructions back and five bytes and an instruction on. A branch of 8 bits that leads
//    there starts within kMargin of the site: every chunk that reaches into that is decoded.
// 4. A branch of 32 bits and a table may lead there from anywhere. In chunks that are not decoded,
//    every offset whose bytes could be such a branch, or the loading of an address, is taken for
//    one. That finds all that decoding would find, and some that are none: a displacement that is
//    none leads into the text seldom, and the price is a trap.
// 5. Where earlier patches lie the text's bytes are not the program's, so such a chunk is decoded,
//    from its copy.

namespace weir {
namespace {

using byte_scan::Look;

bool is_entry_marker(const Shape& shape) {  // endbr64
  return shape.map == OpcodeMap::k0F && shape.opcode == 0x1e && shape.has_repeat &&
         shape.modrm == 0xfa;
}

// Branches of 8 bits reach 128 bytes; the branch itself and the longest instruction come on top.
constexpr uint32_t kMargin = Sweep::kNear + 128 + 2 * kMaxInstructionSize;

// Code that holds addresses of 32 bits, and the tables that it means, lies below 2^31.
constexpr uint64_t kLowCode = uint64_t{1} << 32;

constexpr bool is_any_of(uint8_t byte, const uint8_t (&list)[11]) {
  for (uint8_t one : list) {
    if (byte == one) return true;
  }
  return false;
}

// Whether what follows a lock prefix can be an instruction that accepts one. REQUIRES: four bytes
// can be read.
bool may_be_locked(const uint8_t* at) {
  constexpr uint8_t kPrefixes[11] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                     0x66, 0x67, 0xf0, 0xf2, 0xf3};
  constexpr uint8_t kBeyond[11] = {0xab, 0xb0, 0xb1, 0xb3, 0xba, 0xbb,
                                   0xc0, 0xc1, 0xc7, 0xc7, 0xc7};
  constexpr uint8_t kGroups[11] = {0x80, 0x81, 0x83, 0x86, 0x87, 0xf6,
                                   0xf7, 0xfe, 0xff, 0xff, 0xff};
  if ((*at & 0xf0) == 0x40) at++;
  if (is_any_of(*at, kPrefixes)) return true;
  if (*at == 0x0f) return is_any_of(at[1], kBeyond) && at[2] < 0xc0;
  return ((*at < 0x38 && (*at & 7) < 2) || is_any_of(*at, kGroups)) && at[1] < 0xc0;
}

// What byte_scan::Look::kProcessor finds.
constexpr PatchKinds kProcessorKinds = kPatchRdtsc | kPatchCpuid | kPatchRandom | kPatchBase;

// Whether the bytes of some site, of these kinds, have `at[0]` for their first byte that is neither
// a prefix nor REX, or for their lock prefix. REQUIRES: five bytes can be read.
bool may_begin_site(const uint8_t* at, PatchKinds kinds) {
  switch (*at) {
    case 0x0f:
      switch (at[1]) {
        case 0x01: return kinds & kPatchRdtsc && at[2] == 0xf9;
        case 0x05: return kinds & kPatchSyscall;
        case 0x31: return kinds & kPatchRdtsc;
        case 0xa2: return kinds & kPatchCpuid;
        case 0xae:
          return (kinds & kPatchAtomic && (at[2] & 0xf8) == 0xf0) ||  // mfence
                 (kinds & kPatchBase && (at[2] & 0xf8) == 0xd8);
        case 0xc7: return kinds & kPatchRandom && at[2] >= 0xf0;
        default: return false;
      }
    case 0x86:
    case 0x87: return kinds & kPatchAtomic && at[1] < 0xc0;
    case 0xf0: return kinds & kPatchAtomic && may_be_locked(at + 1);
    default: return false;
  }
}

int32_t read_displacement(const uint8_t* at) { return load_at<int32_t>(at); }

}  // namespace

bool is_site(const Shape& shape, SiteKind& kind) {
  if (shape.is_vector) return false;
  bool xchg = shape.map == OpcodeMap::kOneByte && (shape.opcode & 0xfe) == 0x86 &&
              shape.has_memory_operand();
  bool fence = shape.map == OpcodeMap::k0F && shape.opcode == 0xae && shape.mod() == 3 &&
               shape.reg() == 6 && !shape.has_repeat && !shape.has_66;
  if (shape.has_lock || xchg || fence) {
    kind = SiteKind::kAtomic;
    return true;
  }
  if (shape.map != OpcodeMap::k0F) return false;
  RandomOp random;
  switch (shape.opcode) {  // rdtsc and rdtscp without prefixes only: their length tells them apart
    case 0x05: kind = SiteKind::kSyscall; return true;
    case 0x31: kind = SiteKind::kRdtsc; return shape.length == 2;
    case 0x01: kind = SiteKind::kRdtsc; return shape.modrm == 0xf9 && shape.length == 3;
    case 0xa2: kind = SiteKind::kCpuid; return true;
    case 0xae:
      kind = SiteKind::kBase;
      return shape.mod() == 3 && shape.reg() == 3 && shape.has_repeat;
    case 0xc7: kind = SiteKind::kRandom; return decode_random(shape, random);
    default: return false;
  }
}

bool Sweep::run(Range text, const TextMap& map, const Original& original, PatchKinds kinds,
                Depth depth) {
  text_ = text;
  size_ = static_cast<uint32_t>(text.size());
  map_ = &map;
  original_ = &original;
  object_ = map.object();
  const uint64_t set_size = page_up(OffsetSet::bytes_for(text.size()));
  const uint64_t chosen_size = page_up(map.chunk_count());
  if (!memory_.take(3 * set_size + chosen_size + (text.size() / 2 + 1) * sizeof(Candidate)))
    return false;
  if (!descent_.begin(text, map, original)) return false;
  memory_.expect(set_size);
  targets_.use(reinterpret_cast<uint64_t*>(memory_.address()));
  wanted_.use(reinterpret_cast<uint64_t*>(memory_.address() + set_size));
  doubts_.use(reinterpret_cast<uint64_t*>(memory_.address() + 2 * set_size));
  chosen_ = reinterpret_cast<bool*>(memory_.address() + 3 * set_size);
  candidates_ = reinterpret_cast<Candidate*>(memory_.address() + 3 * set_size + chosen_size);
  for (size_t i = 0; i < map.entry_count(); i++) targets_.add(map.entries()[i]);
  known_code_ = Range{text.limit, text.start};
  for (size_t i = 0; i < map.chunk_count(); i++) {
    const Chunk& chunk = map.chunks()[i];
    chosen_[i] = depth == Depth::kEverything || original.is_patched(i);
    if (!chunk.covered) continue;
    if (known_code_.empty()) known_code_.start = text.start + chunk.start;
    known_code_.limit = text.start + chunk.limit;
  }
  if (known_code_.empty()) known_code_ = text;
  choose_chunks(kinds);
  for (size_t i = 0; i < map.chunk_count(); i++) {
    if (chosen_[i]) descent_.add_chunk(i);
  }
  descent_.run();
  choose_sources(kinds);
  uint32_t scanned_to = 0;
  for (size_t i = 0; i < map.chunk_count(); i++) {
    if (!chosen_[i]) continue;
    const Chunk& chunk = map.chunks()[i];
    scan_bytes(scanned_to, chunk.start);
    scanned_to = chunk.limit;
    decoded_bytes_ += chunk.limit - chunk.start;
    code_ = original.code_of(i);
    list_chunk(chunk);
  }
  scan_bytes(scanned_to, size_);
  if (kinds & kPatchAtomic) find_doubts();
  return true;
}

// With the prefixes that may stand before the byte that is looked for.
void Sweep::find_doubts() {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  const auto look = [&](uint32_t offset) {
    Shape shape;
    SiteKind kind;
    AtomicOp op;
    if (descent_.is_code(offset) || doubts_.has(offset) ||
        !read_shape(code + offset, size_ - offset, shape))
      return;
    if (!is_site(shape, kind) || kind != SiteKind::kAtomic ||
        !decode_atomic(code + offset, shape.length, 0, op))
      return;
    if (!is_plausible(descent_, code, size_, offset)) return;
    doubts_.add(offset);
    doubt_count_++;
  };
  byte_scan::scan(Look::kAtomic, code, size_, 0, size_, [&](uint32_t offset) {
    if (descent_.is_code(offset) ||
        (offset + 5 <= size_ && !may_begin_site(code + offset, kPatchAtomic)))
      return;
    look(offset);
    constexpr uint8_t kWidth = 0x66;
    const bool has_rex = offset >= 1 && (code[offset - 1] & 0xf0) == 0x40;
    if (has_rex) look(offset - 1);
    const uint32_t before = has_rex ? 2 : 1;
    if (offset >= before && code[offset - before] == kWidth) look(offset - before);
  });
}

void Sweep::choose_chunks(PatchKinds kinds) {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  size_t first = 0;
  auto visit = [&](uint32_t offset) {
    if (offset + 5 > size_ || may_begin_site(code + offset, kinds)) choose_near(offset, first);
  };
  if (kinds & kPatchSyscall) byte_scan::scan(Look::kSyscall, code, size_, 0, size_, visit);
  first = 0;
  if (kinds & kPatchAtomic) byte_scan::scan(Look::kAtomic, code, size_, 0, size_, visit);
  first = 0;
  if (kinds & kProcessorKinds) byte_scan::scan(Look::kProcessor, code, size_, 0, size_, visit);
  for (size_t i = map_->chunk_count(); i-- > 1;) {  // what runs on into an uncovered one
    if (chosen_[i] && !map_->chunks()[i].covered) chosen_[i - 1] = true;
  }
}

// The unproved bytes around `offset`, in its chunk.
void Sweep::want_around(uint32_t offset) {
  if (wanted_.has(offset) || descent_.is_code(offset)) return;
  const Chunk& chunk = map_->chunks()[map_->chunk_at(offset)];
  for (uint32_t at = offset; at < chunk.limit && !descent_.is_code(at); at++) wanted_.add(at);
  for (uint32_t at = offset; at > chunk.start && !descent_.is_code(at - 1); at--)
    wanted_.add(at - 1);
}

// Whether bytes that are not proved could hold a site of these kinds.
bool Sweep::mark_wanted(PatchKinds kinds) {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  bool any = false;
  auto visit = [&](uint32_t offset) {
    if (descent_.is_code(offset) || (offset + 5 <= size_ && !may_begin_site(code + offset, kinds)))
      return;
    want_around(offset);
    any = true;
  };
  if (kinds & kPatchSyscall) byte_scan::scan(Look::kSyscall, code, size_, 0, size_, visit);
  if (kinds & kPatchAtomic) byte_scan::scan(Look::kAtomic, code, size_, 0, size_, visit);
  if (kinds & kProcessorKinds) byte_scan::scan(Look::kProcessor, code, size_, 0, size_, visit);
  return any;
}

// Decodes, beside the chosen chunks, those that may lead to what these do not reach by themselves.
void Sweep::choose_sources(PatchKinds kinds) {
  if (!mark_wanted(kinds)) return;
  for (bool more = true; more;) {
    more = false;
    uint32_t scanned_to = 0;
    for (size_t i = 0; i <= map_->chunk_count(); i++) {
      const bool is_end = i == map_->chunk_count();
      if (!is_end && !chosen_[i]) continue;
      visit_far_branches(scanned_to, is_end ? size_ : map_->chunks()[i].start,
                         [&](uint32_t offset, uint64_t target) {
                           if (target >= size_ || !wanted_.has(static_cast<uint32_t>(target)) ||
                               descent_.is_start(static_cast<uint32_t>(target)))
                             return;
                           const size_t source = map_->chunk_at(offset);
                           if (!descent_.is_chosen(source)) more = true;
                           descent_.add_chunk(source);
                           want_around(offset);
                         });
      if (!is_end) scanned_to = map_->chunks()[i].limit;
    }
    if (!more) return;
    for (size_t i = 0; i < map_->chunk_count(); i++) chosen_[i] = descent_.is_chosen(i);
    descent_.run();
  }
}

// `offset` never falls; `first` is the caller's, 0 before the first call.
void Sweep::choose_near(uint32_t offset, size_t& first) {
  const Chunk* chunks = map_->chunks();
  size_t count = map_->chunk_count();
  while (first < count && uint64_t{chunks[first].limit} + kMargin <= offset) first++;
  for (size_t i = first; i < count && chunks[i].start <= uint64_t{offset} + kMargin; i++)
    chosen_[i] = true;
}

// visit(offset, target), both offsets into the text, for all that could be a branch of 32 bits.
template <typename Visit>
void Sweep::visit_far_branches(uint32_t start, uint32_t limit, Visit visit) const {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  byte_scan::scan(Look::kFar, code, size_, start, limit, [&](uint32_t offset) {
    const uint8_t* at = code + offset;
    const bool is_short = (*at & 0xfe) == 0xe8;  // call, jmp: else two bytes, and the displacement
    const uint32_t end = offset + (is_short ? 5 : 6);
    if (end > size_ || *at == 0x8d) return;
    visit(offset,
          uint64_t{end} + static_cast<uint64_t>(int64_t{read_displacement(code + end - 4)}));
  });
}

void Sweep::scan_bytes(uint32_t start, uint32_t limit) {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  visit_far_branches(start, limit, [&](uint32_t, uint64_t target) {
    if (target < size_) targets_.add(static_cast<uint32_t>(target));
  });
  byte_scan::scan(Look::kFar, code, size_, start, limit, [&](uint32_t offset) {
    if (code[offset] != 0x8d || offset + 6 > size_) return;
    note_table(text_.start + offset + 6 +
                   static_cast<uint64_t>(int64_t{read_displacement(code + offset + 2)}),
               offset);
  });
  if (object_ == nullptr || text_.start >= kLowCode) return;
  byte_scan::scan(Look::kAbsolute, code, size_, start, limit, [&](uint32_t offset) {
    if (offset + 6 <= size_ && read_displacement(code + offset + 2) > 0) {
      note_table(static_cast<uint64_t>(read_displacement(code + offset + 2)), offset);
    }
  });
}

void Sweep::add_target(uint64_t address) {
  if (text_.contains(address)) targets_.add(static_cast<uint32_t>(address - text_.start));
}

// Returns its length.
uint8_t Sweep::note_any(uint32_t offset, const Chunk& chunk) {
  Stride stride;
  const uint8_t* bytes = code_ + offset;
  if (uint64_t{offset} + kStrideReads <= size_ && read_stride(bytes, stride)) {
    const uint8_t* end = bytes + stride.length;
    if (stride.what & Stride::kShortBranch) {
      add_offset(int64_t{offset} + stride.length + static_cast<int8_t>(end[-1]));
    } else if (stride.what & (Stride::kNearBranch | Stride::kAddress)) {
      const int64_t target = int64_t{offset} + stride.length + read_displacement(end - 4);
      if (stride.what & Stride::kNearBranch) add_offset(target);
      else note_table(text_.start + static_cast<uint64_t>(target), offset);
    }
    return stride.length;
  }
  Shape shape;
  WEIR_CHECK(read_shape(bytes, size_ - offset, shape));
  note_instruction(shape, offset, chunk);
  return shape.length;
}

void Sweep::add_offset(int64_t target) {
  if (static_cast<uint64_t>(target) < size_) targets_.add(static_cast<uint32_t>(target));
}

// Proved instructions give sites and targets, what lies between them targets only. Two may overlap
// where old code jumps over a lock prefix; neither is anybody's predecessor then.
void Sweep::list_chunk(const Chunk& chunk) {
  const OffsetSet& starts = descent_.starts();
  uint32_t reached = chunk.start;
  previous_[0] = previous_[1] = 0;
  for (uint32_t at = starts.next(chunk.start, chunk.limit); at < chunk.limit;
       at = starts.next(at + 1, chunk.limit)) {
    if (at > reached) sweep_doubt(reached, at);
    if (at != reached) previous_[0] = previous_[1] = 0;
    const uint8_t length = note_any(at, chunk);
    const uint32_t end = at + length;
    previous_[1] = previous_[0];
    previous_[0] = at < reached ? uint8_t{0} : length;
    if (end > reached) reached = end;
  }
  if (reached < chunk.limit) sweep_doubt(reached, chunk.limit);
}

// What may be code or data, both ends of which may be near a site.
void Sweep::sweep_doubt(uint32_t start, uint32_t limit) {
  if (start == limit) return;
  scan_bytes(start, limit);
  for (uint32_t at = start; at < limit;) {
    if (at - start >= kMargin && limit - at > 2 * kMargin) at = limit - kMargin;
    Shape shape;
    if (!read_shape(code_ + at, limit - at, shape)) {
      at++;
      continue;
    }
    SiteKind kind;
    if (is_site(shape, kind)) {
      distrusted_++;
    } else {
      const Flow flow = flow_of(shape);
      if (is_direct(flow)) {
        add_target(text_.start + at + shape.length +
                   static_cast<uint64_t>(branch_displacement(shape, code_ + at)));
      }
      if (is_entry_marker(shape)) targets_.add(at);
    }
    at += shape.length;
  }
}

void Sweep::note_instruction(const Shape& shape, uint32_t offset, const Chunk& chunk) {
  const uint8_t* bytes = code_ + offset;
  SiteKind kind;
  if (is_site(shape, kind)) {
    candidates_[candidate_count_++] =
        Candidate{code_, offset, chunk.limit, kind, shape.length, previous_[0], previous_[1]};
    return;
  }
  Flow flow = flow_of(shape);
  if (is_direct(flow)) {
    add_target(text_.start + offset + shape.length +
               static_cast<uint64_t>(branch_displacement(shape, bytes)));
    return;
  }
  if (is_entry_marker(shape)) {
    targets_.add(offset);
    return;
  }
  if (shape.displacement_size != 4 || shape.is_vector || shape.map != OpcodeMap::kOneByte) return;
  int64_t displacement = read_displacement(bytes + shape.displacement_at);
  if (shape.opcode == 0x8d && shape.is_rip_relative()) {
    note_table(text_.start + offset + shape.length + static_cast<uint64_t>(displacement), offset);
  } else if (shape.mod() == 0 && shape.rm() == 4 && bytes[shape.displacement_at - 1] >> 6 == 3 &&
             displacement > 0) {
    note_table(static_cast<uint64_t>(displacement), offset);  // table(,%reg,8)
  }
}

// Where tables lie one behind the other, megabytes of them in a large library, what follows one
// reads like more of it, and going on for each of them takes a time that grows with their square.
// So after kSurelyFollowed entries those count that lead into the function that loads the address,
// and a few others (it may lie in two pieces).
template <typename Entry, typename Resolve>
void Sweep::follow_entries(uint64_t table, uint32_t loaded_at, Resolve resolve) {
  constexpr uint64_t kSurelyFollowed = 4096;
  constexpr unsigned kMaxAstray = 8, kBatch = 32;
  const Chunk* chunk = nullptr;
  unsigned astray = 0;
  Entry entries[kBatch];
  for (uint64_t i = 0;; i += kBatch) {
    unsigned read = kBatch;
    while (read > 0 && !object_->read(table + i * sizeof(Entry), entries, read * sizeof(Entry)))
      read /= 2;
    for (unsigned k = 0; k < read; k++) {
      const uint64_t target = resolve(entries[k]);
      if (!known_code_.contains(target)) return;
      if (i + k >= kSurelyFollowed) {
        if (chunk == nullptr) chunk = &map_->chunks()[map_->chunk_at(loaded_at)];
        const uint64_t offset = target - text_.start;
        if ((offset < chunk->start || offset >= chunk->limit) && ++astray > kMaxAstray) return;
      }
      add_target(target);
    }
    if (read < kBatch) i -= kBatch - read;  // the end of a segment is near
    if (read == 0) return;
  }
}

void Sweep::note_table(uint64_t table, uint32_t loaded_at) {
  if (object_ == nullptr) return;
  follow_entries<int32_t>(table, loaded_at, [&](int32_t entry) {
    return table + static_cast<uint64_t>(int64_t{entry});
  });
  follow_entries<uint64_t>(table, loaded_at, [](uint64_t entry) { return entry; });
}

}  // namespace weir
