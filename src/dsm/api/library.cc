// What libweir-dsm.so has beside its parts: its own operator new, which no other library sees. If
// memory runs out, the job ends and says so. An exception would come out of a C function, out of
// the handler of a fault, or on the server's thread. The usual operator delete frees the memory,
// because both are malloc and free. And functions of libc's names that stand before libc's _exit:
// nobody else would notice that all nodes end so at once.
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "dsm/base/failure.h"

namespace {

void* allocate(size_t size) {
  void* memory = malloc(size ? size : 1);
  if (!memory) weir::dsm::fail("no memory: %zu bytes are wanted", size);
  return memory;
}

}  // namespace

#pragma GCC diagnostic ignored "-Wattributes"
__attribute__((visibility("hidden"))) void* operator new(size_t size) { return allocate(size); }
__attribute__((visibility("hidden"))) void* operator new[](size_t size) { return allocate(size); }

extern "C" {
#pragma GCC visibility push(default)
// Also the library's own, once it has said why the process ends.
__attribute__((noreturn)) void _exit(int status) {
  weir::dsm::on_exit_at_once(status);
  while (true) syscall(SYS_exit_group, status);
}
__attribute__((noreturn)) void _Exit(int status) noexcept { _exit(status); }
#pragma GCC visibility pop
}
