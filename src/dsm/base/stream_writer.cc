// A buffer that is written when it is full: an event takes about six bytes and some tens of
// nanoseconds, so that recording does not change much of what it records. A disk that is full ends
// the recording, not the program.
#include "dsm/base/stream_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tape/varint.h"

namespace weir::dsm {

using predict::Event;
using predict::EventKind;
using predict::UnitBytes;

namespace {

constexpr size_t kFull = 256 << 10;

uint64_t nanoseconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}
uint64_t nanoseconds_by_clock() { return nanoseconds_of(CLOCK_MONOTONIC); }

std::vector<UnitBytes> list_of(std::span<const UnitBytes> units) {
  return {units.begin(), units.end()};
}

}  // namespace

uint64_t ThreadClock::now() { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

StreamWriter::StreamWriter(const std::string& directory, const Run& run)
    : path_(directory + "/node-" + std::to_string(run.node)) {
  if (mkdir(directory.c_str(), 0777) == 0 || errno == EEXIST)
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    fail();
    return;
  }
  marked_ = nanoseconds_by_clock();
  buffer_.reserve(kFull + 4096);
  buffer_.insert(buffer_.end(), predict::kStreamMagic,
                 predict::kStreamMagic + sizeof predict::kStreamMagic);
  for (const uint64_t number :
       {predict::kStreamVersion, uint64_t{run.node}, uint64_t{run.nodes}, uint64_t{run.threads},
        uint64_t{run.protocol}, uint64_t{run.tapes}}) {
    put_number(number);
  }
}

StreamWriter::~StreamWriter() {
  if (descriptor_ < 0) return;
  flush();
  if (descriptor_ >= 0) close(descriptor_);
}

void StreamWriter::fail() {
  failed_ = path_ + ": " + strerror(errno);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  buffer_.clear();
}

void StreamWriter::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t written = write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail();
    done += static_cast<size_t>(written);
  }
  buffer_.clear();
}

void StreamWriter::put_number(uint64_t number) { tape::put_number(number, &buffer_); }

void StreamWriter::put(const Event& event) {
  if (descriptor_ < 0) return;
  const predict::Fields has = predict::fields_of(event.kind);
  buffer_.push_back(static_cast<uint8_t>(event.kind));
  put_number(event.thread);
  put_number(event.computed);
  if (has.object) put_number(event.object);
  if (has.count) put_number(event.count);
  if (has.bytes) put_number(event.bytes);
  if (has.value) put_number(event.value);
  if (has.units) {
    const auto& units = event.units;
    const auto run_end = [&](size_t first) {
      size_t i = first + 1;
      while (i < units.size() && units[i].unit == units[i - 1].unit + 1 &&
             units[i].bytes == units[first].bytes)
        i++;
      return i;
    };
    size_t runs = 0;
    for (size_t i = 0; i < units.size(); i = run_end(i)) runs++;
    put_number(runs);
    uint32_t next = 0;
    for (size_t i = 0; i < units.size();) {
      const size_t end = run_end(i);
      put_number(units[i].unit - next);
      put_number(end - i - 1);
      put_number(units[i].bytes);
      next = units[end - 1].unit + 1;
      i = end;
    }
  }
  if (buffer_.size() >= kFull) flush();
}

void StreamWriter::allocate(const By& by, const Allocated& it) {
  const uint64_t home =
      it.home_policy + uint64_t{4} * (it.home_node + uint64_t{predict::kMaxNodes} * (it.step - 1));
  put({EventKind::kAllocate,
       by.thread,
       by.computed,
       it.first,
       it.numbers,
       it.unit_bytes,
       home,
       {}});
}
void StreamWriter::free(const By& by, uint32_t first, uint32_t numbers) {
  put({EventKind::kFree, by.thread, by.computed, first, numbers, 0, 0, {}});
}
void StreamWriter::access(const By& by, uint32_t unit, bool write) {
  put({EventKind::kAccess, by.thread, by.computed, unit, 0, 0, write, {}});
}
void StreamWriter::miss(const By& by, uint32_t unit, bool write) {
  put({EventKind::kMiss, by.thread, by.computed, unit, 0, 0, write, {}});
}
void StreamWriter::interval(const By& by, uint32_t index, std::span<const UnitBytes> units) {
  put({EventKind::kInterval, by.thread, by.computed, index, 0, 0, 0, list_of(units)});
}
void StreamWriter::diff(const By& by, uint32_t unit, uint64_t bytes) {
  put({EventKind::kDiff, by.thread, by.computed, unit, 0, bytes, 0, {}});
}
void StreamWriter::push(const By& by, uint32_t to, std::span<const UnitBytes> units,
                        uint64_t bytes) {
  put({EventKind::kPush, by.thread, by.computed, to, 0, bytes, 0, list_of(units)});
}
void StreamWriter::touch(const By& by, std::span<const UnitBytes> units, bool write) {
  put({EventKind::kTouch, by.thread, by.computed, 0, 0, 0, write, list_of(units)});
}
void StreamWriter::wait(const By& by, uint32_t condition, uint32_t lock) {
  put({EventKind::kWait, by.thread, by.computed, condition, 0, 0, lock, {}});
}
void StreamWriter::woken(const By& by, uint32_t condition, uint32_t lock) {
  put({EventKind::kWoken, by.thread, by.computed, condition, 0, 0, lock, {}});
}
void StreamWriter::arrive(const By& by, uint32_t barrier, uint64_t reduced_bytes) {
  put({EventKind::kArrive, by.thread, by.computed, barrier, 0, reduced_bytes, 0, {}});
}
void StreamWriter::fork(const By& by, uint32_t threads) {
  put({EventKind::kFork, by.thread, by.computed, 0, threads, 0, 0, {}});
}
void StreamWriter::granted(const By& by, uint32_t lock, std::span<const UnitBytes> brought) {
  put({EventKind::kGranted, by.thread, by.computed, lock, 0, 0, 0, list_of(brought)});
}
void StreamWriter::give(const By& by, uint32_t lock, uint32_t to) {
  put({EventKind::kGive, by.thread, by.computed, lock, 0, 0, to, {}});
}
void StreamWriter::note(const By& by, EventKind kind, uint32_t object) {
  put({kind, by.thread, by.computed, object, 0, 0, 0, {}});
}

void StreamWriter::mark(const By& by) {
  put({EventKind::kMark, by.thread, by.computed, 0, 0, 0, 0, {}});
  marked_ = nanoseconds_by_clock();
  stopped_.reset();
}
void StreamWriter::stop(const By& by, const predict::Measured& counted) {
  put({EventKind::kStop, by.thread, by.computed, 0, 0, 0, 0, {}});
  stopped_ = counted;
  stopped_->nanoseconds = nanoseconds_by_clock() - marked_;
}

std::string StreamWriter::finish(const By& by, const predict::Measured& counted) {
  predict::Measured measured = counted;
  measured.nanoseconds = nanoseconds_by_clock() - marked_;
  if (stopped_) measured = *stopped_;
  put({EventKind::kEnd, by.thread, by.computed, 0, 0, 0, measured.nanoseconds, {}});
  if (descriptor_ < 0) return failed_;
  for (const uint64_t count : measured.messages) put_number(count);
  for (const uint64_t number : {measured.bytes, measured.misses, measured.lock_wait,
                                measured.barrier_wait, measured.miss_wait})
    put_number(number);
  flush();
  if (descriptor_ >= 0) {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) fail();
  }
  return failed_;
}

}  // namespace weir::dsm
