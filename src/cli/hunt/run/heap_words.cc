#include "cli/hunt/run/heap_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace weir::cli::hunt {
namespace {

constexpr std::string_view kMark = "weir: heap: ", kTitle = "  ", kCall = "    ",
                           kEnd = "the program ends";

// 0xADDRESS MODULE+0xOFFSET, or an address in no file.
Place place_in(std::string_view text) {
  Place place;
  const size_t blank = text.find(' ');
  place.address = strtoull(std::string(text.substr(0, blank)).c_str(), nullptr, 0);
  text = text.substr(blank == std::string_view::npos ? text.size() : blank + 1);
  const size_t plus = text.rfind("+0x");
  if (plus == std::string_view::npos) return place;
  const std::string_view digits = text.substr(plus + 3);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place.offset, 16);
  if (error == std::errc()) place.module = text.substr(0, plus);
  return place;
}

}  // namespace

bool is_of_system(const std::string& module) {
  const std::string name = module.substr(module.rfind('/') + 1);
  for (const char* const library : {"libc.so", "libc-", "ld-linux", "ld-", "libpthread", "libm.so",
                                    "libgomp", "libstdc++", "libgcc", "libweir.so"}) {
    if (name.starts_with(library)) return true;
  }
  return false;
}

HeapMisuse heap_misuse_in(const std::string& words) {
  HeapMisuse misuse;
  bool is_whole = false;
  std::istringstream lines(words);
  for (std::string all; std::getline(lines, all);) {
    if (!all.starts_with(kMark)) continue;
    std::string_view line = std::string_view(all).substr(kMark.size());
    if (line.starts_with(kEnd)) {
      is_whole = misuse.is_there();
      break;
    }
    if (line.starts_with(kCall)) {
      if (!misuse.stacks.empty())
        misuse.stacks.back().calls.push_back(place_in(line.substr(kCall.size())));
    } else if (line.starts_with(kTitle)) {
      line = line.substr(kTitle.size());
      if (line.ends_with(':')) line.remove_suffix(1);
      misuse.stacks.push_back({std::string(line), {}});
    } else if (const size_t colon = line.find(": "); colon != std::string_view::npos) {
      misuse.kind = line.substr(0, colon);
      misuse.said = line.substr(colon + 2);
      misuse.stacks = {{"", {}}};
    }
  }
  return is_whole ? misuse : HeapMisuse{};
}

std::string HeapMisuse::signature() const {
  for (const Place& call : stacks.back().calls) {
    if (call.module.empty() || hunt::is_of_system(call.module)) continue;
    return fmt::format("{}, {}+{:#x}", kind, call.module.substr(call.module.rfind('/') + 1),
                       call.offset);
  }
  return kind;
}

}  // namespace weir::cli::hunt
