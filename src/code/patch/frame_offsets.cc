// The assembly's offsets are those of Frame and Task.
#include "code/patch/frame_offsets.h"

#include <stddef.h>

#include "base/frame.h"
#include "control/task.h"

namespace weir {

static_assert(offsetof(Frame, r15) == FRAME_R15 && offsetof(Frame, r14) == FRAME_R14);
static_assert(offsetof(Frame, r13) == FRAME_R13 && offsetof(Frame, r12) == FRAME_R12);
static_assert(offsetof(Frame, r11) == FRAME_R11 && offsetof(Frame, r10) == FRAME_R10);
static_assert(offsetof(Frame, r9) == FRAME_R9 && offsetof(Frame, r8) == FRAME_R8);
static_assert(offsetof(Frame, rdi) == FRAME_RDI && offsetof(Frame, rsi) == FRAME_RSI);
static_assert(offsetof(Frame, rbp) == FRAME_RBP && offsetof(Frame, rbx) == FRAME_RBX);
static_assert(offsetof(Frame, rdx) == FRAME_RDX && offsetof(Frame, rcx) == FRAME_RCX);
static_assert(offsetof(Frame, rax) == FRAME_RAX && offsetof(Frame, rflags) == FRAME_RFLAGS);
static_assert(offsetof(Frame, rsp) == FRAME_RSP && offsetof(Frame, rip) == FRAME_RIP);
static_assert(offsetof(Frame, shown) == FRAME_SHOWN && offsetof(Frame, site) == FRAME_SITE);
static_assert(offsetof(Task, scratch_rsp) == TASK_SCRATCH_RSP);
static_assert(offsetof(Task, stack_top) == TASK_STACK_TOP && offsetof(Task, frame) == TASK_FRAME);
static_assert(offsetof(Task, jump_target) == TASK_JUMP);
static_assert(offsetof(Task, in_runtime) == TASK_IN_RUNTIME);
static_assert(offsetof(Task, replays) == TASK_REPLAYS && offsetof(Task, pending) == TASK_PENDING);
static_assert(offsetof(Task, inbox_count) == TASK_INBOX);
static_assert(offsetof(Task, fast_lock_section) == TASK_FAST_LOCK_SECTION);
static_assert(offsetof(Task, raising) == TASK_RAISING);
static_assert(offsetof(Task, resume) == TASK_RESUME && offsetof(Task, delivered) == TASK_DELIVERED);

}  // namespace weir
