// How memory that processes share, and its pages, come to this process's task and leave it. In a
// recording the tasks agree on it by the table of holders (page_table.h), and each move is logged.
// In a replay the recording says what comes and goes, and each process has memory of its own.
//
// The rest of the folder knows which memory there is, and which pages the task has. It does not
// know which of the two kinds of run this is. If nothing is logged (the defaults), such memory is
// the kernel's, and none of this happens.
// Implemented in exchange.cc, recorded_exchange.cc and replayed_exchange.cc.
#pragma once

#include <errno.h>
#include <stdint.h>

#include "shared_memory/pages.h"
#include "sys/maps.h"

namespace weir::shared_memory {

// An mmap of the program's.
struct MapCall {
  long address;
  uint64_t size;
  int protection;
  long flags;
  int descriptor;
  uint64_t offset;
};

class Exchange {
 public:
  constexpr Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // --- mappings

  // What the mapping at the address shows, and which file the descriptor is of. 0: nothing that
  // others can have.
  virtual uint64_t object_at(uint64_t /*address*/) { return 0; }
  virtual uint64_t file_of(int /*descriptor*/) { return 0; }
  // Memory that the call maps is tracked here. Logged.
  virtual bool is_wanted(const MapCall&) { return false; }
  // Makes such a call, logged. Returns its result.
  virtual long map(const MapCall&) { return -ENOSYS; }
  // In another process of the program, what one has mapped or attached. Returns the address.
  virtual long map_there(Range, int /*protection*/, int /*descriptor*/, uint64_t /*offset*/) {
    return -ENOSYS;
  }
  virtual long attach_there(Range, int protection, long segment);
  // The program has attached a segment there, or has moved a mapping.
  virtual void attach(Range, bool /*replaces*/) {}
  virtual void move(Range /*from*/, Range /*to*/) {}
  // A process begins with a copy of its maker's mapping.
  virtual void begin_mapping(Range) {}

  // --- pages

  // The task gets the page, which the mapping has.
  virtual void take(Task&, const Mapping&, uint64_t /*page*/) {}
  // It has the page no more.
  virtual void close(const Held& held);
  // The page is nobody's. Nothing is logged.
  virtual void give(Task&, uint32_t /*entry*/) {}
  // Whatever the task has is nobody's.
  virtual void leave(Task&) {}
  // The task waits, and does no more. `reads`: the kernel reads such memory meanwhile.
  virtual void begin_sleep(Task&, bool /*reads*/) {}
  virtual void end_sleep(Task&) {}
  // Closes the pages that others have taken since.
  virtual void close_lost(Task&) {}
  // As in record/shared_memory.h.
  virtual void give_if_asked(Task&) {}
  virtual bool is_awaited(Task&) { return false; }
  virtual void give_at_spin(Task&) {}

 protected:
  ~Exchange() = default;
};

// The mapping at the address, as the kernel has it. False: there is none.
bool look_up(uint64_t address, sys::MapLine& line);

Exchange& recorded_exchange();
Exchange& replayed_exchange();
// That of this run.
Exchange& exchange();

}  // namespace weir::shared_memory
