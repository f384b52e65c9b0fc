// Whether threads of a checked program may order each other by what protection keys do not see:
// loads and stores of memory of which nothing is declared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/symbols/modules.h"

namespace weir::cli {

class OrderProof {
 public:
  // Returns an empty text if they cannot, except by a data race. Otherwise returns why that is not
  // known. Another call returns the same text.
  const std::string& why_not(Modules& modules);
  // Likewise, by a stricter proof, which assumes nothing. Asked anew if modules are others.
  const std::string& why_not_at_all(Modules& modules);

 private:
  std::optional<std::string> known_;
  std::map<uint64_t, std::string> known_at_all_;  // by Modules::generation()
};

}  // namespace weir::cli
