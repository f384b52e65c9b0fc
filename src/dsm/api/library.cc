// What libweir-dsm.so has beside its parts: its own operator new, which no other library sees
// (exports.map). Its memory is not malloc's (own_memory.h). If memory runs out, the job ends and
// says so: an exception would come out of a C function, out of the handler of a fault, or on the
// server's thread. What libstdc++ has allocated is freed as libstdc++ would. And functions of
// libc's names that stand before libc's _exit: nobody else would notice that all nodes end so at
// once.
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "dsm/base/failure.h"
#include "dsm/base/own_memory.h"

namespace {

void* allocate(size_t size) {
  void* memory = weir::dsm::own_allocate(size);
  if (!memory) weir::dsm::fail("no memory: %zu bytes are wanted", size);
  return memory;
}

void release(void* memory) {
  if (weir::dsm::is_own(memory)) weir::dsm::own_free(memory);
  else free(memory);
}

}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
// For sorting, which does with less.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return weir::dsm::own_allocate(size);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }

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
