// How often a System V segment is attached (shm_nattch). The kernel counts the mappings of it. The
// tasks' processes have one each, and a recording closes pages, which cuts one mapping in several.
// So the mappings are counted as the program has them: of the processes of one program, which have
// the same control memory, one counts, and mappings that continue each other are one.
#include <fcntl.h>
#include <stddef.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sync/event.h"
#include "sys/folder.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"
#include "task/mapping_log.h"

namespace weir::syscalls {

namespace {

struct Seen {
  uint64_t mappings = 0;  // as the kernel counts
  uint64_t attached = 0;  // as the program has them
  uint64_t program = 0;   // the inode of control memory
};

// Calls act(line) for the lines of another process's maps. A line that is longer than the buffer is
// none of those that are looked for.
template <typename Act>
void each_line(const char* path, Act act) {
  const long file = sys::open_proc(path);
  if (file < 0) return;
  char text[4096];
  size_t have = 0;
  for (;;) {
    const long got = sys::raw(SYS_read, file, reinterpret_cast<long>(text + have),
                              static_cast<long>(sizeof text - 1 - have));
    if (got <= 0) break;
    have += static_cast<size_t>(got);
    text[have] = 0;
    size_t whole = have;
    while (whole && text[whole - 1] != '\n') whole--;
    if (!whole) {
      have = 0;
      continue;
    }
    const char kept = text[whole];
    text[whole] = 0;
    sys::MapLine line;
    for (char* cursor = text; (cursor = sys::next_map_line(cursor, &line));) act(line);
    text[whole] = kept;
    have -= whole;
    for (size_t i = 0; i < have; i++) text[i] = text[whole + i];
  }
  sys::raw(SYS_close, file);
}

Seen look_at(const char* process, uint64_t segment) {
  char path[48];
  append_text(append_text(append_text(path, "/proc/"), process), "/maps");
  Seen seen;
  sys::MapLine before{};
  each_line(path, [&](const sys::MapLine& line) {
    if (line.range.contains(kControl)) seen.program = line.inode;
    if (!starts_with(line.name, "/SYSV") || line.inode != segment) return;
    seen.mappings++;
    const bool goes_on = before.range.limit == line.range.start &&
                         before.offset + before.range.size() == line.offset;
    if (!goes_on) seen.attached++;
    before = line;
  });
  return seen;
}

// What the kernel has counted too much.
uint64_t counted_too_often(uint64_t segment) {
  constexpr uint32_t kPrograms = 128;
  uint64_t programs[kPrograms];
  uint32_t count = 0;
  uint64_t excess = 0;
  const long folder = sys::open_proc("/proc/");
  if (folder < 0) return 0;
  sys::each_entry(folder, [&](const char* name) {
    if (*name < '0' || *name > '9') return true;
    const Seen seen = look_at(name, segment);
    uint32_t known = 0;
    while (known < count && programs[known] != seen.program) known++;
    const bool is_first = !seen.program || known == count;
    excess += seen.mappings - (is_first ? seen.attached : 0);
    if (seen.program && seen.mappings && is_first && count < kPrograms)
      programs[count++] = seen.program;
    return true;
  });
  sys::raw(SYS_close, folder);
  return excess;
}

}  // namespace

bool tells_attached(long number, long command) {
  return number == SYS_shmctl && (command == IPC_STAT || command == SHM_STAT) &&
         (input::is_on() || plan().has_processes());
}

long tell_attached(Call& call) {
  const TurnScope turn(EventKind::kSyscall);
  note_written();
  change_rules().let_all_follow();
  const long result = call_kernel(call);
  if (result >= 0) {
    const auto segment = static_cast<uint64_t>(call.b == IPC_STAT ? call.a : result);
    const auto excess = static_cast<uint64_t>(
        input::log_value(input::What::kShared, [=] { return counted_too_often(segment); }));
    const long at = call.c + static_cast<long>(offsetof(shmid_ds, shm_nattch));
    uint64_t attached;
    if (trap::from_program(attached, at) == 0)
      (void)!trap::to_program(at, attached > excess ? attached - excess : 0);
  }
  return result;
}

}  // namespace weir::syscalls
