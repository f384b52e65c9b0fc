// What lies on disk beside the entries of channel/format.h, as constants.
// docs/reference/recording-format.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::recording {

// The format of the directory as a whole. The manifest names it, and a reader of another number
// refuses. Raise it with every change of the files, of the entries (channel::kFormatVersion is part
// of it), or of what the runtime records.
inline constexpr uint32_t kFormat = 12;
// The oldest that is read. Recordings of format 5 keep no files by content; in
// those of 5 and 6 no task holds on to pages over its events (What::kHeldLong), and no schedule is
// recorded (What::kSignalCame). In those of 5 to 7 each read and write of a program with threads
// has its descriptor's flags and readiness before it, and the time is a call's answer
// (What::kClockRead). In those of 5 to 8 what a program dies of is no entry, and in those of 5 to 9
// each read of a socket is kept as such. Those of 5 to 10 do not have which signals the kernel's
// queue had no room for (What::kMoreSignals, What::kSignalRefused). In those of 5 to 11 a task has
// a page at one address at a time (PageKind::kTakenAlso).
inline constexpr uint32_t kOldestFormat = 5;

inline constexpr const char* kManifest = "manifest";
inline constexpr const char* kEndFile = "end";
inline constexpr const char* kImages = "images";
inline constexpr const char* kStreams = "streams";
inline constexpr const char* kFiles = "files";
inline constexpr const char* kKept = "kept";
inline constexpr const char* kFileList = "files/list";

inline constexpr uint32_t kChunkMagic = 0x314b4357;  // "WCK1"
// Flag: the last entry has kMore, the next chunk continues its group.
inline constexpr uint32_t kGroupGoesOn = 1;
inline constexpr uint32_t kMaxRaw = 4 << 20;  // bytes of entries in one chunk

// Little endian. `packed_size` bytes of zstd follow: one frame, of `raw_size` bytes, which are
// whole entries.
struct ChunkHeader {
  uint32_t magic;
  uint32_t flags;
  uint64_t recording;  // the recording's number, so that no other's chunk is taken for one of this
  uint32_t process;
  uint32_t task;
  uint64_t sequence;     // of the chunk in its stream, from 0
  uint64_t first_entry;  // how many entries of the stream came before
  uint32_t raw_size;
  uint32_t packed_size;
  uint64_t packed_sum;  // XXH64 of the packed bytes, seed 0
  uint64_t header_sum;  // XXH64 of the 56 bytes before it, seed 0
};
static_assert(sizeof(ChunkHeader) == 64 && offsetof(ChunkHeader, header_sum) == 56);

}  // namespace weir::recording
