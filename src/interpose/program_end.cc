// Where a program begins to end: exit(), and the return from main, of which libc's own exit does
// not tell anybody. From then on the ending task waits only for a while for a task that makes no
// event (order/rounds.cc).

#include "control/process.h"
#include "control/task.h"
#include "interpose/event_call.h"
#include "sys/libc.h"

namespace {

using Main = int (*)(int, char**, char**);
Main g_main;

void note_end() {
  if (weir::g_tasks_active) weir::self().identity.exiting = 1;
  weir::interpose::acquire_in_program(weir::happens::kAtExit);
}

int run_main(int argc, char** argv, char** envp) {
  int status = g_main(argc, argv, envp);
  note_end();
  return status;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int __libc_start_main(Main main, int argc, char** argv,
                                                             void (*init)(), void (*fini)(),
                                                             void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto real = reinterpret_cast<Start>(weir::libc::find("__libc_start_main"));
  g_main = main;
  return real(run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((visibility("default"))) void exit(int status) {
  note_end();
  auto real = reinterpret_cast<void (*)(int)>(weir::libc::find("exit"));
  real(status);
  __builtin_unreachable();
}
}
