#include "cli/hunt/search/conflicts.h"

#include <algorithm>
#include <map>
#include <set>

namespace weir::cli::hunt {
namespace {

constexpr size_t kMostPlaces = 20'000;

struct Ranked {
  uint64_t rank;
  size_t order;
  Switch place;
  auto operator<=>(const Ranked&) const = default;
};

// 0 for the first and the last, 1 for their neighbours.
uint64_t rank_of(size_t index, size_t count) { return std::min(index, count - 1 - index); }

// As who gives the turn away, and as who has it. By default the task with the lowest number goes
// on, so the first of a class meets what none has done yet, and the last is the one that has not.
struct Ranks {
  uint64_t gives = 0, takes = 0;
};

// Of each task in its class.
std::map<uint32_t, Ranks> ranks_of(const std::set<uint32_t>& tasks, const ScheduleLog& run) {
  std::map<uint64_t, std::vector<uint32_t>> classes;
  for (const uint32_t task : tasks) {
    const auto known = run.functions.find(task);
    const bool is_known = known != run.functions.end() && known->second != 0;
    classes[is_known ? known->second : task].push_back(task);  // else one of its own
  }
  std::map<uint32_t, Ranks> ranks;
  for (const auto& [function, members] : classes) {
    for (size_t i = 0; i < members.size(); i++) {
      const size_t back = members.size() - 1 - i;
      ranks[members[i]] = {std::min(2 * i, 2 * back + 1), std::min(2 * back, 2 * i + 1)};
    }
  }
  return ranks;
}

}  // namespace

Conflicts::Conflicts(const ScheduleLog& run) {
  std::set<uint32_t> tasks;
  for (const LoggedAccess& one : run.accesses) tasks.insert(one.at.task);
  const std::map<uint32_t, Ranks> ranks = ranks_of(tasks, run);
  std::map<Switch, std::pair<uint64_t, size_t>> found;  // rank, and order in which they were found
  for (size_t first = 0, next; first < run.accesses.size(); first = next) {
    struct Use {
      std::vector<size_t> accesses;
      size_t last = 0, last_write = 0;
    };
    std::map<uint32_t, Use> uses;  // of this word, by task
    const uint64_t address = run.accesses[first].address;
    for (next = first; next < run.accesses.size() && run.accesses[next].address == address;
         next++) {
      Use& use = uses[run.accesses[next].at.task];
      use.accesses.push_back(next);
      use.last = next;
      if (run.accesses[next].is_write) use.last_write = next;
    }
    for (const auto& [task, use] : uses) {
      for (size_t i = 0; i < use.accesses.size(); i++) {
        const LoggedAccess& access = run.accesses[use.accesses[i]];
        for (const auto& [other, its] : uses) {
          // What it does later comes before, then; what it has done is done.
          const size_t last = access.is_write ? its.last : its.last_write;
          if (other == task || last <= use.accesses[i]) continue;
          if (found.size() >= kMostPlaces) break;
          Switch place = access.at;
          place.to = other;
          constexpr uint64_t kFirstThread = 3;  // it waits for the others, mostly
          const uint64_t rank = ranks.at(task).gives + ranks.at(other).takes +
                                2 * rank_of(i, use.accesses.size()) +
                                (other == 0 ? kFirstThread : 0);
          const auto [at, is_new] = found.try_emplace(place, rank, found.size());
          if (!is_new) at->second.first = std::min(at->second.first, rank);
        }
      }
    }
  }
  std::vector<Ranked> ranked;
  for (const auto& [place, how] : found) ranked.push_back({how.first, how.second, place});
  std::ranges::sort(ranked);
  for (const Ranked& one : ranked) places_.push_back(one.place);
}

Switches Conflicts::some(Random& random, uint64_t count) const {
  Switches chosen;
  for (; count; count--) {
    const double part = random.unit();
    chosen.push_back(
        places_[static_cast<size_t>(part * part * static_cast<double>(places_.size()))]);
  }
  std::ranges::sort(chosen);
  const auto same_place = [](const Switch& a, const Switch& b) {
    return a.task == b.task && a.events == b.events && a.instructions == b.instructions;
  };
  chosen.erase(std::unique(chosen.begin(), chosen.end(), same_place), chosen.end());
  return chosen;
}

}  // namespace weir::cli::hunt
