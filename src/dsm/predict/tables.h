// Predictions for a reader.
#pragma once

#include <string>
#include <vector>

#include "dsm/predict/scaling.h"
#include "dsm/predict/simulation.h"

namespace weir::predict {

std::string protocol_name(Protocol protocol);
std::string tapes_name(Tapes tapes);

// With the recorded nodes and Settings::recorded_locks, the model's order is taken where the
// recorded one leads nowhere.
Prediction predict(const Workload& base, uint32_t nodes, const Settings& settings, Reads reads);

// All costs of messages and faults, but for bandwidth, times a factor.
Settings slower(Settings settings, double factor);
// The factor with which the recorded run would have taken the time that it took: what this
// machine's messages cost then, with whatever else it was doing.
double fitted_factor(const Workload& workload, const Measured& measured, const Settings& settings,
                     Reads reads);

// Node counts from the recorded one on, doubled up to `most`, or until the time is four times the
// best; and multiples of the recorded one around the fastest of them; ascending.
std::vector<Prediction> predict_scaling(const Workload& base, uint32_t most,
                                        const Settings& settings, Reads reads);

// What it costs at each node count, and from where on more nodes do not help.
std::string scaling_table(const std::vector<Prediction>& predictions);
// The first after which the time does not fall by a hundredth any more, however many nodes are
// added.
size_t where_it_stops(const std::vector<Prediction>& predictions);

// Predicted against measured.
struct Comparison {
  std::string what;  // which recording, and of how many nodes it was predicted
  Prediction predicted;
  Measured measured;
};
std::string comparison_table(const std::vector<Comparison>& comparisons);

}  // namespace weir::predict
