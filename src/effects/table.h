// The table behind effects.h: for each call its name, its place in a replay, and the parts of
// memory that follow from its arguments by simple rules. What follows no simple rule is code in
// written.cc and read.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "effects/effects.h"

namespace weir::effects {

// After which results a part has been written.
enum class When : uint8_t {
  kDone,         // not an error
  kPositive,     // above 0
  kInterrupted,  // not an error, or -EINTR
  kAny,
};

enum class Shape : uint8_t {
  kNone,
  kFixed,    // `size` bytes at argument `at`
  kCounted,  // `size` bytes, times argument `count`
  kUsed,  // `size` bytes, times the result, which may be above what argument `count` gives room for
  kVector,  // an array of iovecs, argument `count` their number; as many bytes as the result says
  kString,  // up to and with the NUL
};

inline constexpr int kIsInt = 8;
constexpr int int_at(int argument) { return argument | kIsInt; }

struct Part {
  Shape shape = Shape::kNone;
  bool is_written = false;
  When when = When::kDone;
  uint8_t at = 0,
          count = 0;  // of `count` the bit kIsInt says that the kernel looks at its lower half only
  uint16_t size = 0;

  constexpr Part after(When results) const {
    Part part = *this;
    part.when = results;
    return part;
  }
};

constexpr Part out(int at, int size) {
  return {Shape::kFixed, true, When::kDone, uint8_t(at), 0, uint16_t(size)};
}
constexpr Part out_counted(int at, int count, int size = 1) {
  return {Shape::kCounted, true, When::kDone, uint8_t(at), uint8_t(count), uint16_t(size)};
}
constexpr Part out_used(int at, int count, int size = 1) {
  return {Shape::kUsed, true, When::kPositive, uint8_t(at), uint8_t(count), uint16_t(size)};
}
constexpr Part out_vector(int at, int count) {
  return {Shape::kVector, true, When::kPositive, uint8_t(at), uint8_t(count), 1};
}
constexpr Part in(int at, int size) {
  return {Shape::kFixed, false, When::kAny, uint8_t(at), 0, uint16_t(size)};
}
constexpr Part in_counted(int at, int count, int size = 1) {
  return {Shape::kCounted, false, When::kAny, uint8_t(at), uint8_t(count), uint16_t(size)};
}
constexpr Part in_used(int at, int count) {
  return {Shape::kUsed, false, When::kPositive, uint8_t(at), uint8_t(count), 1};
}
constexpr Part in_vector(int at, int count) {
  return {Shape::kVector, false, When::kPositive, uint8_t(at), uint8_t(count), 1};
}
constexpr Part string(int at) { return {Shape::kString, false, When::kAny, uint8_t(at), 0, 1}; }

inline constexpr int kMaxParts = 4;

struct Row {
  int16_t number = -1;
  Replay replay = Replay::kRefuse;
  char name[24] = {};  // here and not pointed to: the table needs no relocation
  Part parts[kMaxParts] = {};
};

// Returns null if there is no such call.
const Row* row_of(long number);

}  // namespace weir::effects
