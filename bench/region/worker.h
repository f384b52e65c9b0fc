// The sides of a measurement, each in a process of its own, so that none meets the signal handlers,
// mappings or regions of another; and what their figures come to. All run on the processor that the
// first of them was put on, never two at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

// One batch of repetitions; answers nanoseconds for each.
using Batch = std::function<double()>;

// Called in the side's own process. No batch: the reason is in `refusal`.
using Setup = std::function<Batch(std::string& refusal)>;

class Worker {
 public:
  // Forks: REQUIRES that this process has one thread, and has never called what a side measures.
  explicit Worker(const Setup& setup);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;
  ~Worker();

  const std::string& refusal() const { return refusal_; }  // empty: it can run
  double run();

 private:
  int process_ = -1, to_ = -1, from_ = -1;
  std::string refusal_;
};

// The last processor that this process may use.
void use_one_processor();

// Processor time of this process in ns: what runs beside it on a busy machine is not counted.
double now();

struct Spread {
  double low = 0, median = 0, high = 0;  // quartiles
};
Spread spread_of(std::vector<double> figures);
std::vector<double> ratios_of(const std::vector<double>& figures, const std::vector<double>& bases);

[[noreturn]] void fail(const char* what);

}  // namespace bench
