// Contents of files that recordings keep, each once for all recordings of a user: a recording has
// hard links to them. So a recording is whole by itself when it is copied or packed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "recording/bytes.h"

namespace weir::recording {

class Store {
 public:
  // What a content is.
  struct Known {
    uint64_t sum = 0;   // sum_of_file()
    std::string build;  // GNU build id in hex; empty: none
  };

  // `folder`: this user's own; it is made if it is not there. Empty: nothing is remembered, and
  // keep() makes copies.
  explicit Store(std::string folder);

  // What was learned of the file with these facts. Nothing: it must be read.
  std::optional<Known> known(const struct stat& status) const;
  // Does nothing for a file that was changed a moment ago: it could change again unseen.
  void learn(const struct stat& status, const Known& known) const;

  // Puts the content of `from` into a recording's folder of kept contents, under the name of its
  // sum, for reading and executing. Takes a content with `sum` that is there already, if it is
  // given. Returns the sum of what is there now; nothing, with errno: it could not be made.
  std::optional<uint64_t> keep(const File& from, std::optional<uint64_t> sum,
                               const std::string& folder) const;

  // Removes contents that no recording has had for a day.
  void prune() const;

 private:
  std::string name_of(uint64_t sum) const;
  bool take(uint64_t sum, uint64_t size, const std::string& folder) const;

  std::string folder_;
  mutable bool is_pruned_ = false;  // by keep(), once is enough
};

// Copies the content of `from` to `to`, which is empty, holes left out, and shares it if the file
// system can. Returns its sum; nothing, with errno: it could not be written.
std::optional<uint64_t> copy_content(const File& from, const File& to, uint64_t size);

}  // namespace weir::recording
