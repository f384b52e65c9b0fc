// A loop over the iterators of a vector of strings.
#include <string>
#include <vector>

#include "twin.h"

int main() {
  std::vector<std::string> words(60, "word");
  std::size_t longest = 0;
#pragma omp parallel for num_threads(3)
  for (auto word = words.begin(); word < words.end(); ++word) {
    *word += "s";
#if !RACY
#pragma omp critical
#endif
    longest = longest + word->size();  // RACE
  }
  use(static_cast<long>(longest));
  return 0;
}
