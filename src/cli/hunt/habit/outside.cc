// Streams are compared entry by entry, each as far as its first difference. If there a task asks
// for something else, that follows from what came before, in another stream perhaps. If it asks
// the same and the answer is another one, that is a cause. Answers that are others in each run and
// are seldom looked at (ids of processes, times of files) are named only if there is nothing else.
#include "cli/hunt/habit/outside.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "channel/ring.h"
#include "effects/effects.h"
#include "recording/directory.h"
#include "recording/stream.h"

namespace weir::cli::hunt {
namespace {

// Of each run others.
constexpr std::array kOtherEachTime = {SYS_getpid,
                                       SYS_gettid,
                                       SYS_getppid,
                                       SYS_set_tid_address,
                                       SYS_clone,
                                       SYS_clone3,
                                       SYS_fork,
                                       SYS_vfork,
                                       SYS_wait4,
                                       SYS_waitid,
                                       SYS_fstat,
                                       SYS_newfstatat,
                                       SYS_statx,
                                       SYS_stat,
                                       SYS_lstat,
                                       SYS_times,
                                       SYS_getrusage,
                                       SYS_sysinfo,
                                       SYS_sched_getaffinity};

struct Cause {
  std::string words;
  bool is_likely = false;
};

struct Stream {
  explicit Stream(const recording::Recording& of, const recording::StreamFile& file)
      : reader(
            recording::File::reading(file.path), of.manifest.recording, file.key,
            scan(recording::File::reading(file.path), of.manifest.recording, file.key).good_size) {}
  // The next call, or memory that one has filled.
  const channel::Entry* next() {
    for (const channel::Entry* entry; (entry = reader.peek()) != nullptr; reader.take())
      if (entry->kind == channel::Kind::kCall || entry->kind == channel::Kind::kMemory)
        return entry;
    return nullptr;
  }
  recording::StreamReader reader;
};

bool has_same_bytes(const channel::Entry& one, const channel::Entry& other) {
  return one.size == other.size && memcmp(&one + 1, &other + 1, one.size) == 0;
}

std::string who(const recording::Key& key) {
  const std::string process = key.process ? fmt::format(" of process {}", key.process) : "";
  return (key.task ? fmt::format("thread T{}", key.task) : std::string("the main thread")) +
         process;
}

// Nothing: both are the same, or differ in what they ask.
Cause compared(Stream one, Stream other) {
  uint32_t call = 0;
  for (;; one.reader.take(), other.reader.take()) {
    const channel::Entry* const first = one.next();
    const channel::Entry* const second = other.next();
    if (!first || !second || first->kind != second->kind) return {};
    if (first->kind == channel::Kind::kCall) {
      call = first->number;
      if (first->number != second->number || first->check != second->check) return {};
    }
    const bool is_same = first->kind == channel::Kind::kCall ? first->result == second->result
                                                             : has_same_bytes(*first, *second);
    if (is_same) continue;
    const char* const name = effects::name_of(call);
    const std::string by = fmt::format("{}() by {}", name ? name : fmt::format("call {}", call),
                                       who(one.reader.key()));
    const bool is_likely =
        std::ranges::find(kOtherEachTime, static_cast<long>(call)) == kOtherEachTime.end();
    if (first->kind == channel::Kind::kMemory) return {by + " gave other bytes", is_likely};
    return {fmt::format("{} gave {} the first time, {} now", by, first->result, second->result),
            is_likely};
  }
}

}  // namespace

std::string other_answer(const Program& program, KeepOptions options, const std::string& schedule) {
  const WorkFolder folder;
  std::string recordings[2];
  for (std::string& recording : recordings) {
    options.directory = folder.path() + (&recording == recordings ? "/1" : "/2");
    recording = keep_recording(program, options, schedule, {}, [](const Outcome&) {
                  return true;
                }).directory;
    if (recording.empty()) return "";
  }
  try {
    return other_answer(recordings[0], recordings[1]);
  } catch (const recording::Damage&) { return ""; }
}

std::string other_answer(const std::string& first, const std::string& second) {
  const recording::Recording one(first), other(second);
  std::string unlikely;
  for (const recording::StreamFile& file : one.streams) {
    if (file.key.task == recording::kOrderStream || channel::is_points(file.key.task)) continue;
    const auto same = std::ranges::find(other.streams, file.key, &recording::StreamFile::key);
    if (same == other.streams.end()) continue;
    const Cause cause = compared(Stream(one, file), Stream(other, *same));
    if (cause.is_likely) return cause.words;
    if (unlikely.empty()) unlikely = cause.words;
  }
  return unlikely;
}

}  // namespace weir::cli::hunt
