// The molecules: SPC/Fw, a flexible water with harmonic bonds and angle, a Lennard-Jones
// interaction of oxygens, and charges. Interactions of two molecules fade out smoothly before the
// cutoff.
#include "water.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app.h"

namespace app::water {

namespace {

constexpr double kMass[kSites] = {15.9994, 1.008, 1.008};
constexpr double kCharge[kSites] = {-0.82, 0.41, 0.41};
constexpr double kBond = 1059.162, kBondLength = 1.012, kBend = 75.90, kAngle = 113.24 * M_PI / 180;
constexpr double kDepth = 0.1554253, kDiameter = 3.165492;  // Lennard-Jones
constexpr double kCoulomb = 332.0637;  // kcal/mol of two unit charges at one angstrom
constexpr double kAcceleration =
    418.4;                           // angstrom/ps^2 of one kcal/mol/angstrom on one atomic mass
constexpr double kDensity = 0.0334;  // molecules in a cubic angstrom
constexpr double kStep = 0.0005;
constexpr double kFadeFrom = 0.9;  // of the cutoff
constexpr double kDrift = 0.2;  // a molecule is predicted further than where it was put into a box
                                // by less than half of this
constexpr double kGear[kOrders] = {
    3.0 / 20,  251.0 / 360, 1,
    11.0 / 18, 1.0 / 6,     1.0 / 60};  // what of the corrected second derivative goes to each

// Towards zero, so a force and its reaction are the same quanta.
int64_t quanta(double value, double quantum) { return static_cast<int64_t>(value / quantum); }

struct Vector {
  double x[3];
};
Vector between(const double* from, const double* to) {
  return {{to[0] - from[0], to[1] - from[1], to[2] - from[2]}};
}
double dot(const Vector& a, const Vector& b) {
  return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

}  // namespace

Box box_for(long molecules, double cutoff) {
  const double side = std::cbrt(static_cast<double>(molecules) / kDensity);
  return {side, cutoff > 0 ? std::min(cutoff, side / 2) : side / 2, kStep};
}

// On a lattice, turned and moving at random.
Molecule at_start(const Box& box, long index, long molecules, uint64_t seed) {
  const long along = static_cast<long>(std::ceil(std::cbrt(static_cast<double>(molecules)) - 1e-9));
  const long at[3] = {index % along, index / along % along, index / along / along};
  const auto random = [&](uint64_t which) {
    return random_unit(seed, static_cast<uint64_t>(index) * 16 + which);
  };
  const double turn = 2 * M_PI * random(0), height = 2 * random(1) - 1,
               flat = std::sqrt(1 - height * height), roll = 2 * M_PI * random(2);
  const Vector axis = {{flat * std::cos(turn), flat * std::sin(turn), height}};
  // Two directions across the axis, of which the rolled mixture spans the molecule's plane with it.
  const Vector one = {{-std::sin(turn), std::cos(turn), 0}};
  const Vector two = {{-height * std::cos(turn), -height * std::sin(turn), flat}};
  Molecule molecule{};
  for (int d = 0; d < 3; ++d) {
    const double across = std::cos(roll) * one.x[d] + std::sin(roll) * two.x[d];
    const double centre =
        (static_cast<double>(at[d]) + 0.5) * box.side / static_cast<double>(along);
    const double speed = 4 * (random(3 + static_cast<uint64_t>(d)) - 0.5);
    for (int site = 0; site < kSites; ++site) {
      const double side = site == 0 ? 0 : site == 1 ? 1 : -1;
      const double forward = site == 0 ? 0 : std::cos(kAngle / 2);
      molecule.moved[0][site][d] =
          centre + kBondLength * (forward * axis.x[d] + side * std::sin(kAngle / 2) * across);
      molecule.moved[1][site][d] = speed * box.step;
    }
  }
  return molecule;
}

int64_t predict(Molecule& molecule) {
  for (int from = 0; from < kOrders - 1; ++from)
    for (int order = kOrders - 1; order > from; --order)
      for (int site = 0; site < kSites; ++site)
        for (int axis = 0; axis < 3; ++axis)
          molecule.moved[order - 1][site][axis] += molecule.moved[order][site][axis];

  const auto& place = molecule.moved[0];
  double force[kSites][3] = {}, energy = 0;
  const Vector arm[2] = {between(place[0], place[1]), between(place[0], place[2])};
  const double length[2] = {std::sqrt(dot(arm[0], arm[0])), std::sqrt(dot(arm[1], arm[1]))};
  for (int h = 0; h < 2; ++h) {
    const double stretch = length[h] - kBondLength;
    energy += kBond * stretch * stretch / 2;
    for (int axis = 0; axis < 3; ++axis) {
      const double pull = kBond * stretch * arm[h].x[axis] / length[h];
      force[h + 1][axis] -= pull;
      force[0][axis] += pull;
    }
  }
  const double cosine = std::clamp(dot(arm[0], arm[1]) / (length[0] * length[1]), -1.0, 1.0);
  const double bend = std::acos(cosine) - kAngle;
  energy += kBend * bend * bend / 2;
  const double by = kBend * bend /
                    std::sqrt(std::max(1 - cosine * cosine,
                                       1e-12));  // minus the derivative of the energy by the cosine
  for (int h = 0; h < 2; ++h)
    for (int axis = 0; axis < 3; ++axis) {
      const double turn =
          by * (arm[1 - h].x[axis] / length[1 - h] - cosine * arm[h].x[axis] / length[h]) /
          length[h];
      force[h + 1][axis] += turn;
      force[0][axis] -= turn;
    }
  for (int site = 0; site < kSites; ++site)
    for (int axis = 0; axis < 3; ++axis)
      molecule.forces.on[site][axis] = quanta(force[site][axis], kForceQuantum);
  return quanta(energy, kEnergyQuantum);
}

int64_t correct(const Box& box, Molecule& molecule) {
  double kinetic = 0;
  for (int site = 0; site < kSites; ++site)
    for (int axis = 0; axis < 3; ++axis) {
      const double acceleration = static_cast<double>(molecule.forces.on[site][axis]) *
                                  kForceQuantum * kAcceleration / kMass[site];
      const double missing = acceleration * box.step * box.step / 2 - molecule.moved[2][site][axis];
      for (int order = 0; order < kOrders; ++order)
        molecule.moved[order][site][axis] += kGear[order] * missing;
      const double speed = molecule.moved[1][site][axis] / box.step;
      kinetic += kMass[site] * speed * speed / 2 / kAcceleration;
    }
  // A molecule whose oxygen has left the box comes in at the other side, whole.
  for (int axis = 0; axis < 3; ++axis) {
    const double back = box.side * std::floor(molecule.moved[0][0][axis] / box.side);
    for (int site = 0; site < kSites; ++site) molecule.moved[0][site][axis] -= back;
  }
  return quanta(kinetic, kEnergyQuantum);
}

bool interact(const Box& box, const Molecule& a, const Molecule& b, Forces& on_a, Forces& on_b,
              int64_t& energy) {
  Vector oxygens = between(b.moved[0][0], a.moved[0][0]);  // from b to a
  double shift[3];                                         // of b, to its nearest image
  for (int axis = 0; axis < 3; ++axis) {
    shift[axis] = box.side * std::floor(oxygens.x[axis] / box.side + 0.5);
    oxygens.x[axis] -= shift[axis];
  }
  const double square = dot(oxygens, oxygens);
  if (square >= box.cutoff * box.cutoff) return false;

  double force[kSites][kSites][3];  // on a's site by b's
  double potential = 0;
  for (int i = 0; i < kSites; ++i)
    for (int j = 0; j < kSites; ++j) {
      double d[3], squared = 0;
      for (int axis = 0; axis < 3; ++axis) {
        d[axis] = a.moved[0][i][axis] - b.moved[0][j][axis] - shift[axis];
        squared += d[axis] * d[axis];
      }
      double charge = kCoulomb * kCharge[i] * kCharge[j] / std::sqrt(squared);
      double strength = charge / squared;
      if (i == 0 && j == 0) {
        const double sixth = std::pow(kDiameter, 6) / (squared * squared * squared);
        charge += 4 * kDepth * (sixth * sixth - sixth);
        strength += 24 * kDepth * (2 * sixth * sixth - sixth) / squared;
      }
      potential += charge;
      for (int axis = 0; axis < 3; ++axis) force[i][j][axis] = strength * d[axis];
    }

  // A factor on the potential, from one to zero, whose slope pushes the oxygens.
  const double distance = std::sqrt(square), fade_from = kFadeFrom * box.cutoff;
  const double x = std::max((distance - fade_from) / (box.cutoff - fade_from), 0.0);
  const double factor = 1 - x * x * x * (10 - 15 * x + 6 * x * x);
  const double slope = -30 * x * x * (1 - x) * (1 - x) / (box.cutoff - fade_from);
  for (int i = 0; i < kSites; ++i)
    for (int j = 0; j < kSites; ++j)
      for (int axis = 0; axis < 3; ++axis) {
        double push = factor * force[i][j][axis];
        if (i == 0 && j == 0) push -= slope * potential * oxygens.x[axis] / distance;
        const int64_t by = quanta(push, kForceQuantum);
        on_a.on[i][axis] += by;
        on_b.on[j][axis] -= by;
      }
  energy += quanta(factor * potential, kEnergyQuantum);
  return true;
}

int box_of(const Box& box, const Molecule& molecule, long boxes) {
  long which = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const long at =
        static_cast<long>(molecule.moved[0][0][axis] / box.side * static_cast<double>(boxes));
    which = which * boxes + std::clamp(at, 0L, boxes - 1);
  }
  return static_cast<int>(which);
}

double smallest_box(const Box& box) { return box.cutoff + kDrift; }

std::vector<int> neighbours(int which, long boxes) {
  std::vector<int> found;
  const long at[3] = {which / boxes / boxes, which / boxes % boxes, which % boxes};
  for (long i = -1; i <= 1; ++i)
    for (long j = -1; j <= 1; ++j)
      for (long k = -1; k <= 1; ++k)
        found.push_back(static_cast<int>(
            ((at[0] + i + boxes) % boxes * boxes + (at[1] + j + boxes) % boxes) * boxes +
            (at[2] + k + boxes) % boxes));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Simulation simulate(const Box& box, long count, long iterations, long boxes, long measured_from,
                    uint64_t seed) {
  Simulation result{};
  std::vector<Molecule>& all = result.molecules;
  for (long i = 0; i < count; ++i) all.push_back(at_start(box, i, count, seed));
  std::vector<std::vector<int>> beside;
  for (int which = 0; which < boxes * boxes * boxes; ++which)
    beside.push_back(neighbours(which, boxes));
  double from = 0;
  for (long iteration = 0; iteration < iterations; ++iteration) {
    if (iteration == measured_from) from = seconds();
    Energies energies{};
    std::vector<std::vector<long>> in(beside.size());
    for (long i = 0; i < count; ++i) in[box_of(box, all[i], boxes)].push_back(i);
    for (Molecule& molecule : all) energies.potential += predict(molecule);
    for (size_t which = 0; which < in.size(); ++which)
      for (long i : in[which])
        for (int other : beside[which])
          for (long j : in[other])
            if (i < j)
              interact(box, all[i], all[j], all[i].forces, all[j].forces, energies.potential);
    for (Molecule& molecule : all) energies.kinetic += correct(box, molecule);
    result.energies.push_back(energies);
  }
  result.seconds = seconds() - from;
  return result;
}

void compare(std::string& wrong, const Simulation& expected, const std::vector<Molecule>& molecules,
             const std::vector<Energies>& energies) {
  for (size_t i = 0; i < molecules.size(); ++i) {
    const auto found = molecules[i].moved[0], wanted = expected.molecules[i].moved[0];
    for (int site = 0; site < kSites; ++site)
      for (int axis = 0; axis < 3; ++axis)
        if (found[site][axis] != wanted[site][axis])
          report_difference(wrong, "coordinate of molecule", static_cast<long>(i),
                            found[site][axis], wanted[site][axis]);
    if (memcmp(&molecules[i], &expected.molecules[i], sizeof(Molecule)))
      report_difference(wrong, "derivatives or forces of molecule", static_cast<long>(i), 0, 0);
  }
  for (size_t i = 0; i < energies.size(); ++i) {
    const double found =
        static_cast<double>(energies[i].potential + energies[i].kinetic) * kEnergyQuantum;
    const double wanted =
        static_cast<double>(expected.energies[i].potential + expected.energies[i].kinetic) *
        kEnergyQuantum;
    if (energies[i] != expected.energies[i])
      report_difference(wrong, "energy in iteration", static_cast<long>(i), found, wanted);
  }
}

uint64_t checksum_of(const std::vector<Molecule>& molecules,
                     const std::vector<Energies>& energies) {
  Checksum sum;
  for (const Molecule& molecule : molecules)
    for (const auto& site : molecule.moved[0])
      for (double coordinate : site) sum.add(coordinate);
  for (const Energies& one : energies) {
    sum.add(one.potential);
    sum.add(one.kinetic);
  }
  return sum.value();
}

}  // namespace app::water
