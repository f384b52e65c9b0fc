// Divides the work of each node among k modelled nodes, its parts. A recording says nothing of how the program divides its work, so this assumes what most programs do that have
// arrays and barriers: strong scaling of block partitions. It is the part of a prediction that is most easily wrong; recordings with more nodes need less of it.
//
// Assumptions, phase by phase (a phase is what lies between two barriers of a thread):
//   1. Computing outside of locks is divided evenly. A node that had more to do than others has parts that have more to do.
//   2. Of each allocation, the units that a node wrote in the phase are its block, in the order of their numbers. Part j has the j-th of k equal stretches of it. Where a
//      border falls into a unit, both neighbours write the unit, and its diff is divided as the unit is: with more parts than units, false sharing grows as it would. But
//      where no unit of the allocation was ever written by two of the recorded nodes in one phase, what the program divides is aligned to units, and so are the borders,
//      as long as there are enough units.
//   3. Units that a node read and did not write: those that (nearly) all other nodes read are read by all parts (a pivot row, a matrix that everybody multiplies with). Others,
//      where they are few against the node's block, are a halo: those below the block are read by the first part, those above it by the last; and as wide a halo is read by
//      each part on both sides of its stretch, within the node. Others are divided evenly. With two nodes "all others" is one, so there few units are a halo, and many are
//      read by all parts. A node without a block in this phase has the one of its latest phase that had one.
//   4. Lock sections stay whole, and what is computed in them is not divided. A lock that each thread of every node took once in the phase (to add up a result) is taken once by
//      each part; else the sections are dealt out to the parts in turn, so that their number stays.
//   5. Conditions and semaphores outside of sections are left to each node's first part: pipelines do not get longer.
//   6. Homes: block and cyclic homes are laid out anew, an explicit home becomes its first part, first touch is by whoever touches first.
#include "dsm_predict/scaling.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weir::predict {

namespace {

struct Parts {  // first to last, both included
  uint32_t first = 0, last = 0;
  bool has(uint32_t part) const { return part >= first && part <= last; }
};

// One allocation as one node sees it in one phase.
struct Area {
  std::vector<uint32_t> written, read;  // ascending; read: and not written
};
struct Phase {
  std::map<uint32_t, Area> areas;                  // by allocation
  std::map<uint32_t, uint32_t> locks;              // how often each was taken, as the outermost
  std::unordered_map<uint32_t, Parts> assignment;  // of units
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> stretch;  // of written units: index, out of how many
  std::vector<std::vector<uint32_t>> halos;        // of each part: units that it reads of its neighbours within the node
};

bool is_sync(OpKind kind) {
  return kind == OpKind::kWait || kind == OpKind::kSignal || kind == OpKind::kBroadcast || kind == OpKind::kPost || kind == OpKind::kSemaphoreWait;
}

class Scaler {
 public:
  Scaler(const Workload& from, uint32_t parts, Reads reads) : from_(from), parts_(parts), reads_(reads), phases_(from.nodes) {}

  Workload scale() {
    out_.nodes = from_.nodes * parts_;
    out_.threads = from_.threads;
    out_.scripts.resize(size_t{out_.nodes} * out_.threads);
    out_.lists.emplace_back();
    out_.allocations = from_.allocations;
    out_.home_scale = from_.home_scale * parts_;
    for (uint32_t node = 0; node < from_.nodes; node++) {
      for (uint32_t thread = 0; thread < from_.threads; thread++) survey(node, thread);
    }
    count_readers();
    for (uint32_t node = 0; node < from_.nodes; node++) assign(node);
    for (uint32_t node = 0; node < from_.nodes; node++) {
      for (uint32_t part = 0; part < parts_; part++) {
        for (uint32_t thread = 0; thread < from_.threads; thread++) generate(node, part, thread);
      }
    }
    return std::move(out_);
  }

 private:
  uint32_t area_of(uint32_t unit) const {
    const Allocation* of = from_.allocation_of(unit);
    return of ? of->first : 0xffffffff;
  }
  Phase& phase(uint32_t node, size_t number) {
    if (phases_[node].size() <= number) phases_[node].resize(number + 1);
    return phases_[node][number];
  }

  // Walks over a script: visit(op, phase, section), section: which of the script's outermost lock sections the op is in; 0: none.
  template <typename Visit>
  static void walk(const Script& script, Visit visit) {
    size_t phase = 0, section = 0, sections = 0;
    uint32_t depth = 0;
    for (const Op& op : script) {
      if (op.kind == OpKind::kAcquire && depth++ == 0) section = ++sections;
      visit(op, phase, section);
      if (op.kind == OpKind::kRelease && depth > 0 && --depth == 0) section = 0;
      if (op.kind == OpKind::kArrive) phase++;
    }
  }

  // --- What each phase accessed

  void survey(uint32_t node, uint32_t thread) {
    std::unordered_set<uint32_t> in_section;
    size_t last_section = 0;
    walk(from_.script(node, thread), [&](const Op& op, size_t number, size_t section) {
      Phase& phase = this->phase(node, number);
      if (section != last_section) {
        in_section.clear();
        if (section != 0) phase.locks[op.object]++;
        last_section = section;
      }
      const auto reads = [&](uint32_t unit) { phase.areas[area_of(unit)].read.push_back(unit); };
      const auto writes = [&](uint32_t unit) { phase.areas[area_of(unit)].written.push_back(unit); };
      const std::vector<UnitBytes>& list = from_.lists[op.list];
      if (op.kind == OpKind::kAccess && section != 0) in_section.insert(op.object);
      else if (op.kind == OpKind::kAccess) op.write ? writes(op.object) : reads(op.object);
      if (op.kind == OpKind::kTouch && section == 0) {
        for (const UnitBytes& unit : list) op.write ? writes(unit.unit) : reads(unit.unit);
      }
      if (op.kind == OpKind::kInterval) {
        for (const UnitBytes& unit : list) {
          if (section == 0 || in_section.count(unit.unit) == 0) writes(unit.unit);
        }
      }
    });
  }

  void count_readers() {
    size_t most = 0;
    for (auto& of_node : phases_) {
      most = std::max(most, of_node.size());
      for (Phase& phase : of_node) {
        for (auto& [allocation, area] : phase.areas) {
          for (std::vector<uint32_t>* units : {&area.written, &area.read}) {
            std::sort(units->begin(), units->end());
            units->erase(std::unique(units->begin(), units->end()), units->end());
          }
          std::vector<uint32_t> rest;
          std::set_difference(area.read.begin(), area.read.end(), area.written.begin(), area.written.end(), std::back_inserter(rest));
          area.read = std::move(rest);
        }
      }
    }
    readers_.resize(most);
    for (size_t i = 0; i < most; i++) {
      std::unordered_set<uint32_t> written;
      for (auto& of_node : phases_) {
        if (i >= of_node.size()) continue;
        for (const auto& [allocation, area] : of_node[i].areas) {
          for (const uint32_t unit : area.written) {
            if (!written.insert(unit).second) shared_.insert(allocation);
          }
        }
      }
    }
    for (auto& of_node : phases_) {
      of_node.resize(most);
      for (size_t i = 0; i < most; i++) {
        for (const auto& [allocation, area] : of_node[i].areas) {
          for (const uint32_t unit : area.read) readers_[i][unit]++;
        }
      }
    }
  }

  // --- Who does what

  Parts stretch_of(size_t index, size_t of, bool aligned) const {
    if (aligned && of >= parts_) {
      const auto part = static_cast<uint32_t>(index * parts_ / of);
      return {part, part};
    }
    const auto first = static_cast<uint32_t>(index * parts_ / of);
    const auto last = static_cast<uint32_t>(((index + 1) * parts_ + of - 1) / of - 1);
    return {first, std::max(first, last)};
  }

  void assign(uint32_t node) {
    std::map<uint32_t, const std::vector<uint32_t>*> blocks;  // latest of each allocation
    for (size_t number = 0; number < phases_[node].size(); number++) {
      Phase& phase = phases_[node][number];
      phase.halos.resize(parts_);
      for (auto& [allocation, area] : phase.areas) {
        if (!area.written.empty()) blocks[allocation] = &area.written;
        for (size_t i = 0; i < area.written.size(); i++) {
          phase.assignment[area.written[i]] = stretch_of(i, area.written.size(), shared_.count(allocation) == 0);
          if (shared_.count(allocation) == 0 && area.written.size() >= parts_) continue;
          phase.stretch[area.written[i]] = {static_cast<uint32_t>(i), static_cast<uint32_t>(area.written.size())};
        }
        const auto block = blocks.find(allocation);
        assign_reads(area.read, block == blocks.end() ? nullptr : block->second, number, &phase);
      }
    }
  }

  bool is_read_by_all(size_t number, uint32_t unit) const {
    return from_.nodes > 2 && readers_[number].at(unit) + 1 >= from_.nodes;
  }

  void assign_reads(const std::vector<uint32_t>& read, const std::vector<uint32_t>* block, size_t number, Phase* phase) {
    std::vector<uint32_t> below, above, others;
    for (const uint32_t unit : read) {
      if (reads_ == Reads::kAll || (reads_ == Reads::kAuto && is_read_by_all(number, unit))) phase->assignment[unit] = {0, parts_ - 1};
      else if (block && unit < block->front()) below.push_back(unit);
      else if (block && unit > block->back()) above.push_back(unit);
      else others.push_back(unit);
    }
    const size_t few = block ? std::max<size_t>(1, block->size() / 2) : 0;
    const bool is_halo = reads_ == Reads::kAuto && !(below.empty() && above.empty()) && below.size() <= few && above.size() <= few;
    if (is_halo) {
      for (const uint32_t unit : below) phase->assignment[unit] = {0, 0};
      for (const uint32_t unit : above) phase->assignment[unit] = {parts_ - 1, parts_ - 1};
      add_inner_halos(*block, std::max(below.size(), above.size()), phase);
    } else {
      others.insert(others.end(), below.begin(), below.end());
      others.insert(others.end(), above.begin(), above.end());
      std::sort(others.begin(), others.end());
    }
    for (size_t i = 0; i < others.size(); i++) {
      const bool by_all = reads_ == Reads::kAuto && from_.nodes == 2 && !is_halo;
      const auto part = static_cast<uint32_t>(i * parts_ / others.size());
      phase->assignment[others[i]] = by_all ? Parts{0, parts_ - 1} : Parts{part, part};
    }
  }

  void add_inner_halos(const std::vector<uint32_t>& block, size_t width, Phase* phase) const {
    for (uint32_t part = 0; part < parts_; part++) {
      const size_t start = block.size() * part / parts_, limit = (block.size() * (part + 1) + parts_ - 1) / parts_;
      std::vector<uint32_t>& halo = phase->halos[part];
      if (part > 0) {
        for (size_t i = start - std::min(start, width); i < start; i++) halo.push_back(block[i]);
      }
      if (part + 1 < parts_) {
        for (size_t i = limit; i < std::min(block.size(), limit + width); i++) halo.push_back(block[i]);
      }
    }
  }

  bool is_taken_by_each(size_t number, uint32_t lock) const {
    for (uint32_t node = 0; node < from_.nodes; node++) {
      const auto& locks = phases_[node][number].locks;
      const auto at = locks.find(lock);
      if (at == locks.end() || at->second != from_.threads) return false;
    }
    return true;
  }

  // --- The parts' scripts

  uint32_t list(std::vector<UnitBytes> units) {
    if (units.empty()) return 0;
    out_.lists.push_back(std::move(units));
    return static_cast<uint32_t>(out_.lists.size() - 1);
  }

  bool accesses(const Phase& phase, uint32_t part, uint32_t unit) const {
    const auto at = phase.assignment.find(unit);
    return at == phase.assignment.end() ? part == 0 : at->second.has(part);
  }

  // How much of a unit's diff is the part's.
  uint32_t share(const Phase& phase, uint32_t part, const UnitBytes& unit) const {
    const auto at = phase.stretch.find(unit.unit);
    if (at == phase.stretch.end()) return unit.bytes;
    const double index = at->second.first, of = at->second.second;
    const double start = std::max(index, part * of / parts_), limit = std::min(index + 1, (part + 1) * of / parts_);
    return static_cast<uint32_t>(unit.bytes * std::max(0.0, limit - start) + 0.5);
  }

  void generate(uint32_t node, uint32_t part, uint32_t thread) {
    Script& script = out_.script(node * parts_ + part, thread);
    uint64_t carried = 0;
    size_t began = ~size_t{0}, last_section = 0;
    bool mine = true;  // the section
    std::unordered_set<uint32_t> in_section;
    walk(from_.script(node, thread), [&](const Op& op, size_t number, size_t section) {
      const Phase& phase = phases_[node][number];
      if (number != began && thread == 0) {
        for (const uint32_t unit : phase.halos[part]) script.push_back({0, unit, 0, 0, OpKind::kAccess, false});
      }
      began = number;
      const bool opens = section != last_section && section != 0;
      if (section != last_section) {
        in_section.clear();
        mine = section == 0 || is_taken_by_each(number, op.object) || (section - 1) % parts_ == part;
        last_section = section;
      }
      const bool serial = section != 0 && !opens;
      carried += serial ? (mine ? op.compute : 0) : op.compute / parts_;
      if (section != 0 && op.kind == OpKind::kAccess) in_section.insert(op.object);
      Op made = op;
      bool keeps = true;
      const std::vector<UnitBytes>& units = from_.lists[op.list];
      switch (op.kind) {
        case OpKind::kNothing: keeps = carried > 0; break;
        case OpKind::kAccess: keeps = section != 0 ? mine : accesses(phase, part, op.object); break;
        case OpKind::kTouch:
        case OpKind::kPush:
        case OpKind::kInterval: {
          std::vector<UnitBytes> left;
          for (const UnitBytes& unit : units) {
            const bool of_section = section != 0 && (op.kind != OpKind::kInterval || in_section.count(unit.unit) > 0);
            if (of_section ? mine : accesses(phase, part, unit.unit)) left.push_back({unit.unit, of_section ? unit.bytes : share(phase, part, unit)});
          }
          made.list = list(std::move(left));
          keeps = made.list != 0;
          if (op.kind == OpKind::kPush && op.object != kToAll) made.object = op.object * parts_ + part;
          break;
        }
        default: keeps = section != 0 ? mine : !is_sync(op.kind) || part == 0;
      }
      if (!keeps) return;
      made.compute = std::exchange(carried, 0);
      script.push_back(made);
    });
    if (carried > 0) script.push_back({carried, 0, 0, 0, OpKind::kNothing, false});
  }

  const Workload& from_;
  const uint32_t parts_;
  const Reads reads_;
  Workload out_;
  std::vector<std::vector<Phase>> phases_;                          // of each node
  std::set<uint32_t> shared_;                                       // allocations of which nodes have written the same unit in one phase
  std::vector<std::unordered_map<uint32_t, uint32_t>> readers_;     // of each phase: by how many nodes a unit is read
};

}  // namespace

Workload scaled(const Workload& workload, uint32_t parts, Reads reads) {
  if (parts <= 1) return workload;
  return Scaler(workload, parts, reads).scale();
}

}  // namespace weir::predict
