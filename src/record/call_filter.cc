// A program restricts itself by a filter of system calls (seccomp), as sandboxes do. What of Weir
// runs in its processes makes calls of its own: it sleeps and wakes, asks for flags of descriptors,
// looks into /proc. A filter that knows the program's calls only would end it for those. So each
// filter gets some instructions before its own, which allow what libweir.so calls for itself.
//
// The runtime makes the program's calls too, by two instructions: those of weir_program_call and of
// weir_interruptible (signal/interruptible_x86_64.S). For these the program's filter decides, as
// for all that is called outside libweir.so.
//
// What is not the same: some of the program's calls are made as others, which do the same
// (docs/internals/system-calls.md). Those are the runtime's. And where another program is executed,
// its libweir.so may lie elsewhere: the filter binds that one's own calls.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"

extern "C" char weir_interruptible_end[], weir_program_call_end[];

namespace weir::input {

namespace {

constexpr uint32_t kOwn = 8;  // instructions
// What the kernel is given: it copies both before the call returns.
sock_filter g_filter[BPF_MAXINSNS];
sock_fprog g_program;

uint32_t low_half(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t low_half(const char* at) { return low_half(reinterpret_cast<uint64_t>(at)); }

void allow_own_calls(Range image) {
  constexpr uint32_t kAddress = offsetof(seccomp_data, instruction_pointer);
  const sock_filter own[kOwn] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(image.start >> 32), 0, kOwn - 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low_half(image.start), 0, kOwn - 4),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low_half(image.limit), kOwn - 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low_half(weir_interruptible_end), kOwn - 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low_half(weir_program_call_end), kOwn - 7, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  for (uint32_t i = 0; i < kOwn; i++) g_filter[i] = own[i];
}

}  // namespace

long with_own_calls(long number, long first, long second, long program_at) {
  const bool is_filter = number == SYS_seccomp ? first == SECCOMP_SET_MODE_FILTER
                                               : number == SYS_prctl && first == PR_SET_SECCOMP &&
                                                     second == SECCOMP_MODE_FILTER;
  const Range image = page::own_image();
  sock_fprog program;
  if (!is_filter || image.start >> 32 != image.limit >> 32 ||
      trap::from_program(program, program_at) != 0 || program.len == 0 ||
      program.len > BPF_MAXINSNS - kOwn ||
      trap::from_program(g_filter + kOwn, reinterpret_cast<long>(program.filter),
                         program.len * sizeof(sock_filter)) != 0)
    return program_at;  // the kernel answers as natively
  allow_own_calls(image);
  g_program = {static_cast<unsigned short>(program.len + kOwn), g_filter};
  return reinterpret_cast<long>(&g_program);
}

}  // namespace weir::input
