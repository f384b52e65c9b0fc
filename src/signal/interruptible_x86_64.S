# long weir_interruptible(number, a, b, c, d, e, f): a system call that is not begun when a signal
# is pending for the task. A handler that finds rip between weir_interruptible_begin and
# weir_interruptible_end sets it to weir_interrupted, so a signal that comes after the look at
# `pending` is not slept over. At weir_interruptible_end the call has been made.

#include "code/patch/frame_offsets.h"

# From where a function of seven arguments has them to where the kernel looks for them.
.macro ARGUMENTS_TO_KERNEL
    mov %rdi,%rax
    mov %rsi,%rdi
    mov %rdx,%rsi
    mov %rcx,%rdx
    mov %r8,%r10
    mov %r9,%r8
    mov 8(%rsp),%r9
.endm

    .text
    .globl weir_interruptible
    .hidden weir_interruptible
    .type weir_interruptible,@function
weir_interruptible:
    ARGUMENTS_TO_KERNEL
    .globl weir_interruptible_begin
    .hidden weir_interruptible_begin
weir_interruptible_begin:
    cmpl $0,%gs:TASK_PENDING
    jne weir_interrupted
    cmpl $0,%gs:TASK_INBOX
    jne weir_interrupted
    syscall
    .globl weir_interruptible_end
    .hidden weir_interruptible_end
weir_interruptible_end:
    ret
    .globl weir_interrupted
    .hidden weir_interrupted
weir_interrupted:
    mov $-4,%rax
    ret
    .size weir_interruptible,.-weir_interruptible

# long weir_program_call(number, a, b, c, d, e, f): a system call that the program makes, and that
# is begun in any case. By its address, and that of the call above, it is told from those that the
# runtime makes for itself (record/call_filter.cc): at weir_program_call_end it has been made.

    .globl weir_program_call
    .hidden weir_program_call
    .type weir_program_call,@function
weir_program_call:
    ARGUMENTS_TO_KERNEL
    syscall
    .globl weir_program_call_end
    .hidden weir_program_call_end
weir_program_call_end:
    ret
    .size weir_program_call,.-weir_program_call
    .section .note.GNU-stack,"",@progbits
