// Question: what do tapes save where phases with locks and phases with barriers alternate?
// Command:  mpirun -n N dsm_water-nsquared [--molecules N] [--iterations N] [--tapes
//           user|auto|replay] [--check]
// Figure:   seconds of all iterations but the first (Tapeworm's table 3).
//
// A box of water, each molecule with all that are near enough; sharing is that of SPLASH-2's
// program of this name. A worker has a band of molecules. In each iteration
//   it predicts the places of its own, and their inner forces (barrier)
//   for each of its molecules it goes through the half of all that follow in the ring, and collects
//   the forces privately; then it adds them to the shared ones, each group of molecules under its
//   lock, beginning with its own band, so that not all want the same one (barrier)
//   it corrects its own, and adds their energies to the iteration's, under a lock (barrier)
// A user lock brings a whole group, though only what is near enough in it will be changed: the
// paper says that its regions are guesses too. SPLASH-2 has a lock for each molecule; groups of 8
// make about as many messages for locks as the paper counts.
#include <algorithm>
#include <vector>

#include "app.h"
#include "water.h"

namespace {

using namespace app;
using namespace app::water;

enum : uint32_t { kEnergiesLock = 0 };  // those of groups follow

class WaterNsquared : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    count_ = options.number("molecules");
    group_ = options.number("group");
    box_ = box_for(count_, 0);
    molecules_ = shared_array<Molecule>(static_cast<size_t>(count_), "water.molecules");
    energies_ =
        shared_array<Energies>(static_cast<size_t>(options.number("iterations")), "water.energies");
  }

  void work(unsigned worker, unsigned workers) override {
    const long iterations = options_.number("iterations");
    const Range mine = share_of(count_, worker, workers);
    for (long i = mine.begin; i < mine.end; ++i)
      molecules_[i] = at_start(box_, i, count_, options_.seed);
    weir_dsm_barrier(0);
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) begin_measured(worker);
      Energies energies{};
      for (long i = mine.begin; i < mine.end; ++i) energies.potential += predict(molecules_[i]);
      barrier(options_.tapes, 1);
      interact_all(mine, energies.potential);
      barrier(options_.tapes, 2);
      for (long i = mine.begin; i < mine.end; ++i) energies.kinetic += correct(box_, molecules_[i]);
      if (mine.size()) add(energies, iteration);
      barrier(options_.tapes, 3);
    }
    end_measured(worker);
  }

  uint64_t checksum() override { return checksum_of(molecules(), energies()); }

  double check(std::string& wrong) override {
    const Simulation expected = simulate(box_, count_, options_.number("iterations"), 1,
                                         options_.first_measured(), options_.seed);
    compare(wrong, expected, molecules(), energies());
    return expected.seconds;
  }

 private:
  std::vector<Molecule> molecules() const { return {molecules_, molecules_ + count_}; }
  std::vector<Energies> energies() const {
    return {energies_, energies_ + options_.number("iterations")};
  }

  void interact_all(Range mine, int64_t& energy) {
    std::vector<Forces> forces(count_);
    std::vector<bool> touched(count_);
    for (long i = mine.begin; i < mine.end; ++i) {
      // Of an even number the opposite molecule is in both halves: only the first one of the two
      // takes it.
      const long last = count_ % 2 == 0 && i >= count_ / 2 ? count_ / 2 - 1 : count_ / 2;
      for (long step = 1; step <= last; ++step) {
        const long other = (i + step) % count_, a = std::min(i, other), b = std::max(i, other);
        if (interact(box_, molecules_[a], molecules_[b], forces[a], forces[b], energy))
          touched[a] = touched[b] = true;
      }
    }
    const long groups = (count_ + group_ - 1) / group_;
    for (long step = 0; step < groups; ++step) {
      const long which = (mine.begin / group_ + step) % groups;
      const Range its = {which * group_, std::min((which + 1) * group_, count_)};
      const auto first = std::find(touched.begin() + its.begin, touched.begin() + its.end, true);
      if (first == touched.begin() + its.end) continue;
      lock(options_.tapes, static_cast<uint32_t>(which + 1), molecules_ + its.begin,
           static_cast<size_t>(its.size()) * sizeof(Molecule));
      for (long i = first - touched.begin(); i < its.end; ++i)
        if (touched[i]) molecules_[i].forces.add(forces[i]);
      weir_dsm_unlock(static_cast<uint32_t>(which + 1));
    }
  }

  void add(const Energies& energies, long iteration) {
    lock(options_.tapes, kEnergiesLock, energies_,
         static_cast<size_t>(options_.number("iterations")) * sizeof(Energies));
    energies_[iteration].potential += energies.potential;
    energies_[iteration].kinetic += energies.kinetic;
    weir_dsm_unlock(kEnergiesLock);
  }

  Options options_;
  long count_ = 0, group_ = 1;
  Box box_{};
  Molecule* molecules_ = nullptr;
  Energies* energies_ = nullptr;
};

const Description kDescription = {"water-nsquared",
                                  "water, every molecule with every other one",
                                  {{"molecules", "in the box", 512, 512, 60},
                                   {"group", "molecules under one lock", 8, 8, 5},
                                   {"iterations", "steps of time", 5, 5, 3}},
                                  Tapes{.automatic = true, .replay = true}};

}  // namespace

int main(int argc, char** argv) {
  static WaterNsquared program;
  return app::run(argc, argv, kDescription, program);
}
