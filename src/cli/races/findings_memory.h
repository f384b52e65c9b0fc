// What a checked program has told so far (check/findings/findings.h). The program can write
// anything there. So each element is copied once and then checked: in what this reader returns,
// indices and lengths are in range, and text ends and has no control characters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/findings/findings.h"
#include "cli/common/shared_memory.h"
#include "cli/races/report.h"
#include "cli/symbols/frames.h"

namespace weir::cli {

// A task of the program, as far as the runtime knows it.
struct KnownTask {
  int32_t tid = 0;
  uint32_t creator = 0, context = 0;
  uint64_t start = 0;
  std::string name;
};

class FindingsReader {
 public:
  explicit FindingsReader(const findings::Findings& memory) : memory_(memory) {}

  uint32_t races() const;                                    // of which each may be ready or not
  std::optional<findings::Race> race(uint32_t index) const;  // none: not ready
  std::vector<findings::Side> more_sides(const findings::Race& race) const;
  uint64_t count(uint32_t index) const;  // how often it was met again, by now
  std::unique_ptr<findings::Context> context(uint32_t index) const;  // null: there is none
  std::optional<KnownTask> task(uint32_t number) const;
  std::vector<Mapping> mappings(uint32_t image) const;  // 0: of all programs
  std::vector<findings::Cell> cells() const;  // of which something is kept, for suggestions
  uint32_t lost_cells() const;                // for which there was no room
  uint32_t lost() const;                      // races for which there was no room
  Coverage coverage() const;
  // No pairs are to be told any more that only plain moves may order.
  void want_no_more_by_memory() const;
  // Memory that the program has mapped shared, which is not looked at: the most bytes by its name.
  std::map<std::string, uint64_t> unwatched() const;
  // When all has ended: each once.
  std::vector<UncheckedProgram> unchecked() const;
  uint64_t untrapped_pages() const {
    return __atomic_load_n(&memory_.untrapped_pages, __ATOMIC_RELAXED);
  }

  bool attached() const { return __atomic_load_n(&memory_.attached, __ATOMIC_ACQUIRE) != 0; }
  bool has_failed() const { return __atomic_load_n(&memory_.failed, __ATOMIC_ACQUIRE) != 0; }
  bool is_multithreaded() const { return __atomic_load_n(&memory_.multi, __ATOMIC_RELAXED) != 0; }

 private:
  const findings::Findings& memory_;
};

class FindingsMemory {
 public:
  FindingsMemory();  // throws Failure

  findings::Findings& findings() const {
    return *reinterpret_cast<findings::Findings*>(memory_.base());
  }
  FindingsReader reader() const { return FindingsReader(findings()); }

  // Sleeps until a race is there, or a tenth of a second; `seen` is the bell as it was before the
  // caller looked.
  uint32_t bell() const { return __atomic_load_n(&findings().bell, __ATOMIC_ACQUIRE); }
  void sleep(uint32_t seen) const;

  // From here on accesses to shared memory are sampled, though all were to be looked at.
  void sample() const { __atomic_store_n(&findings().samples, 1u, __ATOMIC_RELAXED); }

  int descriptor() const { return memory_.descriptor(); }
  // Takes over which tasks touch which page, as another replay has found out.
  void take_touched(const FindingsMemory& other) const;
  bool pass_on(int number) const { return memory_.pass_on(number); }

 private:
  SharedMemory memory_;
};

}  // namespace weir::cli
