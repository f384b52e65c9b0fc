// The FastPaths that there are (sync/fast_path.h), for who chooses one.
// Implemented in sync/biased_path.cc, object_record.cc, object_replay.cc and turn_free.cc.
#pragma once

#include "sync/fast_path.h"

namespace weir {

FastPath& biased_path();     // in sync/biased_path.cc
FastPath& recorded_path();   // in sync/object_record.cc
FastPath& replayed_path();   // in sync/object_replay.cc
FastPath& turn_free_path();  // in sync/turn_free.cc
// turn_free_path() where nobody watches the program's stack: it tries in program code, too.
FastPath& keyed_path();  // in sync/turn_free.cc

}  // namespace weir
