// clone, clone3, fork and vfork.
#pragma once

#include "syscall/syscall.h"

namespace weir::syscalls {

long on_clone_call(Call& call);

}  // namespace weir::syscalls
