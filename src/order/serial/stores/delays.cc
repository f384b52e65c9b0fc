#include "order/serial/stores/delays.h"

namespace weir::order {

void Delays::start(const Schedule& schedule) {
  is_on_ = schedule.is_tso;
  listed_ = schedule.listed_delays;
  listed_count_ = schedule.listed_delay_count;
  count_ = 0;
  const bool is_listed = schedule.name == StrategyName::kList || schedule.listed_delay_count > 0;
  if (!is_on_ || is_listed) return;
  constexpr uint64_t kOfDelays = 0x6465'6c61'7973;  // other numbers than the strategy's
  random_ = Random(schedule.seed ^ kOfDelays);
  count_ = static_cast<uint32_t>(schedule.delays < kMost ? schedule.delays : kMost);
  const uint64_t length = schedule.length ? schedule.length : uint64_t{16} << random_.below(12);
  for (uint32_t i = 0; i < count_; i++) places_[i] = random_.below(length);
}

const Switch* Delays::listed_at(const Position& at) const {
  uint32_t low = 0, high = listed_count_;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (listed_[middle].at < at) low = middle + 1;
    else high = middle;
  }
  return low < listed_count_ ? &listed_[low] : nullptr;
}

uint64_t Delays::steps_before(const Position& at, uint64_t contested, bool is_alone) const {
  if (!is_on_) return kNoStop;
  if (const Switch* next = listed_at(at);
      next && next->at.number == at.number && next->at.event == at.event)
    return next->at.step - at.step;
  uint64_t steps = kNoStop;
  if (is_alone) return steps;
  for (uint32_t i = 0; i < count_; i++) {
    const uint64_t before = places_[i] > contested ? places_[i] - contested : 0;
    if (before < steps) steps = before;
  }
  return steps;
}

Delay Delays::begin(const Position& at, uint64_t contested) {
  if (const Switch* here = listed_at(at); here && here->at == at) return {here->delay, 0};
  for (uint32_t i = 0; i < count_; i++) {
    if (places_[i] > contested) continue;
    places_[i--] = places_[--count_];
  }
  constexpr uint64_t kLeast = 8, kLevels = 5;  // 8 to 2048 steps
  Delay delay;
  delay.steps = kLeast << 2 * random_.below(kLevels);
  // Half of them after the first load, a quarter after the second, and so on; some never.
  while (delay.loads < 6 && random_.below(2)) delay.loads++;
  delay.loads = delay.loads == 6 ? 0 : delay.loads + 1;
  return delay;
}

TaskId Delays::other(const Moment& moment) {
  for (;;) {
    const TaskId id = moment.ready[random_.below(moment.count)];
    if (id != moment.current) return id;
  }
}

}  // namespace weir::order
