// The C library's functions that copy memory for the program.
// Implemented in copying_text.cc.
#pragma once

namespace weir::runtime {

// Tells which text they are (code/translate/step.h). REQUIRES: the C library's text is noted.
void note_copying_text();

}  // namespace weir::runtime
