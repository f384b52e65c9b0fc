// Whether this run is recorded or replayed: known to all folders.
// Implemented in record/stream.cc, which sets it when it finds the recording.
#pragma once

#include <stdint.h>

namespace weir::input {

enum class Mode : uint8_t { kNone, kRecord, kReplay };
extern Mode g_mode;  // of this process; inherited by those that it makes

inline bool is_on() { return g_mode != Mode::kNone; }
inline bool recording() { return g_mode == Mode::kRecord; }
inline bool replaying() { return g_mode == Mode::kReplay; }

}  // namespace weir::input
