// Which units are falsely shared, what that costs, and what would help.
//
// Two diffs of one unit by different nodes are concurrent where neither node knew, when its diff
// was made, of the interval in which the other's writing began. A unit of which some concurrent
// diffs have no word in common is falsely shared; where they have one it is a race, or smaller than
// a word, and another matter. Its costs are all misses of it: which of them another layout would
// have spared cannot be seen, so they are the most that may be won.
#include <stdio.h>

#include <algorithm>
#include <bit>
#include <set>

#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

constexpr size_t kShown = 10;

using Words = std::vector<uint64_t>;

bool meets(const Words& a, const Words& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    if (a[i] & b[i]) return true;
  }
  return false;
}

void add_to(Words& sum, const Words& more) {
  if (sum.size() < more.size()) sum.resize(more.size());
  for (size_t i = 0; i < more.size(); i++) sum[i] |= more[i];
}

bool is_set(const Words& words, uint64_t i) {
  return i / 64 < words.size() && words[i / 64] >> i % 64 & 1;
}

bool are_concurrent(NodeId a, const Sharing::Written& of_a, NodeId b,
                    const Sharing::Written& of_b) {
  if (of_a.known.empty() || of_b.known.empty()) return true;
  return of_b.known[a] < of_a.first && of_a.known[b] < of_b.first;
}

// Runs of words, from which to which.
std::vector<std::pair<uint64_t, uint64_t>> runs_of(const Words& words) {
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  for (uint64_t i = 0; i < words.size() * 64; i++) {
    if (!is_set(words, i)) continue;
    if (runs.empty() || runs.back().second != i) runs.emplace_back(i, i);
    runs.back().second = i + 1;
  }
  return runs;
}

// One unit that is falsely shared.
struct Shared {
  UnitId unit = 0;
  uint64_t misses = 0, diffs = 0, bytes = 0;
  std::map<NodeId, Words> writers;
  bool without_diffs = false;
  std::map<NodeId, Sharing::Line> lines;  // the most frequent of each writer
};

// Units of one allocation, or of the same small ones.
struct Group {
  std::string name;  // of it, or of those
  std::vector<Shared> units;
  uint64_t misses = 0, diffs = 0, bytes = 0;
  bool is_small = false;  // several allocations in one unit
};

std::string count_of(uint64_t count, const char* what, const char* plural) {
  return std::to_string(count) + " " + (count == 1 ? what : plural);
}

class Report {
 public:
  Report(Node& node, const std::vector<Sharing::OfNode>& nodes) : node_(node), nodes_(nodes) {}

  std::string text() {
    find();
    uint64_t all_misses = 0, all_bytes = 0, dropped = 0, misses = 0, bytes = 0;
    for (const auto& of : nodes_) {
      all_misses += of.misses;
      all_bytes += of.bytes;
      dropped += of.dropped;
    }
    std::vector<const Group*> sorted;
    for (const auto& [key, group] : groups_) {
      misses += group.misses;
      bytes += group.bytes;
      sorted.push_back(&group);
      for (const Shared& shared : group.units) {
        for (const auto& [node, line] : shared.lines) lines_.want(line.at);
      }
      lines_.want(group.name);
    }
    std::string text = "weir-dsm: false sharing: ";
    const std::string of_all = " (of " + count_of(all_misses, "miss", "misses") + " and " +
                               text_of_bytes(all_bytes) + " received in all)\n";
    if (sorted.empty()) {
      text += "none found" + of_all;
    } else {
      text += "units that several nodes write at the same time at different bytes cost up to " +
              count_of(misses, "miss", "misses") + " and " + text_of_bytes(bytes) + of_all;
    }
    lines_.look_up();
    std::sort(sorted.begin(), sorted.end(), [](const Group* a, const Group* b) {
      return std::pair(a->misses, a->bytes) > std::pair(b->misses, b->bytes);
    });
    for (size_t i = 0; i < sorted.size() && i < kShown; i++)
      text += std::to_string(i + 1) + ". " + describe(*sorted[i]);
    if (sorted.size() > kShown)
      text +=
          "and " + std::to_string(sorted.size() - kShown) + " more allocations, which cost less\n";
    if (dropped)
      text += "(" + std::to_string(dropped) + (dropped == 1 ? " diff was" : " diffs were") +
              " not looked at: there are too many)\n";
    return text;
  }

 private:
  const Block* block_of(UnitId unit) const {
    if (unit >= kObjectUnits)
      return unit - kObjectUnits < node_.memory.blocks() ? &node_.memory.block(unit - kObjectUnits)
                                                         : nullptr;
    return node_.memory.block_at(uint64_t{unit} * kPageSize);
  }
  uint64_t offset_of(UnitId unit) const {  // in its block
    return unit >= kObjectUnits ? 0 : uint64_t{unit} * kPageSize - block_of(unit)->offset;
  }
  uint64_t size_of(UnitId unit) const {
    const Block& block = *block_of(unit);
    return block.kind == UnitKind::kPages ? uint64_t{block.unit_pages} * kPageSize : block.size;
  }
  // Of small ones, the one in which the writer's first word lies.
  const Allocation* allocation_of(const Shared& shared, const Words& words) const {
    if (shared.unit >= kObjectUnits) return nullptr;
    const auto runs = runs_of(words);
    return runs.empty() ? nullptr
                        : node_.memory.allocation_at(uint64_t{shared.unit} * kPageSize +
                                                     runs.front().first *
                                                         Sharing::grain(size_of(shared.unit)));
  }

  void find() {
    std::map<UnitId, unsigned> writers;
    for (const auto& of : nodes_) {
      for (const auto& [id, unit] : of.units) writers[id]++;
    }
    for (const auto& [id, count] : writers) {
      if (count < 2 || !block_of(id)) continue;
      Shared shared;
      shared.unit = id;
      for (NodeId a = 0; a < nodes_.size(); a++) {
        for (NodeId b = a + 1; b < nodes_.size(); b++) compare(shared, a, b);
      }
      if (shared.writers.empty()) continue;
      add(std::move(shared));
    }
  }

  void compare(Shared& shared, NodeId a, NodeId b) {
    const auto of_a = nodes_[a].units.find(shared.unit), of_b = nodes_[b].units.find(shared.unit);
    if (of_a == nodes_[a].units.end() || of_b == nodes_[b].units.end()) return;
    for (const auto& one : of_a->second.written) {
      for (const auto& other : of_b->second.written) {
        if (!are_concurrent(a, one, b, other) || meets(one.words, other.words)) continue;
        shared.without_diffs |= one.known.empty();
        add_to(shared.writers[a], one.words);
        add_to(shared.writers[b], other.words);
      }
    }
  }

  void add(Shared&& shared) {
    for (NodeId node = 0; node < nodes_.size(); node++) {
      const auto found = nodes_[node].units.find(shared.unit);
      if (found == nodes_[node].units.end()) continue;
      const Sharing::Unit& unit = found->second;
      shared.misses += unit.misses;
      shared.diffs += unit.diffs;
      shared.bytes += unit.bytes;
      if (!shared.writers.count(node) || unit.lines.empty()) continue;
      shared.lines[node] = *std::max_element(
          unit.lines.begin(), unit.lines.end(),
          [](const auto& one, const auto& other) { return one.count < other.count; });
    }
    std::set<std::string> names;
    std::set<const Allocation*> allocations;
    for (const auto& [node, words] : shared.writers) {
      const Allocation* allocation = allocation_of(shared, words);
      names.insert(allocation ? allocation->name : block_of(shared.unit)->name);
      allocations.insert(allocation);
    }
    std::string key = std::to_string(block_of(shared.unit)->number);
    for (const std::string& name : names) key += "\n" + name;
    Group& group = groups_[key];
    group.name = *names.begin();
    group.is_small |= allocations.size() > 1;
    group.misses += shared.misses;
    group.diffs += shared.diffs;
    group.bytes += shared.bytes;
    group.units.push_back(std::move(shared));
  }

  std::string describe(const Group& group) const {
    const Shared& worst =
        *std::max_element(group.units.begin(), group.units.end(),
                          [](const Shared& a, const Shared& b) { return a.misses < b.misses; });
    const Block& block = *block_of(worst.unit);
    const uint64_t unit_size = size_of(worst.unit),
                   units = block.kind == UnitKind::kPages ? block.size / unit_size : 1;
    std::string text = (group.is_small ? "small allocations that share a unit, one of them " : "") +
                       lines_.name(group.name) + ", " + text_of_bytes(block.size) + ": " +
                       std::to_string(group.units.size()) + " of " +
                       count_of(units, "unit", "units") + " of " + std::to_string(unit_size) +
                       " bytes; " + count_of(group.misses, "miss", "misses") + ", " +
                       (group.diffs ? count_of(group.diffs, "diff", "diffs") + " and " : "") +
                       text_of_bytes(group.bytes) + " received\n";
    text += "   the worst: unit at + " + std::to_string(offset_of(worst.unit)) + ", " +
            count_of(worst.misses, "miss", "misses") + ", home " + home_of(worst.unit) +
            (worst.without_diffs ? " (of sc, only writes that trap are seen)" : "") + "\n";
    size_t shown = 0;
    for (const auto& [node, words] : worst.writers) {
      if (++shown > 8) {
        text += "     and " + std::to_string(worst.writers.size() - 8) + " more nodes\n";
        break;
      }
      text += "     node " + std::to_string(node) + " writes " + bytes_of(words, worst.unit) +
              line_of(worst, node) + "\n";
    }
    return text + "   " + advice(group, worst) + "\n";
  }

  std::string home_of(UnitId unit) const {
    const NodeId home = node_.memory.page(unit).home;
    return home == kNoNode ? "where it was first touched" : "node " + std::to_string(home);
  }
  std::string bytes_of(const Words& words, UnitId unit) const {
    const auto runs = runs_of(words);
    if (runs.empty()) return "nothing";
    const uint64_t step = Sharing::grain(size_of(unit));
    return "bytes " + std::to_string(runs.front().first * step) + " to " +
           std::to_string(runs.back().second * step - 1) +
           (runs.size() > 1 ? ", in " + std::to_string(runs.size()) + " pieces" : "");
  }
  std::string line_of(const Shared& shared, NodeId node) const {
    const auto found = shared.lines.find(node);
    return found == shared.lines.end() ? "" : ", at " + lines_.at(found->second.at);
  }

  std::string advice(const Group& group, const Shared& worst) const {
    const Block& block = *block_of(worst.unit);
    const uint64_t unit_size = size_of(worst.unit), step = Sharing::grain(unit_size);
    if (group.is_small)
      return "advice: give what each node writes an allocation of its own of 2 KiB or more; these "
             "begin units of their own";
    if (worst.without_diffs)
      return "advice: lrc or hlrc let several nodes write a unit at once; or begin what each node "
             "writes at a multiple of " +
             std::to_string(unit_size) + " bytes";
    if (block.kind != UnitKind::kPages)
      return "advice: several regions, or allocations, one for what each node writes";
    if (block.unit_pages > 1 && part_pages(worst, step))
      return "advice: smaller units (weir_dsm_attributes.pages); by pages of 4096 bytes the nodes' "
             "parts are apart";
    if (in_order(worst)) {
      return "advice: the nodes' parts meet inside of units: pad rows, or parts, so that each "
             "node's begins at a multiple of " +
             std::to_string(unit_size) + " bytes";
    }
    return "advice: elements of several nodes lie in turns: put together what one node writes, or "
           "give each its own " +
           std::to_string(unit_size) + " bytes";
  }
  // Whether each page is written by one node only.
  bool part_pages(const Shared& shared, uint64_t step) const {
    std::map<uint64_t, NodeId> owner;
    for (const auto& [node, words] : shared.writers) {
      for (const auto& [first, last] : runs_of(words)) {
        for (uint64_t page = first * step / kPageSize; page <= (last * step - 1) / kPageSize;
             page++) {
          if (owner.emplace(page, node).first->second != node) return false;
        }
      }
    }
    return true;
  }
  // Whether each node's words all lie before, or behind, each other's.
  bool in_order(const Shared& shared) const {
    std::vector<std::pair<uint64_t, uint64_t>> hulls;
    for (const auto& [node, words] : shared.writers) {
      const auto runs = runs_of(words);
      if (!runs.empty()) hulls.emplace_back(runs.front().first, runs.back().second);
    }
    std::sort(hulls.begin(), hulls.end());
    for (size_t i = 1; i < hulls.size(); i++) {
      if (hulls[i].first < hulls[i - 1].second) return false;
    }
    return true;
  }

  Node& node_;
  const std::vector<Sharing::OfNode>& nodes_;
  std::map<std::string, Group> groups_;
  SourceLines lines_;
};

}  // namespace

std::string Sharing::describe(const std::vector<OfNode>& nodes) {
  return Report(node_, nodes).text();
}

}  // namespace weir::dsm
