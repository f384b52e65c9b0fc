// Molecules like water's, and what both of the programs water_nsquared and water_spatial compute
// with them.
//
// A molecule is three atoms, H O H, held together by springs. Molecules act on each other by the
// charges of all atoms and by a Lennard-Jones force of the oxygens (the numbers are those of
// flexible SPC), up to a distance of the oxygens, below which both are switched off smoothly, so
// that energy stays. The box is periodic. A predictor and corrector of Gear's kind keeps six
// derivatives of each coordinate, as SPLASH-2's water does.
//
// Forces and energies are in fixed point wherever more than one addition meets: addition of
// integers is associative, so the sums depend neither on the number of threads nor on who gets a
// lock first. What is added at one end of a pair of atoms is subtracted at the other, so momentum
// stays but for the rounding of the integration.
//
// Units: angstrom, picosecond, atomic mass, elementary charge; of energy 10 J/mol.
#ifndef WEIR_BENCH_WATER_H
#define WEIR_BENCH_WATER_H
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

enum { kAtoms = 3, kOxygen = 1, kDerivatives = 6, kMaxSteps = 256 };

struct Molecule {
  double at[kDerivatives][kAtoms][3];  // derivative k of the place, times step^k / k!
  int64_t force[kAtoms][3];            // x kForceScale
  struct Molecule* next;               // in a list, of water_spatial
};

// What is summed over molecules and pairs, x kEnergyScale.
struct Sums {
  // Inside: potential energy of the springs; between: of pairs.
  int64_t inside, between, kinetic, virial;
};

struct Setting {
  int side, steps;  // side: molecules along each side of the box
};

struct Water {
  struct Molecule* molecules;
  long count;
  double box, reach;  // side of the box; distance from which on molecules do not act on each other
  int steps;
  struct Sums sums[kMaxSteps + 1];  // of each step
};

static const double kForceScale = 0x1p28, kEnergyScale = 0x1p20;
static const double kStep = 0.0003, kSpacing = 3.104;  // the density of water
static const double kMass[kAtoms] = {1.008, 15.9994, 1.008}, kCharge[kAtoms] = {0.41, -0.82, 0.41};
static const double kCoulomb = 138935.458, kBoltzmann = 0.83144626, kTemperature = 300;
static const double kBond = 443153, kBondLength = 1.012;       // springs O-H
static const double kOpening = 102361, kOpeningLength = 1.69;  // spring H-H
static const double kDepth = 65.0198, kDiameter = 3.165492;    // Lennard-Jones
static const double kFade = 1;  // forces are switched off within this below reach

// --- the beginning

// Molecules of any orientation nearly on a grid, whose planes are also walls of water_spatial's
// boxes, so that some cross them soon; and speeds of kTemperature that add up to no momentum.
static inline void make_water(struct Water* water, const struct Setting* setting, double reach,
                              uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  const long side = setting->side;
  memset(water, 0, sizeof *water);
  water->count = side * side * side;
  water->box = (double)side * kSpacing;
  water->reach = reach > 0 ? reach : water->box / 2;
  water->steps = setting->steps;
  water->molecules = calloc((size_t)water->count, sizeof *water->molecules);
  must(!water->molecules, "malloc");
  double momentum[3] = {0};
  for (long m = 0; m < water->count; ++m) {
    struct Molecule* molecule = &water->molecules[m];
    const long grid[3] = {m / side / side, m / side % side, m % side};
    // Two directions at right angles: from O to the middle of the H, and from H to H.
    double along[3], across[3], length = 0, product = 0;
    for (int d = 0; d < 3; ++d) along[d] = random_normal(&random), length += along[d] * along[d];
    for (int d = 0; d < 3; ++d) along[d] /= sqrt(length);
    for (int d = 0; d < 3; ++d) across[d] = random_normal(&random), product += across[d] * along[d];
    length = 0;
    for (int d = 0; d < 3; ++d) across[d] -= product * along[d], length += across[d] * across[d];
    for (int d = 0; d < 3; ++d) across[d] /= sqrt(length);
    const double half = kOpeningLength / 2, high = sqrt(kBondLength * kBondLength - half * half);
    for (int d = 0; d < 3; ++d) {
      const double oxygen = (double)grid[d] * kSpacing + random_between(&random, 0, 0.02);
      molecule->at[0][kOxygen][d] = oxygen;
      molecule->at[0][0][d] = oxygen + high * along[d] - half * across[d];
      molecule->at[0][2][d] = oxygen + high * along[d] + half * across[d];
      for (int a = 0; a < kAtoms; ++a) {
        const double speed = random_normal(&random) * sqrt(kBoltzmann * kTemperature / kMass[a]);
        molecule->at[1][a][d] = speed * kStep;
        momentum[d] += speed * kMass[a];
      }
    }
  }
  const double mass = (kMass[0] + kMass[1] + kMass[2]) * (double)water->count;
  for (long m = 0; m < water->count; ++m) {
    for (int a = 0; a < kAtoms; ++a) {
      for (int d = 0; d < 3; ++d) water->molecules[m].at[1][a][d] -= momentum[d] / mass * kStep;
    }
  }
}

// --- forces

// A force `along` times `factor` on `a`, and the opposite on `b`.
static inline void push_apart(int64_t* a, int64_t* b, const double* along, double factor) {
  for (int d = 0; d < 3; ++d) {
    const int64_t push = (int64_t)(along[d] * factor * kForceScale);
    a[d] += push;
    b[d] -= push;
  }
}

static inline double difference(const double* a, const double* b, double* away) {
  double squared = 0;
  for (int d = 0; d < 3; ++d) {
    away[d] = a[d] - b[d];
    squared += away[d] * away[d];
  }
  return squared;
}

static inline double pull_spring(struct Molecule* molecule, int a, int b, double stiffness,
                                 double length) {
  double away[3];
  const double distance = sqrt(difference(molecule->at[0][a], molecule->at[0][b], away)),
               longer = distance - length;
  push_apart(molecule->force[a], molecule->force[b], away, -stiffness * longer / distance);
  return stiffness / 2 * longer * longer;
}

// Sets the forces to those of the molecule's springs.
static inline void pull_inside(struct Molecule* molecule, struct Sums* sums) {
  memset(molecule->force, 0, sizeof molecule->force);
  double energy = pull_spring(molecule, 0, kOxygen, kBond, kBondLength);
  energy += pull_spring(molecule, 2, kOxygen, kBond, kBondLength);
  energy += pull_spring(molecule, 0, 2, kOpening, kOpeningLength);
  sums->inside += (int64_t)(energy * kEnergyScale);
}

// Adds the forces of two molecules on each other to what is given for each; 0: they are too far
// from each other. The same whichever comes first: it computes from the molecule at the lower
// address.
static inline int push_pair(const struct Water* water, const struct Molecule* a,
                            const struct Molecule* b, int64_t (*on_a)[3], int64_t (*on_b)[3],
                            struct Sums* sums) {
  if (a > b) {
    const struct Molecule* other = a;
    int64_t(*on_other)[3] = on_a;
    a = b, on_a = on_b;
    b = other, on_b = on_other;
  }
  double away[3], moved[kAtoms][3],
      squared = 0;  // moved: the atoms of b in the image that is nearest to a
  for (int d = 0; d < 3; ++d) {
    const double straight = a->at[0][kOxygen][d] - b->at[0][kOxygen][d];
    const double shift = straight > water->box / 2    ? water->box
                         : straight < -water->box / 2 ? -water->box
                                                      : 0;
    away[d] = straight - shift;
    squared += away[d] * away[d];
    for (int i = 0; i < kAtoms; ++i) moved[i][d] = b->at[0][i][d] + shift;
  }
  if (squared >= water->reach * water->reach) return 0;

  const double distance = sqrt(squared);
  double share = 1,
         // Of energy and force that is not switched off; how it changes with the distance.
      slope = 0;
  if (distance > water->reach - kFade) {
    const double faded = (distance - (water->reach - kFade)) / kFade;
    share = 1 + faded * faded * (2 * faded - 3);
    slope = 6 * faded * (faded - 1) / kFade;
  }
  const double ratio = kDiameter * kDiameter / squared, sixth = ratio * ratio * ratio;
  double energy = 4 * kDepth * sixth * (sixth - 1);
  double radial =
      share * 24 * kDepth * sixth * (2 * sixth - 1) / squared;  // force through distance
  double virial = radial * squared;
  for (int i = 0; i < kAtoms; ++i) {
    for (int j = 0; j < kAtoms; ++j) {
      double apart[3];
      const double near = difference(a->at[0][i], moved[j], apart);
      const double of_pair = kCoulomb * kCharge[i] * kCharge[j] / sqrt(near);
      energy += of_pair;
      const double factor = share * of_pair / near;
      push_apart(on_a[i], on_b[j], apart, factor);
      virial += factor * (apart[0] * away[0] + apart[1] * away[1] + apart[2] * away[2]);
    }
  }
  const double fading = -slope * energy / distance;
  push_apart(on_a[kOxygen], on_b[kOxygen], away, radial + fading);
  sums->between += (int64_t)(share * energy * kEnergyScale);
  sums->virial += (int64_t)((virial + fading * squared) * kEnergyScale);
  return 1;
}

// --- motion

// Every derivative by those above it (Taylor); then the molecule is put back into the box, by its
// oxygen.
static inline void predict(const struct Water* water, struct Molecule* molecule) {
  for (int from = kDerivatives - 2; from >= 0; --from) {
    for (int k = from; k < kDerivatives - 1; ++k) {
      for (int a = 0; a < kAtoms; ++a) {
        for (int d = 0; d < 3; ++d) molecule->at[k][a][d] += molecule->at[k + 1][a][d];
      }
    }
  }
  for (int d = 0; d < 3; ++d) {
    const double oxygen = molecule->at[0][kOxygen][d];
    const double shift = oxygen < 0 ? water->box : oxygen >= water->box ? -water->box : 0;
    for (int a = 0; a < kAtoms; ++a) molecule->at[0][a][d] += shift;
  }
}

// By the difference between the acceleration that the forces make and the predicted one. In step 0,
// which only sets the acceleration, places and speeds stay.
static inline void correct(struct Molecule* molecule, int step, struct Sums* sums) {
  static const double kGear[kDerivatives] = {3.0 / 20,  251.0 / 360, 1,
                                             11.0 / 18, 1.0 / 6,     1.0 / 60};
  double energy = 0;
  for (int a = 0; a < kAtoms; ++a) {
    const double scale = kStep * kStep / 2 / kMass[a] / kForceScale;
    for (int d = 0; d < 3; ++d) {
      const double wrong = (double)molecule->force[a][d] * scale - molecule->at[2][a][d];
      if (step == 0) molecule->at[2][a][d] += wrong;
      for (int k = 0; k < kDerivatives && step > 0; ++k) molecule->at[k][a][d] += kGear[k] * wrong;
      energy += kMass[a] / 2 * molecule->at[1][a][d] * molecule->at[1][a][d];
    }
  }
  sums->kinetic += (int64_t)(energy / (kStep * kStep) * kEnergyScale);
}

// --- the sequential version: all pairs

static inline void run_sequential(struct Water* water) {
  for (int step = 0; step <= water->steps; ++step) {
    struct Sums* sums = &water->sums[step];
    for (long m = 0; m < water->count; ++m) {
      if (step > 0) predict(water, &water->molecules[m]);
      pull_inside(&water->molecules[m], sums);
    }
    for (long m = 0; m < water->count; ++m) {
      struct Molecule* a = &water->molecules[m];
      for (struct Molecule* b = a + 1; b < water->molecules + water->count; ++b) {
        push_pair(water, a, b, a->force, b->force, sums);
      }
    }
    for (long m = 0; m < water->count; ++m) correct(&water->molecules[m], step, sums);
  }
}

static inline void add_sums(struct Sums* sums, const struct Sums* more) {
  sums->inside += more->inside;
  sums->between += more->between;
  sums->kinetic += more->kinetic;
  sums->virial += more->virial;
}

static inline void add_forces(struct Molecule* molecule, const int64_t (*force)[3]) {
  for (int a = 0; a < kAtoms; ++a) {
    for (int d = 0; d < 3; ++d) molecule->force[a][d] += force[a][d];
  }
}

// --- the result

static inline double total_energy(const struct Sums* sums) {
  return (double)(sums->inside + sums->between + sums->kinetic) / kEnergyScale;
}

// All momenta added up, against the sum of their lengths.
static inline double rest_of_momentum(const struct Water* water) {
  double sum[3] = {0}, lengths = 0;
  for (long m = 0; m < water->count; ++m) {
    for (int a = 0; a < kAtoms; ++a) {
      const double* speed = water->molecules[m].at[1][a];
      for (int d = 0; d < 3; ++d) sum[d] += kMass[a] * speed[d];
      lengths += kMass[a] * sqrt(speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]);
    }
  }
  return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / lengths;
}

// The status to end with: 0 where energy and momentum stayed.
static inline int print_water(const struct Water* water) {
  uint64_t sum = 0;
  for (long m = 0; m < water->count; ++m) {
    sum = digest(sum, water->molecules[m].at, sizeof water->molecules[m].at);
    sum = digest(sum, water->molecules[m].force, sizeof water->molecules[m].force);
  }
  sum = digest(sum, water->sums, sizeof water->sums);
  const struct Sums* last = &water->sums[water->steps];
  const double kinetic = (double)last->kinetic / kEnergyScale,
               virial = (double)last->virial / kEnergyScale;
  const struct Sums* first =
      &water->sums[water->steps / 2 < 8 ? water->steps / 2 : 8];  // derivatives are known by then
  const double drift = fabs(total_energy(last) - total_energy(first)) / kinetic;
  const double molecules = (double)water->count, volume = water->box * water->box * water->box;
  const double heat = 2 * kinetic / 9;  // molecules x Boltzmann's constant x temperature
  const int stays = drift < 1e-4, rests = rest_of_momentum(water) < 1e-9;
  printf(
      "%ld molecules, %d steps, energy %.6f, then %.6f, temperature %.3f, pressure %.6f, digest "
      "%016lx\n",
      water->count, water->steps, total_energy(first) / molecules, total_energy(last) / molecules,
      heat / (molecules * kBoltzmann), (heat + virial / 3) / volume, (unsigned long)sum);
  printf("energy stays: %s, momentum stays: %s\n", stays ? "yes" : "no", rests ? "yes" : "no");
  return !(stays && rests);
}

#endif
