#include "base/vector_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace weir {
namespace {

constexpr uint32_t kTasks = 5, kLocks = 3;
using Clock = VectorClock<kTasks>;

struct Operation {
  TaskId task;
  bool writes;
};

// Every operation is kept, and each task and each lock knows of operations one by one, by number.
struct Model {
  std::vector<Operation> operations;
  std::vector<bool> known[kTasks], released[kLocks];

  static void join(std::vector<bool>& into, const std::vector<bool>& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); i++) into[i] = into[i] || from[i];
  }
  // Of tasks whose operation since the last write, that one included, conflicts with this one and
  // is not ordered before it.
  std::vector<bool> races(TaskId task, bool writes) const {
    std::vector<bool> racing(kTasks);
    for (size_t i = operations.size(); i-- > 0;) {
      const Operation& other = operations[i];
      const bool ordered = i < known[task].size() && known[task][i];
      if ((writes || other.writes) && !ordered) racing[other.task] = true;
      if (other.writes) break;
    }
    return racing;
  }
  void note(TaskId task, bool writes) {
    known[task].resize(operations.size() + 1);
    known[task].back() = true;
    operations.push_back({task, writes});
  }
};

TEST(VectorClockTest, FindsTheRacesThatTheModelFinds) {
  for (uint32_t seed = 1; seed <= 2000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Clock now[kTasks], lock[kLocks], many;
    for (TaskId i = 0; i < kTasks; i++) now[i].step(i);
    History<kTasks> history;
    Model model;
    for (int i = 0; i < 60; i++) {
      const TaskId task = random() % kTasks;
      const uint32_t number = random() % kLocks;
      switch (random() % 6) {
        case 0:
        case 1:
          now[task].join(lock[number]);
          Model::join(model.known[task], model.released[number]);
          break;
        case 2:
        case 3:
          lock[number].join(now[task]);
          now[task].step(task);
          Model::join(model.released[number], model.known[task]);
          break;
        default: {
          const bool writes = random() % 3 == 0;
          const std::vector<bool> expected = model.races(task, writes);
          const Epoch race = writes ? history.on_write(task, now[task], &many)
                                    : history.on_read(task, now[task], &many);
          const bool any = std::find(expected.begin(), expected.end(), true) != expected.end();
          ASSERT_EQ(race.is_set(), any) << "step " << i;
          if (any) { ASSERT_TRUE(expected[race.task]) << "step " << i; }
          model.note(task, writes);
        }
      }
    }
  }
}

TEST(VectorClockTest, OrderedReadsNeedNoRoom) {
  Clock now[2], lock;
  now[0].step(0);
  now[1].step(1);
  History<kTasks> history;
  EXPECT_FALSE(history.needs_room(now[0]));
  history.on_read(0, now[0], nullptr);
  EXPECT_TRUE(history.needs_room(now[1]));
  lock.join(now[0]);
  now[0].step(0);
  now[1].join(lock);
  EXPECT_FALSE(history.needs_room(now[1]));
  EXPECT_FALSE(history.on_read(1, now[1], nullptr).is_set());
}

TEST(VectorClockTest, AReleaseHidesWhatComesAfterIt) {
  Clock now[2], lock;
  now[0].step(0);
  now[1].step(1);
  History<kTasks> history;
  lock.join(now[0]);
  now[0].step(0);
  history.on_write(0, now[0], nullptr);
  now[1].join(lock);
  EXPECT_EQ(history.on_write(1, now[1], nullptr), now[0].epoch(0));
}

}  // namespace
}  // namespace weir
