// A statically linked program under Weir. The program that the kernel started is weir-host
// (src/host/host_x86_64.cc), which has mapped the static one. From here on the C library that
// Weir has learned of is not the program's: nothing of the program's memory is taken for that
// library's.
#include "control/static_program.h"
#include "code/find/static_image.h"
#include "code/program/text_patches.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/static_program.h"

namespace weir {
namespace {

long begin(const WeirStaticProgram& program) {
  sys::g_has_glibc_thread = false;
  syscalls::begin_static_program(program.path);
  syscalls::choose_handled(false);
  shared().program.stack_begin = program.stack;
  shared().memory.text_pending = 0;
  if (!static_image::learn({program.start, program.limit}, {program.file, program.file_limit},
                           program.bias)) {
    report("no memory for what the file of %s says of it", program.name);
    die(125);
  }
  runtime::patch_all(runtime::first_patch_kinds());
  return 0;
}

}  // namespace
}  // namespace weir

extern "C" [[gnu::visibility("default")]] void weir_begin_static(const WeirStaticProgram* program) {
  if (weir::options().passive()) return;
  weir::weir_upcall(
      [](long at, long, long) { return weir::begin(*reinterpret_cast<WeirStaticProgram*>(at)); },
      reinterpret_cast<long>(program), 0, 0);
}
