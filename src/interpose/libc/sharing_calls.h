// Functions of the C library that keep something for all threads between calls.
#pragma once

#include "check/findings/hazards.h"
#include "interpose/caller.h"

namespace weir::interpose::library {

// In program code: the program calls one of them.
void note_sharing(findings::SharingNumber call, const Caller& caller);

}  // namespace weir::interpose::library
