// What both waters compute: flexible molecules of three sites in a periodic box, as SPLASH-2's do,
// by a predictor-corrector of sixth order in time.
//
// Units: angstrom, picosecond, atomic mass, kcal/mol. Forces and energies are added up as whole
// numbers of a small quantum. So a sum does not depend on the order of its terms, and every
// division of work gives the same motion to the last bit.
#pragma once

#include <stdint.h>

#include <string>
#include <vector>

namespace app::water {

constexpr int kSites = 3;  // oxygen, hydrogen, hydrogen
// Of a site's coordinate: it and its derivatives, each times step^order / order!.
constexpr int kOrders = 6;
constexpr double kForceQuantum = 0x1p-24, kEnergyQuantum = 0x1p-24;

struct Forces {
  int64_t on[kSites][3];  // in quanta

  void add(const Forces& other) {
    for (int site = 0; site < kSites; ++site)
      for (int axis = 0; axis < 3; ++axis) on[site][axis] += other.on[site][axis];
  }
  bool operator==(const Forces&) const = default;
};

struct Molecule {
  double moved[kOrders][kSites][3];
  Forces forces;
};

struct Energies {  // in quanta
  int64_t potential, kinetic;
  bool operator==(const Energies&) const = default;
};

struct Box {
  double side, cutoff;  // of the periodic box; beyond which distance of oxygens molecules do not
                        // see each other, at most half the side
  double step;          // of time
};

// With the density of water. `cutoff` 0: half the side.
Box box_for(long molecules, double cutoff);
Molecule at_start(const Box& box, long index, long molecules, uint64_t seed);

// One step of a molecule is predict(), which also begins the forces with those inside of the
// molecule, then all interactions, then correct().
int64_t predict(Molecule& molecule);                  // answers the potential energy inside
int64_t correct(const Box& box, Molecule& molecule);  // answers the kinetic energy
// Answers false, and touches nothing, where they do not see each other; else adds to forces and
// energy. For the same bits, the same one of two molecules must be `a`.
bool interact(const Box& box, const Molecule& a, const Molecule& b, Forces& on_a, Forces& on_b,
              int64_t& energy);

// The sequential version: each pair once, of all (boxes 1) or of those in neighbouring ones of
// boxes^3.
struct Simulation {
  std::vector<Molecule> molecules;
  std::vector<Energies> energies;  // of each iteration
  double seconds;                  // from iteration `measured_from` on
};
Simulation simulate(const Box& box, long molecules, long iterations, long boxes, long measured_from,
                    uint64_t seed);

// Which of boxes^3 a molecule is in. Molecules see each other only if in the same or in
// neighbouring ones, if these are not smaller than smallest_box says.
int box_of(const Box& box, const Molecule& molecule, long boxes);
double smallest_box(const Box& box);
// The box itself and those that touch it, each once.
std::vector<int> neighbours(int which, long boxes);

void compare(std::string& wrong, const Simulation& expected, const std::vector<Molecule>& molecules,
             const std::vector<Energies>& energies);
uint64_t checksum_of(const std::vector<Molecule>& molecules, const std::vector<Energies>& energies);

}  // namespace app::water
