// What a hunt has learned, in a folder, for the next hunt of the same program (--corpus).
#pragma once

#include <string>
#include <vector>

#include "cli/hunt/search/behaviours.h"
#include "cli/hunt/search/search.h"
#include "cli/hunt/search/strategies.h"

namespace weir::cli::hunt {

class Corpus {
 public:
  struct Failure {
    std::string schedule, signature;
  };

  // Reads `folder`, which is made where it does not exist. `program`: the file that is hunted: of
  // another content than the last time, what it did is forgotten, and what failed is tried first
  // all the same. Throws Failure, also where the folder cannot be written.
  Corpus(const std::string& folder, const std::string& program);

  void give(Behaviours& behaviours, Strategies& strategies) const;
  const std::vector<Failure>& failures() const { return failures_; }
  uint64_t searches() const { return searches_; }
  bool is_of_this_program() const { return is_of_this_program_; }

  // Replaces what the folder holds. `failures`: found now; earlier ones stay. Returns
  // why they are not kept, or nothing: what was found is told all the same.
  [[nodiscard]] std::string keep(const Behaviours& behaviours, const Strategies& strategies,
                                 const std::vector<Failure>& failures);

 private:
  const std::string path_;
  std::string program_;  // its content, as a number
  bool is_of_this_program_ = true;
  uint64_t searches_ = 0;
  std::vector<uint64_t> behaviours_;
  std::vector<std::pair<std::string, double>> arms_;
  std::vector<Failure> failures_;
};

}  // namespace weir::cli::hunt
