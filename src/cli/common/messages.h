// Messages of the subcommands about recordings, and where they go.
#pragma once

#include <cstdint>
#include <string>

namespace weir::cli {

// "weir: TEXT" and a newline, to the end of the file `log`, or to standard error where that is
// empty.
void say(const std::string& log, const std::string& text);

std::string size_words(uint64_t bytes);  // "17 B", "3.2 MB"

// Throws Failure: a view that this build does not have, or cannot record yet.
void refuse_view(const std::string& view, const char* command);

// The directory of the recording that the user named, by its path or as `weir ls` prints it; or the
// newest. Throws Failure if there is none.
std::string chosen_recording(const std::string& named);

}  // namespace weir::cli
