// What the machine offers of what Weir is built on.
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

}  // namespace weir::cli
