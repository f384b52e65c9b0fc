#include "cli/races/unproven.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::cli {

std::string doubt_words(const Judgement& judgement) {
  return judgement.module.empty() ? judgement.why_not
                                  : "no debug information in " + shown_path(judgement.module);
}

bool Unproven::add(const std::string& places, const ReportedRace& race,
                   const Judgement& judgement) {
  if (!known_.insert(places).second) return false;
  const std::string reason = doubt_words(judgement);
  reasons_[reason]++;
  if (judgement.is_clear) return true;
  pairs_.push_back({title_words(race), reason});
  lacks_source_ |= !judgement.source.empty();
  lacks_debug_info_ |= !judgement.module.empty();
  return true;
}

std::string Unproven::text() const {
  constexpr size_t kNamed = 2;
  if (pairs_.empty()) return "";
  const bool is_one = pairs_.size() == 1;
  std::string text =
      fmt::format("{} possible {} not reported, since both accesses may be atomic operations",
                  pairs_.size(), is_one ? "race is" : "races are");
  for (size_t i = 0; i < std::min(pairs_.size(), kNamed); i++)
    text += fmt::format("{} {} ({})", i == 0 ? ":" : ";", pairs_[i].title, pairs_[i].reason);
  if (pairs_.size() > kNamed) text += fmt::format("; and {} more", pairs_.size() - kNamed);
  text += fmt::format("\n  --report-unproven shows {}", is_one ? "it" : "them");
  if (lacks_source_) text += "; --source-dir or --source-map says where sources are";
  if (lacks_debug_info_) text += "; compiled with -g there would be less doubt";
  return text;
}

std::string Unproven::reasons() const {
  std::string text;
  for (const auto& [reason, count] : reasons_)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", reason, count);
  return text;
}

}  // namespace weir::cli
