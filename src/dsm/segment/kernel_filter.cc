// Problem: a library's system calls are instructions in the middle of libc, of MPI, of the program;
// what they point to in shared memory must be accessible before the kernel looks. Mechanism: a
// seccomp filter, the only thing that sees them all and that each process may have. It looks up the
// call's number and, of its arguments that are pointers, whether one lies in the segment; of all
// others it costs some comparisons and nothing else.
//
// Only arguments that are pointers to data are looked at: registers that a call does not use hold
// rubbish. A call by a thread that blocks all signals, as glibc's own do when they make threads,
// must not be sent back for it. Nor must the wake-up that ends malloc's wait for a lock: the node's
// server, which has the node's mutex, may be who waits.
//
// Some calls are sent back whatever they name (kAlways). The filter stays when a child of this
// process executes another program, which would die of the signal; so these are sent back only from
// code of this process. The other program's lies elsewhere, by the kernel's choice at random. What
// lies low (kLowest) is no sign: programs that are not PIE all lie there.
//
// Layout of the program: a tree of comparisons of the number, whose leaves are the calls; then, for
// each set of arguments, the tests that calls with these pointers share. Each path ends in a
// return.
#include "dsm/segment/kernel_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <map>
#include <vector>

#include "effects/table.h"
#include "sys/maps.h"

namespace weir::dsm {

namespace {

constexpr long kNumbers = 512;  // of system calls
constexpr int kArguments = 6;

struct Call {
  uint32_t number;
  unsigned pointers;  // a bit for each argument
};
constexpr unsigned kAlways = 1 << 6;  // what it names is to be looked at (refused_calls.cc), or it
                                      // makes a process (forked.h)

// Those whose pointers follow no simple rule and are in no row of the table, or that would change
// the mapping of the segment.
constexpr Call kMore[] = {
    {SYS_ioctl, 1 << 2},
    {SYS_fcntl, 1 << 2},
    {SYS_sendmsg, 1 << 1},
    {SYS_recvmsg, 1 << 1},
    {SYS_sendmmsg, 1 << 1},
    {SYS_recvmmsg, 1 << 1 | 1 << 4},
    {SYS_futex, 1 << 0 | 1 << 3 | 1 << 4},  // at most: kFutexCommands
    {SYS_poll, 1 << 0},
    {SYS_ppoll, 1 << 0 | 1 << 2},
    {SYS_select, 0x1e},
    {SYS_pselect6, 0x3e},
    {SYS_recvfrom, 1 << 1 | 1 << 4 | 1 << 5},
    {SYS_process_vm_readv, 1 << 1 | 1 << 3},
    {SYS_process_vm_writev, 1 << 1 | 1 << 3},
    {SYS_vmsplice, 1 << 1},
    {SYS_msgsnd, 1 << 1},
    {SYS_msgrcv, 1 << 1},
    {SYS_epoll_ctl, 1 << 3},
    {SYS_accept, 1 << 1 | 1 << 2},
    {SYS_accept4, 1 << 1 | 1 << 2},
    {SYS_getsockname, 1 << 1 | 1 << 2},
    {SYS_getpeername, 1 << 1 | 1 << 2},
    {SYS_getsockopt, 1 << 3 | 1 << 4},
    {SYS_msgctl, 1 << 2},
    {SYS_shmctl, 1 << 2},
    {SYS_semctl, 1 << 3},
    {SYS_mq_open, 1 << 0 | 1 << 3},
    {SYS_name_to_handle_at, 1 << 1 | 1 << 2 | 1 << 3},
    {SYS_open_by_handle_at, 1 << 1},
    {SYS_sched_setattr, 1 << 1},
    {SYS_capget, 1 << 0 | 1 << 1},
    {SYS_capset, 1 << 0 | 1 << 1},
    {SYS_mincore, 1 << 2},
    {SYS_mmap, 1 << 0},
    {SYS_munmap, 1 << 0},
    {SYS_mremap, 1 << 0 | 1 << 4},
    {SYS_mprotect, 1 << 0},
    {SYS_pkey_mprotect, 1 << 0},
    {SYS_madvise, 1 << 0},
    {SYS_remap_file_pages, 1 << 0},
    {SYS_shmat, 1 << 1},
    {SYS_io_submit, kAlways},
    {SYS_io_uring_register, kAlways},
    {SYS_io_getevents, 1 << 3 | 1 << 4},
    {SYS_wait4, 1 << 1 | 1 << 3},
};

// Those of a futex command; of others all that SYS_futex may have.
constexpr Call kFutexCommands[] = {
    {FUTEX_WAIT, 1 << 0 | 1 << 3}, {FUTEX_WAKE, 1 << 0},       {FUTEX_LOCK_PI, 1 << 0 | 1 << 3},
    {FUTEX_UNLOCK_PI, 1 << 0},     {FUTEX_TRYLOCK_PI, 1 << 0}, {FUTEX_WAIT_BITSET, 1 << 0 | 1 << 3},
    {FUTEX_WAKE_BITSET, 1 << 0},
};

using Pointers = std::array<unsigned, kNumbers>;

Pointers all_pointers() {
  Pointers pointers = {};
  for (size_t number = 0; number < kNumbers; number++) {
    const effects::Row* row = effects::row_of(static_cast<long>(number));
    if (!row) continue;
    for (const effects::Part& part : row->parts) {
      if (part.shape != effects::Shape::kNone) pointers[number] |= 1u << part.at;
    }
  }
  for (const Call& call : kMore) pointers[call.number] |= call.pointers;
  // Made by glibc where all signals are blocked (executing_calls.cc, vector_calls.cc), or of what
  // nobody keeps in shared memory.
  for (const long number : {SYS_execve, SYS_execveat, SYS_rt_sigprocmask, SYS_rt_sigaction,
                            SYS_rt_sigreturn, SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq})
    pointers[static_cast<size_t>(number)] = 0;
  pointers[SYS_fork] = pointers[SYS_clone] = kAlways;
  return pointers;
}

// Code of this process: from `begin` to `last`.
struct Code {
  uint64_t begin, last;
};
constexpr uint64_t kLowest = uint64_t{4} << 30;
constexpr uint64_t kGap = uint64_t{32} << 20;  // at most, within one piece
constexpr uint64_t kLater = kGap;              // below each piece: libraries that come later

std::vector<Code> code_of_process() {
  char* maps;
  if (sys::failed(sys::read_maps(&maps))) return {{kLowest, INT64_MAX}};
  std::vector<Code> code;
  sys::MapLine line;
  while ((maps = sys::next_map_line(maps, &line))) {
    const auto [begin, limit] = line.range;
    if (!line.executable || begin < kLowest || begin > INT64_MAX) continue;
    if (!code.empty() && begin - code.back().last < kGap) code.back().last = limit - 1;
    else code.push_back({begin - kLater, limit - 1});
  }
  return code;
}

// Never destroyed: calls are made until the process is gone.
const Pointers& pointers_by_number() {
  static const auto& all = *new Pointers(all_pointers());
  return all;
}

std::vector<Call> calls() {
  const Pointers& pointers = pointers_by_number();
  std::vector<Call> found;
  for (uint32_t number = 0; number < kNumbers; number++) {
    if (pointers[number]) found.push_back({number, pointers[number]});
  }
  return found;
}

class Filter {
 public:
  Filter(uint64_t begin, uint64_t last) : segment_{begin, last} {}

  std::vector<sock_filter> make() {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
    give(SECCOMP_RET_ALLOW);
    const auto gate = reinterpret_cast<uint64_t>(weir_dsm_gate_end);
    load(offsetof(seccomp_data, instruction_pointer));
    jump(BPF_JEQ, static_cast<uint32_t>(gate), 0, 3);
    load(offsetof(seccomp_data, instruction_pointer) + 4);
    jump(BPF_JEQ, static_cast<uint32_t>(gate >> 32), 0, 1);
    give(SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, nr));
    const std::vector<Call> all = calls();
    tree(all.data(), all.data() + all.size());
    for (const auto& [pointers, from] : leaves_) {
      for (const size_t far : from) code_[far].k = static_cast<uint32_t>(code_.size() - far - 1);
      for (int argument = 0; argument < kArguments; argument++) {
        const size_t at = sizeof(uint64_t) * static_cast<size_t>(argument);
        if (pointers >> argument & 1) test(offsetof(seccomp_data, args) + at, segment_);
      }
      if (pointers & kAlways) {
        for (const Code& code : code_of_process())
          test(offsetof(seccomp_data, instruction_pointer), code);
      }
      give(SECCOMP_RET_ALLOW);
    }
    return std::move(code_);
  }

 private:
  void load(size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  }
  void jump(int how, uint32_t with, uint8_t yes, uint8_t no) {
    code_.push_back(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | how | BPF_K), with, yes, no));
  }
  void give(uint32_t answer) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, answer)); }

  void tree(const Call* begin, const Call* end) {
    if (end - begin == 1) return leaf(*begin);
    const Call* const middle = begin + (end - begin) / 2;
    jump(BPF_JGE, middle->number, 0, 1);
    const size_t far = code_.size();
    code_.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
    tree(begin, middle);
    code_[far].k = static_cast<uint32_t>(code_.size() - far - 1);
    tree(middle, end);
  }

  void leaf(const Call& call) {
    if (call.number == SYS_futex) return leaf_of_futex(call);
    if (call.number == SYS_clone) return leaf_of_clone(call);
    jump(BPF_JEQ, call.number, 0, 1);
    go_to_tests(call.pointers);
    give(SECCOMP_RET_ALLOW);
  }

  void leaf_of_futex(const Call& call) {
    jump(BPF_JEQ, call.number, 1, 0);
    give(SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, args) + sizeof(uint64_t));
    code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<uint32_t>(FUTEX_CMD_MASK)));
    for (const Call& command : kFutexCommands) {
      jump(BPF_JEQ, command.number, 0, 1);
      go_to_tests(command.pointers);
    }
    go_to_tests(call.pointers);
  }

  // Processes that go on where this one is, and for which glibc runs no handlers of fork: its own
  // clone() gives a stack, and its fork() asks for the child's number.
  void leaf_of_clone(const Call& call) {
    jump(BPF_JEQ, call.number, 1, 0);
    give(SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, args));
    code_.push_back(
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, uint32_t{CLONE_VM} | uint32_t{CLONE_CHILD_SETTID}));
    const size_t stack = offsetof(seccomp_data, args) + sizeof(uint64_t);
    jump(BPF_JEQ, 0, 0, 5);
    load(stack);
    jump(BPF_JEQ, 0, 0, 3);
    load(stack + 4);
    jump(BPF_JEQ, 0, 0, 1);
    go_to_tests(call.pointers);
    give(SECCOMP_RET_ALLOW);
  }

  void go_to_tests(unsigned pointers) {
    leaves_[pointers].push_back(code_.size());
    code_.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
  }

  // Goes on behind it where the number at `low` is none of these. Numbers are compared by halves.
  void test(size_t low, const Code& range) {
    const size_t high = low + 4;
    const auto half = [](uint64_t of) { return static_cast<uint32_t>(of >> 32); };
    load(high);
    jump(BPF_JGE, half(range.begin), 0, 9);
    jump(BPF_JGT, half(range.last), 8, 0);
    jump(BPF_JEQ, half(range.begin), 0, 2);
    load(low);
    jump(BPF_JGE, static_cast<uint32_t>(range.begin), 0, 5);
    load(high);
    jump(BPF_JEQ, half(range.last), 0, 2);
    load(low);
    jump(BPF_JGT, static_cast<uint32_t>(range.last), 1, 0);
    give(SECCOMP_RET_TRAP | kFilterMark);
  }

  const Code segment_;
  std::vector<sock_filter> code_;
  std::map<unsigned, std::vector<size_t>> leaves_;  // by pointers: where these jump to their tests
};

}  // namespace

bool is_pointer(const effects::Request& request, int argument) {
  if (static_cast<uint64_t>(request.number) >= kNumbers) return true;
  unsigned pointers = pointers_by_number()[static_cast<size_t>(request.number)];
  if (request.number == SYS_futex) {
    for (const Call& command : kFutexCommands)
      if (command.number == (static_cast<uint32_t>(request.a[1]) & FUTEX_CMD_MASK))
        pointers = command.pointers;
  }
  return pointers & (kAlways | 1u << argument);
}

int filter_calls(uint64_t begin, uint64_t size) {
  std::vector<sock_filter> code = Filter(begin, begin + size - 1).make();
  sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  const auto install = [&] {
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  };
  long result = install();
  if (result != 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    result = install();
  return result == 0  ? 0
         : result > 0 ? EBUSY
                      : errno;  // above 0: a thread that has another filter of its own
}

}  // namespace weir::dsm
