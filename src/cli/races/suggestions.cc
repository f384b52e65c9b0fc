// From ownership phases (ownership phases: check/sharing_profile.cc) to annotations. Each 8 bytes
// are judged by themselves. Those of one variable, or of the blocks that one call allocates, are
// put together if they agree.
//
// A phase is one task's (exclusive), read by several, or under a lock. Where it ends and the next
// begins there are two places in the program: the last access before and the first one after. If a
// place's access is in a loop but the phase came once, the place moves outwards, out of the loop:
// an annotation inside would be made in each round.
#include "cli/races/suggestions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "cli/races/fitting_policy.h"
#include "cli/sources/source_tokens.h"

namespace weir::cli {
namespace {

using findings::Cell;
using findings::ObjectKind;
using findings::OwnershipPhase;

struct Place {
  std::string file;
  int line = 0;
  explicit operator bool() const { return line != 0; }
};

// The innermost frame in a source of the program's own.
Place own_place(const Frames& frames) {
  for (const Frame& frame : frames) {
    if (!frame.file.empty() && !frame.file.starts_with("/usr/")) return {frame.file, frame.line};
  }
  return {};
}

// First and last line of the outermost loop, within its function, that has the line.
std::pair<int, int> loop_around(const Place& place) {
  const std::vector<Token>& tokens = scanned_file(place.file).tokens;
  std::pair<int, int> found{place.line, place.line};
  for (size_t i = 0; i < tokens.size() && tokens[i].line <= place.line; i++) {
    const std::string& text = tokens[i].text;
    if (tokens[i].function == 0 || (text != "for" && text != "while" && text != "do")) continue;
    // To the end of its statement.
    int depth = 0;
    size_t end = i + 1;
    for (; end < tokens.size(); end++) {
      const std::string& at = tokens[end].text;
      if (at == "(" || at == "{") depth++;
      if (at == ")" || at == "}") depth--;
      if (depth == 0 && (at == "}" || at == ";") && tokens[end].function) break;
      if (depth < 0) break;
    }
    if (end >= tokens.size() || tokens[end].line < place.line) continue;
    const bool is_one_line = tokens[i].line == tokens[end].line;
    if (!is_one_line || tokens[i].line == place.line)
      return {tokens[i].line, std::max(tokens[end].line, place.line)};
  }
  return found;
}

struct Group {  // of one variable, or of all blocks from one place
  std::vector<Cell> cells;
  std::optional<Variable> variable;
  Place allocated;
  std::set<uint64_t> blocks;
};

class Suggester {
 public:
  Suggester(FindingsReader findings, bool with_debug_info)
      : findings_(findings), reader_(findings, with_debug_info) {}

  std::vector<Suggestion> all() {
    reader_.update();
    const auto first = findings_.task(1);
    if (first) creation_ = reader_.frames(first->context);
    std::map<std::string, Group> groups;
    for (const Cell& cell : findings_.cells()) add(groups, cell);
    std::vector<Suggestion> result;
    for (auto& [name, group] : groups) suggest(group, result);
    return result;
  }

 private:
  void add(std::map<std::string, Group>& groups, const Cell& cell) {
    if (cell.kind == ObjectKind::kStatic) {
      const std::optional<Variable> variable = reader_.variable(cell.address);
      if (!variable || variable->file.empty() || variable->file.starts_with("/usr/") ||
          is_lock(*variable))
        return;
      Group& group =
          groups[fmt::format("{}:{:08}:{}", variable->file, variable->line, variable->whole)];
      if (!group.variable) group.variable = variable;
      group.cells.push_back(cell);
    } else if (cell.kind == ObjectKind::kHeap) {
      const Place place = own_place(reader_.frames(cell.context));
      if (!place) return;
      Group& group = groups[fmt::format("{}:{:08}", place.file, place.line)];
      group.allocated = place;
      group.blocks.insert(cell.start);
      group.cells.push_back(cell);
    }
  }

  static bool is_lock(const Variable& variable) {
    constexpr const char* kTypes[] = {"mutex", "rwlock", "pthread_cond", "barrier", "sem_t",
                                      "mtx_t", "cnd_t",  "spin",         "once"};
    return std::ranges::any_of(kTypes, [&](const char* type) {
      return !variable.types.empty() && variable.types[0].find(type) != std::string::npos;
    });
  }

  // Whether what one task alone does with a part goes with the policy of the rest.
  static bool goes_with(const Cell& cell, const Judged& policy) {
    const std::vector<OwnershipPhase> phases = phases_of(cell);
    if (policy.policy == "private" || policy.policy == "racy") return true;
    return std::ranges::all_of(phases, [&](const OwnershipPhase& phase) {
      return policy.policy == "locked" ? has_lock(phase, policy.lock) : !phase.writes;
    });
  }

  void suggest(Group& group, std::vector<Suggestion>& result) {
    std::map<std::pair<std::string, uint64_t>, std::vector<const Cell*>> by_policy;
    std::set<uint64_t> alone;  // tasks
    for (const Cell& cell : group.cells) {
      Judged judged = judge(cell);
      if (judged.policy.empty()) {
        alone.insert(judged.tasks);
        continue;
      }
      // Blocks of one place may have a lock each, at the same distance.
      const bool is_own = cell.kind == ObjectKind::kHeap && judged.lock - cell.start < cell.size;
      by_policy[{judged.policy, is_own ? judged.lock - cell.start : judged.lock}].push_back(&cell);
    }
    const bool is_read = std::ranges::none_of(group.cells, [](const Cell& cell) {
      return cell.atomics != 0 ||
             std::ranges::any_of(phases_of(cell),
                                 [](const OwnershipPhase& phase) { return phase.writes != 0; });
    });
    if (is_read && alone.size() + by_policy.size() >
                       1) {  // each part by another thread perhaps, but nothing is written
      std::vector<const Cell*> cells;
      for (const Cell& cell : group.cells) cells.push_back(&cell);
      result.push_back(suggestion(group, "", cells, {"sticky-read", 0, 0}));
      return;
    }
    if (by_policy.empty()) {
      if (alone.size() > 1 && group.variable) result.push_back(parts(group, alone.size()));
      return;
    }
    bool agree = by_policy.size() == 1;
    if (agree) {
      const Judged policy = judge(*by_policy.begin()->second.front());
      for (const Cell& cell : group.cells) {
        if (!judge(cell).policy.empty()) continue;
        agree &= goes_with(cell, policy);
        by_policy.begin()->second.push_back(&cell);
      }
      if (agree)
        agree = std::ranges::none_of(objects_of(by_policy.begin()->second), [&](const auto& cells) {
          return whole_of(cells, policy).overlap;
        });
    }
    for (auto& [policy, cells] : by_policy) {
      // Where they do not agree each part is an object.
      std::map<std::string, std::vector<const Cell*>> by_part;
      std::erase_if(cells, [&](const Cell* cell) { return !agree && judge(*cell).policy.empty(); });
      const std::vector<Part> runs = runs_of(cells);
      for (const Cell* cell : cells)
        by_part[agree ? "" : part_of(group, *cell, runs)].push_back(cell);
      for (const auto& [part, some] : by_part)
        result.push_back(suggestion(group, part, some, judge(*cells.front())));
    }
  }

  // Of blocks: bytes that follow each other.
  struct Part {
    uint64_t from, to;
  };
  static std::vector<Part> runs_of(const std::vector<const Cell*>& cells) {
    std::set<uint64_t> offsets;
    for (const Cell* cell : cells) offsets.insert(cell->address - cell->start);
    std::vector<Part> runs;
    for (const uint64_t offset : offsets) {
      if (runs.empty() || runs.back().to != offset) runs.push_back({offset, offset});
      runs.back().to += 8;
    }
    return runs;
  }

  std::string part_of(const Group& group, const Cell& cell, const std::vector<Part>& runs) {
    if (!group.variable) {
      const uint64_t offset = cell.address - cell.start;
      const auto run = std::ranges::find_if(
          runs, [&](const Part& part) { return offset >= part.from && offset < part.to; });
      return fmt::format("(char *)block + {}, {}", run->from, run->to - run->from);
    }
    const std::optional<Variable> variable = reader_.variable(cell.address);
    return variable ? variable->name : "";
  }

  std::string object_words(const Group& group, const std::string& part) const {
    if (group.variable) {
      const Variable& variable = *group.variable;
      const std::string type =
          part.empty() && !variable.types.empty() ? fmt::format(" ({})", variable.types[0]) : "";
      return fmt::format("{}{}, a static variable declared at {}:{}",
                         part.empty() ? variable.whole : part, type, shown_path(variable.file),
                         variable.line);
    }
    const std::string blocks =
        group.blocks.size() == 1 ? "the block" : fmt::format("{} blocks", group.blocks.size());
    const size_t comma = part.find(", ");
    const std::string bytes =
        part.empty() ? ""
                     : fmt::format("{} bytes from byte {} on of ", part.substr(comma + 2),
                                   part.substr(16, comma - 16));
    return fmt::format("{}{} allocated at {}:{}", bytes, blocks, shown_path(group.allocated.file),
                       group.allocated.line);
  }

  // Where the first other thread is made: in that file, if it is called from there. `before_loop`:
  // before the loop that it stands in.
  Place creation_in(const std::string& file, bool before_loop) const {
    const auto there = std::ranges::find_if(
        creation_, [&](const Frame& frame) { return !file.empty() && frame.file == file; });
    Place place = there == creation_.end() ? own_place(creation_) : Place{there->file, there->line};
    if (place && before_loop) place.line = loop_around(place).first;
    return place;
  }

  Suggestion parts(const Group& group, size_t tasks) const {
    Suggestion one{object_words(group, ""),
                   "parts",
                   fmt::format("each part was touched by one of {} threads only", tasks),
                   0,
                   {}};
    for (const Cell& cell : group.cells) one.accesses += cell.accesses;
    one.lines.push_back({"at", group.variable->file, group.variable->line,
                         "make it an array whose slices are objects: weir_array_slice(count, "
                         "element_size, per_slice, WEIR_UNTOUCHED)"});
    return one;
  }

  std::string lock_words(const Cell& cell, uint64_t lock) {
    const ReportedLock known = reader_.lock(lock);
    if (!known.name.empty()) return "&" + known.name;
    if (cell.kind == ObjectKind::kHeap && known.address - cell.start < cell.size)
      return fmt::format("(char *)block + {}", known.address - cell.start);
    return "/* its lock */";
  }

  Suggestion suggestion(const Group& group, const std::string& part,
                        const std::vector<const Cell*>& cells, const Judged& judged) {
    Suggestion one;
    one.object = object_words(group, part);
    one.policy = judged.policy;
    uint64_t tasks = 0;
    for (const Cell* cell : cells) one.accesses += cell->accesses, tasks |= judge(*cell).tasks;
    const std::string lock = judged.lock ? lock_words(*cells.front(), judged.lock) : "";
    one.seen = fmt::format("seen {} times, by {} threads", one.accesses, count_of(tasks));
    if (judged.policy == "locked")
      one.seen += fmt::format(", while they share it always under {}", lock);
    if (judged.policy == "sticky-read")
      one.seen += ", only read since the first other thread was made";
    if (judged.policy == "read-shared") one.seen += ", read by several at a time, written by one";
    if (judged.policy == "private") one.seen += ", by one at a time, handed over in order";
    if (judged.policy == "racy")
      one.seen += cells.front()->atomics ? ", by atomic operations too"
                                         : ", and nothing orders them: mend that first";

    const std::string name = group.variable ? "&" + (part.empty() ? group.variable->whole : part)
                             : part.empty() ? "block"
                                            : part.substr(0, part.find(", "));
    const bool is_one = group.variable || group.blocks.size() == 1;
    const Place begun =
        is_one ? creation_in(group.variable ? group.variable->file : group.allocated.file, true)
               : Place{};
    const Place created = creation_in(group.allocated.file, false);
    std::set<SuggestedLine> lines;
    const auto add = [&](const char* where, const Place& place, const std::string& text) {
      if (place) lines.insert({where, place.file, place.line, text});
    };
    const std::string policy = judged.policy == "racy" ? "WEIR_RACY"
                               : group.variable        ? "WEIR_UNTOUCHED"
                                                       : "WEIR_PRIVATE";
    if (group.variable && part.empty() && group.variable->whole.find("::") == std::string::npos) {
      const Place declared{group.variable->file, group.variable->line};
      add("at", declared, "WEIR_PAGES in front of the declaration");
      add("after", declared, fmt::format("WEIR_OBJECT({}, {});", group.variable->whole, policy));
    } else if (group.variable) {
      add("before", begun,
          fmt::format("weir_object_declare({0}, sizeof {1}, {2});", name, name.substr(1), policy));
    } else if (!part.empty()) {
      add("after", group.allocated, fmt::format("weir_object_declare({}, {});", part, policy));
    } else {
      add("at", group.allocated,
          fmt::format("weir_alloc(size, {}) for malloc or new, weir_free for free or delete",
                      policy));
    }
    if (judged.policy == "sticky-read")
      add("before", is_one ? begun : created, fmt::format("weir_set_sticky_read({});", name));
    if (judged.policy == "locked" || judged.policy == "read-shared" || judged.policy == "private") {
      for (const auto& object : objects_of(cells))
        add_changes(object, judged, name, lock, is_one, group.allocated, begun, add);
      const bool is_known =
          std::ranges::any_of(cells, [](const Cell* cell) { return begins_with_main(*cell); });
      if (!group.variable && cells.front()->task == 0 && !is_known && judged.policy != "locked") {
        add("before", created,
            fmt::format("weir_release_write({});", name));  // filled while there was one thread
      }
    }
    one.lines.assign(lines.begin(), lines.end());
    const auto rank = [](const SuggestedLine& line) {
      return line.where == "before" ? 0 : line.where == "at" ? 1 : 2;
    };
    std::ranges::stable_sort(one.lines, [&](const SuggestedLine& a, const SuggestedLine& b) {
      return std::tuple(a.file, a.line, rank(a)) < std::tuple(b.file, b.line, rank(b));
    });
    return one;
  }

  static bool begins_with_main(const Cell& cell) {
    const std::vector<OwnershipPhase> phases = phases_of(cell);
    return !phases.empty() && (phases.front().tasks & 1);
  }

  // By variable, or by block.
  static std::vector<std::vector<const Cell*>> objects_of(const std::vector<const Cell*>& cells) {
    std::map<uint64_t, std::vector<const Cell*>> by_start;
    for (const Cell* cell : cells)
      by_start[cell->kind == ObjectKind::kHeap ? cell->start : 0].push_back(cell);
    std::vector<std::vector<const Cell*>> all;
    for (auto& [start, some] : by_start) all.push_back(std::move(some));
    return all;
  }

  enum class As { kExclusive, kRead, kLocked };
  static As as(const OwnershipPhase& phase, const Judged& judged) {
    if (judged.lock && has_lock(phase, judged.lock)) return As::kLocked;
    return count_of(phase.tasks) > 1 ? As::kRead : As::kExclusive;
  }

  struct Whole {
    std::vector<OwnershipPhase> phases;
    bool overlap = false;  // one began before the last had ended: its parts do not go together
  };
  // Of an object by those of its cells.
  static Whole whole_of(const std::vector<const Cell*>& cells, const Judged& judged) {
    std::vector<OwnershipPhase> all;
    for (const Cell* cell : cells) std::ranges::copy(phases_of(*cell), std::back_inserter(all));
    std::ranges::sort(all, {}, &OwnershipPhase::from);
    Whole whole;
    for (const OwnershipPhase& phase : all) {
      OwnershipPhase* const now = whole.phases.empty() ? nullptr : &whole.phases.back();
      const bool are_read = now && judged.policy == "read-shared" && !now->writes && !phase.writes;
      const bool goes_on =
          now && (are_read || (as(*now, judged) == as(phase, judged) &&
                               (as(phase, judged) != As::kExclusive || now->tasks == phase.tasks)));
      if (!goes_on) {
        whole.overlap |= now && phase.from < now->to;
        whole.phases.push_back(phase);
        continue;
      }
      for (uint32_t r = 0; r < phase.reader_count; r++) {
        const auto known =
            std::find_if(now->readers, now->readers + now->reader_count,
                         [&](const auto& one) { return one.task == phase.readers[r].task; });
        if (known != now->readers + now->reader_count) {
          if (phase.to > now->to) known->last = phase.readers[r].last;
        } else if (now->reader_count < findings::kMaxReaders) {
          now->readers[now->reader_count++] = phase.readers[r];
        }
      }
      if (phase.to > now->to) now->last = phase.last, now->to = phase.to;
      now->tasks |= phase.tasks;
      now->writes |= phase.writes;
      now->times = std::max(now->times, phase.times);
    }
    return whole;
  }

  template <typename Add>
  void add_changes(const std::vector<const Cell*>& cells, const Judged& judged,
                   const std::string& name, const std::string& lock, bool is_one,
                   const Place& allocated, const Place& begun, Add add) {
    const std::vector<OwnershipPhase> phases = whole_of(cells, judged).phases;
    const auto as = [&](const OwnershipPhase& phase) { return Suggester::as(phase, judged); };
    const auto first = [&](uint32_t context, bool once) {
      Place place = own_place(reader_.frames(context));
      if (place && once && is_one) place.line = loop_around(place).first;
      return place;
    };
    const auto last = [&](uint32_t context, bool once) {
      Place place = own_place(reader_.frames(context));
      if (place && once && is_one) place.line = loop_around(place).second;
      return place;
    };
    const bool is_cycle =
        std::ranges::any_of(phases, [](const OwnershipPhase& phase) { return phase.times > 1; });
    for (size_t i = 0; i < phases.size(); i++) {
      const OwnershipPhase& phase = phases[i];
      const bool once = phase.times == 1, begins = i > 0 || is_cycle,
                 ends = i + 1 < phases.size() || is_cycle;
      const OwnershipPhase* next = i + 1 < phases.size() ? &phases[i + 1]
                                   : is_cycle            ? &phases[0]
                                                         : nullptr;
      switch (as(phase)) {
        case As::kExclusive:
          if (begins && count_of(phase.tasks) == 1)
            add("before", first(phase.first, once), fmt::format("weir_acquire_write({});", name));
          if (!ends || !next) break;
          if (as(*next) == As::kLocked)
            add("after", last(phase.last, once),
                fmt::format("weir_set_locked({}, {});", name, lock));
          else add("after", last(phase.last, once), fmt::format("weir_release_write({});", name));
          break;
        case As::kRead:
          for (uint32_t r = 0; r < phase.reader_count; r++) {
            add("before", first(phase.readers[r].first, once),
                fmt::format("weir_acquire_read({});", name));
            add("after", last(phase.readers[r].last, once),
                fmt::format("weir_release_read({});", name));
          }
          break;
        case As::kLocked:
          if (i == 0 && !is_one)
            add("after", allocated, fmt::format("weir_set_locked({}, {});", name, lock));
          else if (i == 0)
            add("before", begun, fmt::format("weir_set_locked({}, {});", name, lock));
          else if (as(phases[i - 1]) == As::kRead)
            add("before", first(phase.first, once),
                fmt::format("weir_set_locked({}, {});", name, lock));
          break;
      }
    }
  }

  FindingsReader findings_;
  RaceReader reader_;
  Frames creation_;  // of the first other thread
};

}  // namespace

std::vector<Suggestion> suggestions(FindingsReader findings, bool with_debug_info) {
  return Suggester(findings, with_debug_info).all();
}

std::string suggestions_text(const std::vector<Suggestion>& all, uint32_t lost) {
  if (all.empty()) return "no annotation to suggest: no memory with a name was seen to be shared";
  std::string text =
      "suggested annotations (weir/weir.h), by what was looked at in this run; what was not looked "
      "at may differ";
  for (const Suggestion& one : all) {
    text += fmt::format("\n{}: {} ({})", one.object, one.policy, one.seen);
    for (const SuggestedLine& line : one.lines)
      text +=
          fmt::format("\n  {} {}:{}: {}", line.where, shown_path(line.file), line.line, line.text);
  }
  if (lost) {
    text += lost == 1 ? "\n(1 more place of 8 bytes was not kept)"
                      : fmt::format("\n({} more places of 8 bytes were not kept)", lost);
  }
  return text;
}

}  // namespace weir::cli
