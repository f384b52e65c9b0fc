// Names of system calls, from the system's own headers (generated at build: cmake/CallNames.cmake).
#pragma once

#include <cstdint>
#include <string>

namespace weir::cli {

std::string call_name(uint32_t number);  // "read", "call 999"

}  // namespace weir::cli
