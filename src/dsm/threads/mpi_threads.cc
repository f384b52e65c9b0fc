// Problem: a program may call MPI_Init before weir_dsm_start. The threads that MPI starts in there
// never end, so where all of the program's threads end by pthread_exit, its process stays, and the
// job with it. Mechanism: a function of libc's name. Whoever starts a thread while a function of
// MPI's library is on the stack is MPI, whichever of its plug-ins calls. Such a thread is noted as
// the runtime's (main_thread.h). MPI's library is the one that defines PMPI_Init: MPI_Init may be a
// tool's, or the program's own. If MPI is linked into the program, none is noted.
//
// Invariant: only what MPI starts is noted; a thread of the program's that is not seen is taken for
// the program's, and the process waits for it. (not checkable: nothing else knows whose a thread
// is)
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "dsm/threads/main_thread.h"

namespace weir::dsm {
namespace {

constexpr int kFrames = 64;

const void* object_of(const void* address) {
  Dl_info where{};
  return address && dladdr(address, &where) ? where.dli_fbase : nullptr;
}

bool is_called_by_mpi() {
  const void* const mpi = object_of(dlsym(RTLD_DEFAULT, "PMPI_Init"));
  const void* const program = object_of(reinterpret_cast<const void*>(getauxval(AT_PHDR)));
  if (!mpi || mpi == program) return false;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  for (int i = 0; i < count; i++) {
    if (object_of(frames[i]) == mpi) return true;
  }
  return false;
}

struct Start {
  void* (*body)(void*);
  void* argument;
};

void* run_noted(void* of) {
  const Start start = *static_cast<Start*>(of);
  free(of);
  note_own_thread();
  return start.body(start.argument);
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
    void* argument) noexcept {
  static auto* const libc =
      reinterpret_cast<decltype(pthread_create)*>(dlsym(RTLD_NEXT, "pthread_create"));
  Start* const start =
      !is_started() && is_called_by_mpi() ? static_cast<Start*>(malloc(sizeof(Start))) : nullptr;
  if (!start) return libc(thread, attributes, body, argument);
  *start = {body, argument};
  const int error = libc(thread, attributes, run_noted, start);
  if (error) free(start);
  return error;
}
