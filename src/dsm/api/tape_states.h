// The parts of the public Extent, Tape and Parcel (weir/tape.hpp).
// Implemented in tape_api.cc and tape_data.cc.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dsm/node/tapeworm.h"
#include "dsm/protocol/lrc.h"
#include "weir/tape.hpp"

namespace weir::dsm {

struct Extent::State {
  tape::Extent units;
};

// Invariant: what the tape holds is `events` and what its recorder has heard since it was last
// asked, which Access::events moves over. (not checkable: both are parts of one list, which nobody
// else has)
struct Tape::State {
  tape::Tape events;
  std::unique_ptr<Recorder> recorder;  // none: it has never recorded
};

struct Parcel::State {
  struct Update {
    UnitId unit;
    DiffPtr diff;
  };
  struct Entry {
    uint32_t number;
    std::vector<uint8_t> bytes;
  };
  std::vector<Entry> entries;
  std::vector<Update> updates;
};

struct Access {
  static const tape::Extent& units(const Extent& extent);
  static tape::Extent& units(Extent& extent);
  static Extent make(tape::Extent&& units);
  static const tape::Tape& events(const Tape& tape);
  static tape::Tape& events(Tape& tape);
  static Tape make(tape::Tape&& events);
  // As in a message: number of entries, of each its number and bytes; number of updates, of each
  // its unit and the diff.
  static void put(const Parcel& parcel, Message& message);
  static Parcel get_parcel(Message& message);  // ends the job where it is damaged

  static Parcel::State& state(Parcel& parcel);

  // Recording
  static Recorder& recorder(Tape& tape);  // of the calling thread's node from now on, if of none
  static Recorder* running(const Tape& tape);  // NULL: it does not record
  static Node& node(const Recorder& recorder);
  static void stopped(Recorder& recorder);  // forgotten by its node, if it records nothing any more

  // Updates, with the node's mutex held
  static std::vector<Parcel::State::Update> find(Node& node, const tape::Tape& events);
  static void send(Node& node, NodeId to, const tape::Tape& events);
  static size_t take(Node& node, const std::vector<Parcel::State::Update>& updates);
};

}  // namespace weir::dsm
