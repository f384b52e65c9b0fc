// Which of the things that Weir is built on the machine offers.
#pragma once

#include <string>
#include <vector>

namespace weir::cli {

struct Finding {
  std::string name;
  bool present;
  bool required;        // `weir det` cannot work without it
  std::string detail;   // what was found
  std::string without;  // what Weir does where it is absent
};

std::vector<Finding> probe_machine();

// So many that a program could be given protection keys of its own: two domains and one that is
// nobody's (check/keys/domains.h).
bool has_protection_keys();

}  // namespace weir::cli
