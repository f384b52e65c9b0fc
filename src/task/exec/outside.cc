// src/cli/launch/program.cc refuses programs that the command starts and that Weir cannot enter.
// This file finds such programs among those that are executed later: the loader does not obey
// LD_PRELOAD in them, or there is no loader. They cannot be refused, because a script may well call
// one of them for something unimportant. So they run, and the user is told: once for each file, by
// a program and all processes that it makes. What they execute begins anew.
#include "task/exec/outside.h"

#include <elf.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statfs.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/program_file.h"

namespace weir::runtime {

namespace {

// Shared: by a program and the processes that it makes. Hashes of names that have been said, 0
// none.
constexpr uint64_t kSaid = 0x30f180000000;
constexpr uint64_t kMaxSaid = 512;
bool g_is_mapped = false;

// Of names in the file system: the program itself, and why Weir is not in it.
struct Outside {
  const char* why = nullptr;
  char name[PATH_MAX];
};

const char* last_part(const char* path) {
  const char* part = path;
  for (const char* at = path; *at; at++) {
    if (*at == '/') part = at + 1;
  }
  return part;
}

// Whether the loader will keep libraries out: the program's rights are others than those of the
// user who executes it.
bool gains_rights(const tasks::File& file, const char** why) {
  struct stat status;
  struct statfs system {};
  if (sys::failed(sys::raw(SYS_fstat, file.number(), reinterpret_cast<long>(&status))))
    return false;
  uint32_t user[3], group[3];
  const auto at = [](uint32_t* p) { return reinterpret_cast<long>(p); };
  sys::raw(SYS_getresuid, at(user), at(user + 1), at(user + 2));
  sys::raw(SYS_getresgid, at(group), at(group + 1), at(group + 2));
  constexpr long kNoSetId = 2;  // ST_NOSUID
  sys::raw(SYS_fstatfs, file.number(), reinterpret_cast<long>(&system));
  const bool takes =
      !(system.f_flags & kNoSetId) && sys::raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
  const bool sets_user = takes && (status.st_mode & S_ISUID),
             sets_group = takes && (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP);
  if ((sets_user ? status.st_uid : user[1]) != user[0])
    return *why = sets_user ? "set-uid" : "executed with another user id than its real one", true;
  if ((sets_group ? status.st_gid : group[1]) != group[0])
    return *why = sets_group ? "set-gid" : "executed with another group id than its real one", true;
  const bool has_capabilities = sys::raw(SYS_fgetxattr, file.number(),
                                         reinterpret_cast<long>("security.capability"), 0, 0) > 0;
  return takes && user[0] != 0 && has_capabilities && (*why = "given capabilities", true);
}

const char* why_not_entered(const tasks::File& file, const Elf64_Ehdr& header, const char* name) {
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return nullptr;  // nor will the kernel
  if (header.e_ident[EI_CLASS] == ELFCLASS32) return "a 32-bit program";
  if (header.e_machine != EM_X86_64) return "a program for another processor";
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return nullptr;
  for (uint32_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    if (file.read(&segment, sizeof segment, header.e_phoff + i * sizeof segment) != sizeof segment)
      return nullptr;
    if (segment.p_type != PT_INTERP) continue;
    char loader[512];
    if (segment.p_filesz < 2 || segment.p_filesz > sizeof loader) return nullptr;
    if (file.read(loader, segment.p_filesz, segment.p_offset) !=
        static_cast<long>(segment.p_filesz))
      return nullptr;
    loader[segment.p_filesz - 1] = 0;
    return equal_strings(last_part(loader), "ld-linux-x86-64.so.2")
               ? nullptr
               : "not started by glibc's loader";
  }
  return starts_with(last_part(name), "ld-") ? nullptr
                                             : "statically linked";  // a loader does as it is told
}

// REQUIRES: outside.name is the file's.
void look(const tasks::File& file, int depth, Outside& outside) {
  alignas(8) char head[tasks::kHead + 1] = {};
  if (file.number() < 0 || !file.is_regular() || file.read(head, tasks::kHead, 0) < 0) return;
  if (head[0] == '#' && head[1] == '!') {
    const char* interpreter = tasks::interpreter_of(head);
    if (!interpreter || depth >= tasks::kDeepest) return;
    append_text(outside.name, interpreter);
    return look(tasks::File(AT_FDCWD, interpreter, 0), depth + 1, outside);
  }
  if (__builtin_memcmp(head, ELFMAG, SELFMAG) != 0) return;
  outside.why = why_not_entered(file, *reinterpret_cast<const Elf64_Ehdr*>(head), outside.name);
  const char* rights;
  if (!outside.why && gains_rights(file, &rights)) outside.why = rights;
}

uint64_t hash_of(const char* name) {
  uint64_t hash = 1;
  for (; *name; name++) hash = mix(hash ^ static_cast<uint8_t>(*name)) ^ hash >> 29;
  return hash | 1;
}

// True the first time. Where the table is full nothing more is said.
bool is_new(uint64_t hash) {
  auto* said = reinterpret_cast<uint64_t*>(kSaid);
  for (uint64_t i = 0; g_is_mapped && i < kMaxSaid; i++) {
    uint64_t now = 0;
    if (__atomic_compare_exchange_n(&said[i], &now, hash, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return true;
    if (now == hash) return false;
  }
  return false;
}

// The command says them when the program has ended: what is not in a recording is said with it.
void keep(const Outside& outside) {
  channel::Header& h = recording::header();
  const uint32_t index = __atomic_fetch_add(&h.outsiders, 1u, __ATOMIC_ACQ_REL);
  if (index >= channel::kMaxOutsiders) return;
  channel::Outsider& to = h.outsider[index];
  if (string_length(outside.name) < sizeof to.name) append_text(to.name, outside.name);
  if (string_length(outside.why) < sizeof to.why) append_text(to.why, outside.why);
}

}  // namespace

void map_said() {
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(kSaid), kMaxSaid * sizeof(uint64_t),
               PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  g_is_mapped = at == static_cast<long>(kSaid);
}

void say_if_outside(int directory, long path, int flags) {
  if (input::replaying()) return;
  Outside outside;
  if (trap::string_from_program(outside.name, path, sizeof outside.name) < 0) return;
  outside.name[sizeof outside.name - 1] = 0;
  if (!outside.name[0]) {
    if (!(flags & AT_EMPTY_PATH)) return;
    append_text(outside.name, "(a descriptor)");
    look(tasks::File(directory), 0, outside);
  } else {
    constexpr int kMayExecute = 1;
    if (sys::raw(SYS_faccessat, directory, reinterpret_cast<long>(outside.name), kMayExecute) != 0)
      return;
    look(tasks::File(directory, outside.name, flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0,
         outside);
  }
  if (!outside.why || !is_new(hash_of(outside.name))) return;
  if (input::recording()) return keep(outside);
  report("%s is %s: it is executed without Weir", outside.name, outside.why);
}

}  // namespace weir::runtime
