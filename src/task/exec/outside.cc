// src/cli/launch/program.cc refuses programs that the command starts and that Weir cannot enter.
// This file finds such programs among those that are executed later: the loader does not obey
// LD_PRELOAD in them, or there is no loader. A static one can be entered by way of weir-host
// (src/host). The others cannot be refused, because a script may well call one of them for
// something unimportant. So they run, and the user is told: once for each file, by a program and
// all processes that it makes. What they execute begins anew.
#include "task/exec/outside.h"

#include <elf.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statfs.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "check/executed.h"
#include "control/static_program.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/descriptor.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/environment.h"
#include "task/exec/program_file.h"

namespace weir::runtime {

namespace {

// Shared: by a program and the processes that it makes. Hashes of names that have been said, 0
// none.
constexpr uint64_t kSaid = 0x30f180000000;
constexpr uint64_t kMaxSaid = 512;
bool g_is_mapped = false;

constexpr const char* kStatic = "statically linked";

// Of names in the file system: the program itself, and why Weir is not in it.
struct Outside {
  const char* why = nullptr;
  bool is_static = false;
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
  return starts_with(last_part(name), "ld-") ? nullptr : kStatic;  // a loader does as it is told
}

// The command is a static program, and becomes one that is under Weir by itself.
bool is_command(const tasks::File& file) {
  constexpr const char* kPlaces[] = {"/../bin/weir", "/../../bin/weir"};
  struct stat own {
  }, command{};
  if (sys::raw(SYS_fstat, file.number(), reinterpret_cast<long>(&own)) != 0) return false;
  for (const char* place : kPlaces) {
    char path[PATH_MAX];
    char* end = append_text(path, tasks::host_file());
    end -= sizeof loader::kHostName;
    append_text(end, place);
    if (sys::raw(SYS_stat, reinterpret_cast<long>(path), reinterpret_cast<long>(&command)) == 0 &&
        own.st_dev == command.st_dev && own.st_ino == command.st_ino)
      return true;
  }
  return false;
}

bool has_host() {
  constexpr int kMayExecute = 1;
  return tasks::host_file()[0] &&
         sys::raw(SYS_access, reinterpret_cast<long>(tasks::host_file()), kMayExecute) == 0;
}

// In front of the others. False: there is no room.
bool put_word(tasks::Hosted& hosted, uint32_t& used, const char* word) {
  const auto size = static_cast<uint32_t>(string_length(word)) + 1;
  if (used + size > sizeof hosted.words) return false;
  for (uint32_t i = used; i-- > 0;) hosted.words[i + size] = hosted.words[i];
  copy_bytes(hosted.words, word, size);
  hosted.word_count++;
  used += size;
  return true;
}

// What the kernel makes of a script: its interpreter, at most one argument for that, the script.
bool put_interpreter(tasks::Hosted& hosted, uint32_t& used, char* head, const char* script) {
  char* const end = head + tasks::kHead;
  char* limit = head;
  while (limit < end && *limit && *limit != '\n') limit++;
  *limit = 0;
  const char* name = tasks::interpreter_of(head);
  if (!name) return false;
  char* argument = head + (name - head) + string_length(name);
  if (argument < limit) argument++;
  while (*argument == ' ' || *argument == '\t') argument++;
  while (limit > argument && (limit[-1] == ' ' || limit[-1] == '\t')) *--limit = 0;
  // The first word of those that are there is the script's own name, or what stands for it.
  if (hosted.word_count == 0 && !put_word(hosted, used, script)) return false;
  if (*argument && !put_word(hosted, used, argument)) return false;
  return put_word(hosted, used, name);
}

// REQUIRES: outside.name is the file's.
void look(const tasks::File& file, int depth, Outside& outside, tasks::Hosted& hosted,
          uint32_t used = 0) {
  alignas(8) char head[tasks::kHead + 1] = {};
  if (file.number() < 0 || !file.is_regular() || file.read(head, tasks::kHead, 0) < 0) return;
  if (head[0] == '#' && head[1] == '!') {
    if (depth >= tasks::kDeepest || !put_interpreter(hosted, used, head, hosted.path)) return;
    append_text(outside.name, hosted.words);
    append_text(hosted.path, hosted.words);
    return look(tasks::File(AT_FDCWD, outside.name, 0), depth + 1, outside, hosted, used);
  }
  if (__builtin_memcmp(head, ELFMAG, SELFMAG) != 0) return;
  outside.why = why_not_entered(file, *reinterpret_cast<const Elf64_Ehdr*>(head), outside.name);
  const char* rights;
  outside.is_static = outside.why == kStatic && has_host() && !is_command(file);
  if ((!outside.why || outside.is_static) && gains_rights(file, &rights)) {
    outside.why = rights;
    outside.is_static = false;
  }
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

namespace {

// The name by which weir-host finds the file that is open as `number`. False: there is none.
bool name_from_root(long number, char (&name)[PATH_MAX]) {
  const long length = sys::name_of_descriptor(number, name, sizeof name - 1);
  name[length < 0 ? 0 : length] = 0;
  return name[0] == '/' &&
         sys::raw(SYS_access, reinterpret_cast<long>(name), 0) == 0;  // it may be deleted
}

bool look_now(int directory, long path, int flags, tasks::Hosted& hosted, bool& is_outside) {
  Outside outside;
  if (trap::string_from_program(outside.name, path, sizeof outside.name) < 0) return false;
  outside.name[sizeof outside.name - 1] = 0;
  hosted.word_count = 0;
  hosted.path[0] = 0;
  if (!outside.name[0]) {
    if (!(flags & AT_EMPTY_PATH)) return false;
    append_text(outside.name, "(a descriptor)");
    const bool is_named = name_from_root(directory, hosted.path);
    look(tasks::File(directory), 0, outside, hosted);
    outside.is_static = outside.is_static && is_named;
  } else {
    if (static_program::is_own_file(outside.name))
      append_text(outside.name, static_program::path());
    constexpr int kMayExecute = 1;
    if (sys::raw(SYS_faccessat, directory, reinterpret_cast<long>(outside.name), kMayExecute) != 0)
      return false;
    const tasks::File file(directory, outside.name, flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0);
    bool is_named = true;
    if (directory == AT_FDCWD || outside.name[0] == '/') append_text(hosted.path, outside.name);
    else is_named = name_from_root(file.number(), hosted.path);
    look(file, 0, outside, hosted);
    outside.is_static = outside.is_static && is_named;
  }
  if (outside.why == kStatic && contains_text(outside.name, "/valgrind/")) {
    report(
        "%s is Valgrind, which executes its program by itself: run it without Weir, or find races "
        "by weir check",
        outside.name);
    die(126);
  }
  if (outside.is_static) return true;
  is_outside = outside.why != nullptr;
  if (!outside.why || checking::note_outside(outside.name, outside.why) ||
      !is_new(hash_of(outside.name)))
    return false;
  if (input::recording()) keep(outside);
  else report("%s is %s: it is executed without Weir", outside.name, outside.why);
  return false;
}

}  // namespace

bool look_at_executed(int directory, long path, int flags, tasks::Hosted& hosted,
                      bool& is_outside) {
  zero_bytes(&hosted, sizeof hosted);
  if (!input::log_if(input::What::kHosted,
                     [&] { return look_now(directory, path, flags, hosted, is_outside); }))
    return false;
  input::bytes(&hosted, sizeof hosted);
  return true;
}

}  // namespace weir::runtime
