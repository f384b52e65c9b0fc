// Divides the work of each node among k modelled nodes, its parts. A recording says nothing of how
// the program divides its work. So this assumes what most programs do that have arrays and
// barriers: strong scaling of block partitions. It is the part of a prediction that is most easily
// wrong; recordings with more nodes need less of it.
//
// Assumptions, phase by phase (a phase is what lies between two barriers of a thread):
//   1. Computing outside of locks is divided evenly. A node that had more to do than others has
//      parts that have more to do.
//   2. A node's block, in each allocation, is the units that it wrote in at least half as many
//      phases as any other node did, in the order of their numbers. What it writes besides, once to
//      initialize it perhaps, is a block of that phase. Part j has the j-th of k equal stretches of
//      the block. A border may fall into a unit, between two parts as between two nodes. Then both
//      neighbours write the unit, and its diff is divided as the unit is: with more parts than
//      units, false sharing grows as it would. But if two of the recorded nodes never wrote one
//      unit of the allocation in one phase, what the program divides is aligned to units, and so
//      are the borders, as long as there are enough units.
//   3. Units that a node read and did not write, if all other nodes read them too (a pivot row, a
//      matrix that everybody multiplies with), are read by all parts; also by those of the node
//      that had no need to, because it had written them. If the other units are few against the
//      node's block, they are a halo: the first part reads those below the block, the last part
//      those above it. Each part then reads as wide a halo on both sides of its stretch within the
//      node, with the unit in which the border lies. A unit of the block itself is read by the part
//      whose stretch it is in. If they are many, they are divided evenly. With two nodes "all
//      others" is one node, so there few units are a halo, and many are read by all parts.
//   4. Lock sections stay whole, and what is computed in them is not divided. A lock that each
//      thread of every node took once in the phase (to add up a result) is taken once by each part.
//      Otherwise the sections are dealt out to the parts in turn, so that their number stays.
//   5. Conditions and semaphores outside of sections are left to each node's first part: pipelines
//      do not get longer.
//   6. Homes: block and cyclic homes are laid out anew, an explicit home becomes its first part,
//      and first touch is the part that touches first.
#include "dsm/predict/scaling.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weir::predict {

namespace {

constexpr double kTiny = 1e-9;

struct Parts {  // first to last, both included
  uint32_t first = 0, last = 0;
  bool has(uint32_t part) const { return part >= first && part <= last; }
};

// One allocation as one node sees it in one phase.
struct Area {
  std::vector<uint32_t> written, read;  // ascending; read: and not written
};
// Units that one node writes, and what it divides among its parts: a length, counted in units. Of a
// unit at an end that the next node writes too, half counts.
struct Block {
  std::vector<uint32_t> units;  // ascending
  double skip = 0, length = 0;  // skip: before its first unit's end
};
struct Stretch {
  double start = 0, limit = 0, length = 0;  // of what is `length` long
};
struct Phase {
  std::map<uint32_t, Area> areas;                  // by allocation
  std::map<uint32_t, uint32_t> locks;              // how often each was taken, as the outermost
  std::unordered_map<uint32_t, Parts> assignment;  // of units
  std::unordered_map<uint32_t, Stretch> stretch;   // of written units that may be divided
  // Of each part: units that it reads of its neighbours within the node.
  std::vector<std::vector<uint32_t>> halos;
};

bool is_sync(OpKind kind) {
  return kind == OpKind::kWait || kind == OpKind::kSignal || kind == OpKind::kBroadcast ||
         kind == OpKind::kPost || kind == OpKind::kSemaphoreWait;
}

class Scaler {
 public:
  Scaler(const Workload& from, uint32_t parts, Reads reads)
      : from_(from), parts_(parts), reads_(reads), phases_(from.nodes) {}

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
    find_blocks();
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

  // Walks over a script: visit(op, phase, section), section: which of the script's outermost lock
  // sections the op is in; 0: none.
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
      const auto writes = [&](uint32_t unit) {
        phase.areas[area_of(unit)].written.push_back(unit);
      };
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
          std::set_difference(area.read.begin(), area.read.end(), area.written.begin(),
                              area.written.end(), std::back_inserter(rest));
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

  static Stretch stretch_of(size_t index, const Block& block) {
    const double at = static_cast<double>(index) - block.skip;
    return {std::max(0.0, at), std::min(block.length, at + 1), block.length};
  }
  Parts parts_of(const Stretch& stretch) const {
    const auto first = static_cast<uint32_t>(stretch.start * parts_ / stretch.length + kTiny);
    const auto limit =
        static_cast<uint32_t>(std::ceil(stretch.limit * parts_ / stretch.length - kTiny));
    return {std::min(first, parts_ - 1),
            std::clamp(limit, first + 1, std::max(parts_, first + 1)) - 1};
  }
  bool is_aligned(uint32_t allocation, const Block& block) const {
    return shared_.count(allocation) == 0 && block.units.size() >= parts_;
  }
  Parts parts_of(size_t index, const Block& block, bool aligned) const {
    if (!aligned) return parts_of(stretch_of(index, block));
    const auto part = static_cast<uint32_t>(index * parts_ / block.units.size());
    return {part, part};
  }

  void assign(uint32_t node) {
    for (size_t number = 0; number < phases_[node].size(); number++) {
      Phase& phase = phases_[node][number];
      phase.halos.resize(parts_);
      for (auto& [allocation, area] : phase.areas) {
        const auto block = blocks_[node].find(allocation);
        Block others{area.written, 0, 0};
        if (block != blocks_[node].end()) {
          const std::vector<uint32_t>& units = block->second.units;
          others.units.clear();
          std::set_difference(area.written.begin(), area.written.end(), units.begin(), units.end(),
                              std::back_inserter(others.units));
          assign_writes(area.written, block->second, allocation, &phase);
        }
        others.length = static_cast<double>(others.units.size());
        assign_writes(others.units, others, allocation, &phase);
        assign_reads(area.read, block == blocks_[node].end() ? nullptr : &block->second, allocation,
                     number, &phase);
      }
      if (reads_ == Reads::kSplit || from_.nodes < 3) continue;
      for (const auto& [unit, readers] : readers_[number]) {
        if (readers + 1 != from_.nodes || reads(phase, unit)) continue;
        for (std::vector<uint32_t>& halo : phase.halos) halo.push_back(unit);
      }
    }
  }

  bool reads(const Phase& phase, uint32_t unit) const {
    const auto area = phase.areas.find(area_of(unit));
    return area != phase.areas.end() &&
           std::binary_search(area->second.read.begin(), area->second.read.end(), unit);
  }

  // Those of `written` that lie in the block.
  void assign_writes(const std::vector<uint32_t>& written, const Block& block, uint32_t allocation,
                     Phase* phase) const {
    const bool aligned = is_aligned(allocation, block);
    for (const uint32_t unit : written) {
      const auto at = std::lower_bound(block.units.begin(), block.units.end(), unit);
      if (at == block.units.end() || *at != unit) continue;
      const auto index = static_cast<size_t>(at - block.units.begin());
      phase->assignment[unit] = parts_of(index, block, aligned);
      if (!aligned) phase->stretch[unit] = stretch_of(index, block);
    }
  }

  void find_blocks() {
    // Of each unit: in how many each node wrote it.
    std::unordered_map<uint32_t, std::vector<uint32_t>> phases;
    for (uint32_t node = 0; node < from_.nodes; node++) {
      for (const Phase& phase : phases_[node]) {
        for (const auto& [allocation, area] : phase.areas) {
          for (const uint32_t unit : area.written) {
            auto& counts = phases[unit];
            counts.resize(from_.nodes);
            counts[node]++;
          }
        }
      }
    }
    blocks_.resize(from_.nodes);
    std::unordered_set<uint32_t> of_several;
    for (const auto& [unit, counts] : phases) {
      const uint32_t most = *std::max_element(counts.begin(), counts.end());
      const auto owns = [most = most](uint32_t count) { return count * 2 >= most; };
      for (uint32_t node = 0; node < from_.nodes; node++) {
        if (owns(counts[node])) blocks_[node][area_of(unit)].units.push_back(unit);
      }
      if (std::count_if(counts.begin(), counts.end(), owns) > 1) of_several.insert(unit);
    }
    for (auto& of_node : blocks_) {
      for (auto& [allocation, block] : of_node) {
        std::sort(block.units.begin(), block.units.end());
        block.length = static_cast<double>(block.units.size());
        if (block.units.size() < 2) continue;
        block.skip = of_several.count(block.units.front()) ? 0.5 : 0;
        block.length -= block.skip + (of_several.count(block.units.back()) ? 0.5 : 0);
      }
    }
  }

  bool is_read_by_all(size_t number, uint32_t unit) const {
    return from_.nodes > 2 && readers_[number].at(unit) + 1 >= from_.nodes;
  }

  void assign_reads(const std::vector<uint32_t>& read, const Block* block, uint32_t allocation,
                    size_t number, Phase* phase) {
    std::vector<uint32_t> below, above, others;
    for (const uint32_t unit : read) {
      if (reads_ == Reads::kAll || (reads_ == Reads::kAuto && is_read_by_all(number, unit))) {
        phase->assignment[unit] = {0, parts_ - 1};
      } else if (!block) {
        others.push_back(unit);
      } else if (unit < block->units.front()) {
        below.push_back(unit);
      } else if (unit > block->units.back()) {
        above.push_back(unit);
      } else if (const auto at = std::lower_bound(block->units.begin(), block->units.end(), unit);
                 *at == unit) {
        phase->assignment[unit] = parts_of(static_cast<size_t>(at - block->units.begin()), *block,
                                           is_aligned(allocation, *block));
      } else {
        others.push_back(unit);
      }
    }
    const size_t few = block ? std::max<size_t>(1, block->units.size() / 2) : 0;
    const bool is_halo = reads_ == Reads::kAuto && !(below.empty() && above.empty()) &&
                         below.size() <= few && above.size() <= few;
    if (is_halo) {
      for (const uint32_t unit : below) phase->assignment[unit] = {0, 0};
      for (const uint32_t unit : above) phase->assignment[unit] = {parts_ - 1, parts_ - 1};
      add_inner_halos(*block, is_aligned(allocation, *block), std::max(below.size(), above.size()),
                      phase);
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

  // Between parts j - 1 and j, the border lies at the start of unit `at` of the block, or in it.
  void add_inner_halos(const Block& block, bool aligned, size_t width, Phase* phase) const {
    const size_t size = block.units.size();
    for (uint32_t part = 1; part < parts_; part++) {
      const double border = block.skip + block.length * part / parts_;
      size_t at =
          aligned ? (size * part + parts_ - 1) / parts_ : static_cast<size_t>(border + kTiny);
      const bool divided = !aligned && border - static_cast<double>(at) > kTiny;
      std::vector<uint32_t>&lower = phase->halos[part - 1], &upper = phase->halos[part];
      at = std::min(at, size - 1);
      for (size_t i = at - std::min(at, width); i < at; i++) upper.push_back(block.units[i]);
      if (divided) upper.push_back(block.units[at]);
      for (size_t i = at; i < std::min(size, at + width + divided); i++)
        lower.push_back(block.units[i]);
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
    const Stretch& its = at->second;
    const double start = std::max(its.start, part * its.length / parts_),
                 limit = std::min(its.limit, (part + 1) * its.length / parts_);
    return static_cast<uint32_t>(
        unit.bytes * std::max(0.0, limit - start) / (its.limit - its.start) + 0.5);
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
        for (const uint32_t unit : phase.halos[part])
          script.push_back({0, unit, 0, 0, OpKind::kAccess, false});
      }
      began = number;
      const bool opens = section != last_section && section != 0;
      if (section != last_section) {
        in_section.clear();
        mine =
            section == 0 || is_taken_by_each(number, op.object) || (section - 1) % parts_ == part;
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
        case OpKind::kGive: keeps = false; break;  // it is of the recorded nodes
        case OpKind::kDiff:
        case OpKind::kAccess: keeps = section != 0 ? mine : accesses(phase, part, op.object); break;
        case OpKind::kTouch:
        case OpKind::kPush:
        case OpKind::kInterval: {
          std::vector<UnitBytes> left;
          for (const UnitBytes& unit : units) {
            const bool of_section =
                section != 0 && (op.kind != OpKind::kInterval || in_section.count(unit.unit) > 0);
            if (of_section ? mine : accesses(phase, part, unit.unit))
              left.push_back({unit.unit, of_section ? unit.bytes : share(phase, part, unit)});
          }
          made.list = list(std::move(left));
          keeps = made.list != 0;
          if (op.kind == OpKind::kPush && op.object < kWithBarrier)
            made.object = op.object * parts_ + part;
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
  std::vector<std::vector<Phase>> phases_;         // of each node
  std::vector<std::map<uint32_t, Block>> blocks_;  // of each node, by allocation
  std::set<uint32_t> shared_;  // allocations of which nodes have written the same unit in one phase
  // Of each phase: by how many nodes a unit is read.
  std::vector<std::unordered_map<uint32_t, uint32_t>> readers_;
};

}  // namespace

Workload scaled(const Workload& workload, uint32_t parts, Reads reads) {
  if (parts <= 1) return workload;
  return Scaler(workload, parts, reads).scale();
}

}  // namespace weir::predict
