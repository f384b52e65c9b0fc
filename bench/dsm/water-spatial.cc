// Question: what do tapes save where neighbours read each other's molecules, and locks guard only
// the lists that these are in?
// Command:  mpirun -n N dsm_water-spatial [--molecules N] [--iterations N] [--tapes
//           user|auto|replay] [--check]
// Figure:   seconds of all iterations but the first (Tapeworm's table 5).
//
// The same water as water-nsquared, with a shorter cutoff. The box is divided into smaller ones, so
// large that molecules see each other only in the same or in neighbouring ones. A worker has a
// block of boxes; each box has a list of its molecules, which stay where they lie in memory when
// they move to another box. In each iteration a worker
//   predicts the molecules that are in its boxes (barrier)
//   computes the forces on them, from those in its boxes and in the boxes around (barrier)
//   corrects them, puts those that have moved into the list of their new box, each list under its
//   lock, and adds the energies to the iteration's (barrier)
// The force between molecules of two workers is computed by both, as in SPLASH-2; so nobody writes
// to another's molecule, and no lock is needed for forces.
//
// Invariant: lists change between the second and the third barrier only; who walks them in between
// goes by its own notes.
#include <algorithm>
#include <vector>

#include "app.h"
#include "water.h"

namespace {

using namespace app;
using namespace app::water;

constexpr double kCutoff = 6;

struct Link {
  Molecule molecule;
  int32_t next;  // in its box; -1: none
};

class WaterSpatial : public Program {
 public:
  void prepare(const Options& options, unsigned workers) override {
    options_ = options;
    count_ = options.number("molecules");
    box_ = box_for(count_, kCutoff);
    boxes_ = std::max(1L, static_cast<long>(box_.side / smallest_box(box_)));
    divide(workers);
    links_ = shared_array<Link>(static_cast<size_t>(count_), "water.molecules");
    heads_ = shared_array<int32_t>(static_cast<size_t>(all_boxes()), "water.boxes");
    energies_ =
        shared_array<Energies>(static_cast<size_t>(options.number("iterations")), "water.energies");
    place_all();
  }

  void work(unsigned worker, unsigned) override {
    const long iterations = options_.number("iterations");
    std::vector<int> mine;
    for (int which = 0; which < all_boxes(); ++which)
      if (owner(which) == worker) mine.push_back(which);
    for (int which : mine) fill(which);
    weir_dsm_barrier(0);
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) begin_measured(worker);
      Energies energies{};
      std::vector<std::vector<int32_t>> in(mine.size());
      for (size_t i = 0; i < mine.size(); ++i) in[i] = members(mine[i]);
      for (const auto& box : in)
        for (int32_t i : box) energies.potential += predict(links_[i].molecule);
      barrier(options_.tapes, 1);
      interact_all(worker, mine, in, energies.potential);
      barrier(options_.tapes, 2);
      for (size_t i = 0; i < mine.size(); ++i)
        for (int32_t one : in[i]) {
          energies.kinetic += correct(box_, links_[one].molecule);
          move(one, mine[i], box_of(box_, links_[one].molecule, boxes_));
        }
      if (!mine.empty()) add(energies, iteration);
      barrier(options_.tapes, 3);
    }
    end_measured(worker);
  }

  uint64_t checksum() override { return checksum_of(molecules(), energies()); }

  double check(std::string& wrong) override {
    const Simulation expected = simulate(box_, count_, options_.number("iterations"), boxes_,
                                         options_.first_measured(), options_.seed);
    compare(wrong, expected, molecules(), energies());
    std::vector<int32_t> listed;
    for (int which = 0; which < all_boxes(); ++which)
      for (int32_t i : members(which)) listed.push_back(i);
    std::sort(listed.begin(), listed.end());
    for (long i = 0; i < count_; ++i)
      if (i >= static_cast<long>(listed.size()) || listed[i] != i) {
        report_difference(wrong, "molecule in no list, or in two:", i, 0, 0);
        break;
      }
    return expected.seconds;
  }

 private:
  int all_boxes() const { return static_cast<int>(boxes_ * boxes_ * boxes_); }

  // A grid of workers, as near to a cube as their number lets it be.
  void divide(unsigned workers) {
    unsigned best = ~0u;
    for (unsigned x = 1; x <= workers; ++x)
      for (unsigned y = 1; workers % x == 0 && y <= workers / x; ++y)
        if (workers / x % y == 0 && x + y + workers / x / y < best) {
          best = x + y + workers / x / y;
          grid_[0] = x, grid_[1] = y, grid_[2] = workers / x / y;
        }
  }
  unsigned owner(int which) const {
    const long at[3] = {which / boxes_ / boxes_, which / boxes_ % boxes_, which % boxes_};
    unsigned worker = 0;
    for (int axis = 0; axis < 3; ++axis)
      worker = worker * grid_[axis] + owner_of(at[axis], boxes_, grid_[axis]);
    return worker;
  }

  // Where each molecule lies in memory: those of one worker together, box by box. Private, the same
  // on all nodes.
  void place_all() {
    std::vector<std::pair<std::pair<unsigned, int>, long>> order;
    for (long i = 0; i < count_; ++i) {
      const int which = box_of(box_, at_start(box_, i, count_, options_.seed), boxes_);
      order.push_back({{owner(which), which}, i});
    }
    std::sort(order.begin(), order.end());
    place_.resize(count_);
    molecule_at_.resize(count_);
    for (long at = 0; at < count_; ++at) {
      place_[order[at].second] = static_cast<int32_t>(at);
      molecule_at_[at] = static_cast<int32_t>(order[at].second);
    }
  }

  void fill(int which) {
    int32_t head = -1;
    for (long i = 0; i < count_; ++i) {
      const Molecule molecule = at_start(box_, i, count_, options_.seed);
      if (box_of(box_, molecule, boxes_) != which) continue;
      links_[place_[i]] = {molecule, head};
      head = place_[i];
    }
    heads_[which] = head;
  }

  std::vector<int32_t> members(int which) const {
    std::vector<int32_t> found;
    for (int32_t i = heads_[which]; i >= 0; i = links_[i].next) found.push_back(i);
    return found;
  }

  void interact_all(unsigned worker, const std::vector<int>& mine,
                    const std::vector<std::vector<int32_t>>& in, int64_t& energy) {
    std::vector<Forces> forces(count_);
    for (size_t i = 0; i < mine.size(); ++i)
      for (int other : neighbours(mine[i], boxes_)) {
        const bool own = owner(other) == worker;
        for (int32_t b = heads_[other]; b >= 0; b = links_[b].next)
          for (int32_t a : in[i])
            if (molecule_at_[a] < molecule_at_[b])
              interact(box_, links_[a].molecule, links_[b].molecule, forces[a], forces[b], energy);
            else if (!own) interact_other(a, b, forces[a]);
      }
    for (const auto& box : in)
      for (int32_t i : box) links_[i].molecule.forces.add(forces[i]);
  }
  // The other's worker counts the energy, and the force on it.
  void interact_other(int32_t a, int32_t b, Forces& on_a) const {
    Forces not_mine{};
    int64_t not_counted = 0;
    interact(box_, links_[b].molecule, links_[a].molecule, not_mine, on_a, not_counted);
  }

  void move(int32_t which, int from, int to) {
    if (from == to) return;
    lock_box(from);
    int32_t* at = &heads_[from];
    while (*at != which) at = &links_[*at].next;
    *at = links_[which].next;
    weir_dsm_unlock(static_cast<uint32_t>(from));
    lock_box(to);
    links_[which].next = heads_[to];
    heads_[to] = which;
    weir_dsm_unlock(static_cast<uint32_t>(to));
  }
  void lock_box(int which) {
    lock(options_.tapes, static_cast<uint32_t>(which), &heads_[which], sizeof heads_[which]);
  }

  void add(const Energies& energies, long iteration) {
    const auto number = static_cast<uint32_t>(all_boxes());
    lock(options_.tapes, number, energies_,
         static_cast<size_t>(options_.number("iterations")) * sizeof(Energies));
    energies_[iteration].potential += energies.potential;
    energies_[iteration].kinetic += energies.kinetic;
    weir_dsm_unlock(number);
  }

  std::vector<Molecule> molecules() const {
    std::vector<Molecule> all;
    for (long i = 0; i < count_; ++i) all.push_back(links_[place_[i]].molecule);
    return all;
  }
  std::vector<Energies> energies() const {
    return {energies_, energies_ + options_.number("iterations")};
  }

  Options options_;
  long count_ = 0, boxes_ = 1;  // boxes: along each axis
  Box box_{};
  unsigned grid_[3] = {1, 1, 1};
  std::vector<int32_t> place_, molecule_at_;
  Link* links_ = nullptr;
  int32_t* heads_ = nullptr;
  Energies* energies_ = nullptr;
};

const Description kDescription = {
    "water-spatial",
    "water, with molecules in boxes",
    {{"molecules", "in all boxes", 1024, 1024, 300}, {"iterations", "steps of time", 5, 5, 3}},
    Tapes{.automatic = true, .replay = true}};

}  // namespace

int main(int argc, char** argv) {
  static WaterSpatial program;
  return app::run(argc, argv, kDescription, program);
}
