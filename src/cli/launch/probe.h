// Which of the things that Weir is built on the machine offers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::cli {

struct Finding {
  std::string name;
  bool present;
  bool required;       // a command does not work without it (cli/launch/verdict.h)
  std::string detail;  // what was found
  int error = 0;       // why the kernel does not give it; 0: it is not that
};

std::vector<Finding> probe_machine();

inline constexpr uint64_t kReservedAddresses = uint64_t{2} << 40;  // the backing, its shared view

// Each alone.
Finding asynchronous_userfault();
Finding shared_userfault();
Finding pagemap_scan();
Finding memory_file();
Finding address_space();           // of closed memory
Finding writable_address_space();  // of memory that may be written
Finding text_patching();
Finding tracing();
Finding overcommit();
int ptrace_scope();  // Yama's; 0: there is none

// So many that a program could be given protection keys of its own: two domains and one that is
// nobody's (check/core/domains.h).
bool has_protection_keys();

}  // namespace weir::cli
