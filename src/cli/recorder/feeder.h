// Puts the entries of a recording into the rings, ahead of the program that is replayed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/channel_memory.h"
#include "recording/directory.h"
#include "recording/stream.h"

namespace weir::cli {

class Feeder {
 public:
  // Opens a slot for every stream. Throws Failure where there are more streams than slots.
  // `damages` gets what cuts a stream short.
  Feeder(ChannelMemory& memory, const recording::Recording& recording,
         std::vector<std::string>* damages);

  // Puts what there is room for; closes the slots of streams that are at their end.
  void put();
  // Bytes that the program has taken, of all streams.
  uint64_t taken() const;
  // Whether the program has taken everything; else the first stream of which it has not.
  bool is_used_up(std::string* stream) const;
  // Whether the program was to die of what it does itself, which is all that is left of a stream.
  bool awaits_death(std::string* stream, int* signal) const;

 private:
  struct Source {
    recording::StreamReader reader;
    // As the recording's end says; UINT64_MAX: it does not, or the damage is known.
    uint64_t entries = 0;
    bool closed = false;
    // Of the last entry that was put, if it is a death: bytes that were put before it.
    std::optional<uint64_t> death_at = {};
    int death_signal = 0;
  };

  void put_into(uint32_t slot, Source& source);

  ChannelMemory& memory_;
  std::vector<Source> sources_;  // by slot
  std::vector<std::string>* damages_;
};

}  // namespace weir::cli
