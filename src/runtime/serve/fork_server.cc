// The server stands in go_multi(), on the runtime's stack, with all that a second thread needs
// made. It waits for a request, forks, and says which process the run is. The run is a child of the
// command (CLONE_PARENT), which waits for it, ends it and reads its output, as for a run from the
// start. Runs come one after the other: they have the offsets of open files in common.
//
// In the run the kernel's side of the process is put right:
// 1. ids: the program knows the server's, which may stand in its memory already (mutexes have their
//    owner's). So the run shows it as its own (constant::stand_for_parent).
// 2. what the kernel forgets at a fork: the session, the signal by which the run dies with the
//    command, the list of robust mutexes, the word to clear at the thread's end, and that orphans
//    come to it.
// 3. standard output and error, at whatever descriptors they are, and offsets of files.
//
// Invariants
// 1. The server never runs program code again. (not checkable: it has no way out of serve_forks)
// 2. While it serves, it blocks all signals; the run has the mask that the program had. (not
//    checkable: the kernel has the mask)

#include "runtime/serve/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "code/translate/counted.h"
#include "code/translate/made_blocks.h"
#include "code/translate/step.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/fork_server.h"
#include "control/process.h"
#include "control/served.h"
#include "memory/backing.h"
#include "order/serial/serial.h"
#include "runtime/serve/obstacles.h"
#include "signal/signals.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::runtime {

namespace {

int g_socket = -1;
ServerWord g_word;
OpenFiles g_files;

void say(ServerWord::Kind kind, int value = 0) {
  g_word.kind = kind;
  g_word.value = value;
  sys::raw(SYS_sendto, g_socket, reinterpret_cast<long>(&g_word), sizeof g_word, MSG_NOSIGNAL);
}

// Returns false at the end of the socket: the command wants no more runs, or is gone.
bool receive(int (&outputs)[ServerRequest::kDescriptors]) {
  ServerRequest request{};
  iovec part{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof outputs)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  long size;
  do {
    size = sys::raw(SYS_recvmsg, g_socket, reinterpret_cast<long>(&header), MSG_CMSG_CLOEXEC);
  } while (size == -EINTR);
  const auto* rights = reinterpret_cast<const cmsghdr*>(control);
  if (size != sizeof request || request.magic != ServerRequest::kMagic ||
      header.msg_controllen < CMSG_LEN(sizeof outputs) || rights->cmsg_type != SCM_RIGHTS)
    return false;
  copy_bytes(outputs, CMSG_DATA(rights), sizeof outputs);
  return true;
}

void put_outputs(const int (&outputs)[ServerRequest::kDescriptors]) {
  bool is_placed[ServerRequest::kDescriptors] = {};
  for (uint32_t i = 0; i < g_files.count; i++) {
    const OpenFiles::File& file = g_files.files[i];
    if (!file.output) continue;
    const int made = outputs[file.output - 1];
    sys::raw(SYS_dup3, made, file.descriptor, file.descriptor_flags & FD_CLOEXEC ? O_CLOEXEC : 0);
    if (is_placed[file.output - 1]) continue;
    is_placed[file.output - 1] = true;
    sys::raw(SYS_lseek, made, file.offset, SEEK_SET);
    sys::raw(SYS_fcntl, made, F_SETFL, file.status_flags);
  }
  for (const int made : outputs) sys::raw(SYS_close, made);
}

// In the run: the only thread of a new process.
void begin_run(const int (&outputs)[ServerRequest::kDescriptors], long command, int subreaper,
               uint64_t mask, translate::MadeBlocks* made) {
  sys::raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (sys::raw(SYS_getppid) != command) sys::raw(SYS_exit_group, 125);
  sys::raw(SYS_setsid);
  page::close_hidden(g_socket);
  put_outputs(outputs);
  Shared& s = shared();
  Task& task = self();
  task.identity.tid = s.processes.entries[g_process].pid = static_cast<int>(sys::raw(SYS_gettid));
  constant::stand_for_parent();
  sys::raw(SYS_set_tid_address, static_cast<long>(task.identity.clear_child_tid));
  constexpr long kHeadSize = 24;  // linux/futex.h, struct robust_list_head
  if (task.identity.robust_list)
    sys::raw(SYS_set_robust_list, static_cast<long>(task.identity.robust_list), kHeadSize);
  if (subreaper) sys::raw(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  const bool had_all_points = order::serial::has_all_points();
  order::serial::begin_forked(made);
  if (order::serial::has_all_points() != had_all_points) {
    translate::count_steps(!had_all_points);
    translate::on_patched_text();
  }
  trap::set_mask(mask);
}

// What runs have translated the server takes over, so that the next one has it. At a place of
// Weir's own: the addresses that the kernel gives the program must not move.
translate::MadeBlocks* map_made_blocks() {
  const long at = sys::raw(SYS_mmap, static_cast<long>(kMadeBlocks), sizeof(translate::MadeBlocks),
                           PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  return sys::failed(at) ? nullptr : reinterpret_cast<translate::MadeBlocks*>(at);
}

void serve() {
  const long command = sys::raw(SYS_getppid);
  int subreaper = 0;
  sys::raw(SYS_prctl, PR_GET_CHILD_SUBREAPER, reinterpret_cast<long>(&subreaper));
  uint64_t all = sys::kAllButFaults, mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&mask), 8);
  translate::MadeBlocks* const made = map_made_blocks();
  order::serial::prepare_forks();
  for (int outputs[ServerRequest::kDescriptors]; receive(outputs);) {
    if (made) translate::adopt(*made);
    for (uint32_t i = 0; i < g_files.count; i++) {
      const OpenFiles::File& file = g_files.files[i];
      if (!file.output && file.offset >= 0)
        sys::raw(SYS_lseek, file.descriptor, file.offset, SEEK_SET);
    }
    const long pid = sys::raw(SYS_clone, CLONE_PARENT);
    if (pid == 0) {
      begin_run(outputs, command, subreaper, mask, made);
      return;
    }
    for (const int made : outputs) sys::raw(SYS_close, made);
    if (sys::failed(pid)) say(ServerWord::kFailed, static_cast<int>(-pid));
    else say(ServerWord::kForked, static_cast<int>(pid));
  }
  sys::raw(SYS_exit_group, 0);
}

}  // namespace

void prepare_fork_server() {
  g_socket = order::serial::server();
  if (g_socket < 0) return;
  page::keep_hidden(g_socket);
  note_inherited_files();
  served::g_watches = true;
}

void serve_forks() {
  // A child of the program has the socket, too.
  if (!served::g_watches) return;
  served::g_watches = false;
  if (order::serial::server() < 0) return;
  if (!has_no_obstacle(g_word.text) || !find_open_files(g_files, g_word.text)) {
    say(ServerWord::kRefused);
    page::close_hidden(g_socket);
    return;
  }
  append_text(g_word.text, served::g_place);
  say(ServerWord::kReady);
  serve();
}

}  // namespace weir::runtime
