// Whether threads of a checked program may order each other by what protection keys do not see:
// loads and stores of memory of which nothing is declared.
#pragma once

#include <optional>
#include <string>

#include "cli/symbols/modules.h"

namespace weir::cli {

class OrderProof {
 public:
  // Empty: they cannot, but by a data race. Else why that is not known. Asked again, it answers the
  // same.
  const std::string& why_not(Modules& modules);

 private:
  std::optional<std::string> known_;
};

}  // namespace weir::cli
