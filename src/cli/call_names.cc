#include "cli/call_names.h"

#include <array>

namespace weir::cli {
namespace {

struct Name {
  uint32_t number;
  const char* name;
};

constexpr std::array kNames = {
#include <call_names.inc>
};

}  // namespace

std::string call_name(uint32_t number) {
  for (const Name& call : kNames) {
    if (call.number == number) return call.name;
  }
  return "call " + std::to_string(number);
}

}  // namespace weir::cli
