// Signals of a program that is checked by protection keys (check/core/rights.h).
#pragma once

namespace weir::trap {

bool has_keys();  // the keys are Weir's: handlers of the program's return by weir_key_sigreturn

}  // namespace weir::trap
