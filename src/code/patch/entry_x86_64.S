# The door between program and runtime. Every patched site and every interposed call comes through
# here.
#
# In: a stub has saved the program's rsp in %gs:0x10, loaded rsp with the top of the task's runtime
# stack and pushed the site's index. Out: all registers and flags from the Frame, rsp from
# Frame.rsp, execution at Frame.rip.
#
# Invariants
# 1. Nothing is written to the program's stack, so a View may drop the pages it lies on meanwhile.
#    (checked in come_in)
# 2. From weir_site_exit to weir_site_exit_end everything can be begun again from weir_site_exit:
#    the frame is only read. A signal handler that finds itself there notes the signal and sets rip
#    back to weir_site_exit, so that no signal is lost between the last look at `pending` and the
#    jump into the program. From weir_restore_begin to weir_restore_end it is so with the frame's
#    copy, but for recording, where no handler runs in between. (not checkable: assembly, which a
#    signal may interrupt anywhere)
# 3. in_runtime (%gs:0x30) is 1 from the first instructions to the last but two; the handler also
#    looks at rip. (checked in come_in)

#include "code/patch/frame_offsets.h"

# For unwinders: the program's registers lie in the Frame to which register \base points (its DWARF
# number: 0x70 is DW_OP_breg0). The return address is the word \place bytes in.
.macro CFI_FRAME_AT base, place
    .cfi_signal_frame
    .cfi_escape 0x0f,4,0x70+\base,0x80,0x01,0x06      # CFA: *(base + FRAME_RSP)
    # Return address; 128 to 255: the offset is its own first byte
    .cfi_escape 0x10,16,3,0x70+\base,\place,0x01
    .cfi_escape 0x10,0,3,0x70+\base,0xf0,0x00         # rax, rdx, rcx, rbx, rsi, rdi, rbp
    .cfi_escape 0x10,1,3,0x70+\base,0xe0,0x00
    .cfi_escape 0x10,2,3,0x70+\base,0xe8,0x00
    .cfi_escape 0x10,3,3,0x70+\base,0xd8,0x00
    .cfi_escape 0x10,4,3,0x70+\base,0xc8,0x00
    .cfi_escape 0x10,5,3,0x70+\base,0xc0,0x00
    .cfi_escape 0x10,6,3,0x70+\base,0xd0,0x00
    .cfi_escape 0x10,8,2,0x70+\base,0x38              # r8 to r15
    .cfi_escape 0x10,9,2,0x70+\base,0x30
    .cfi_escape 0x10,10,2,0x70+\base,0x28
    .cfi_escape 0x10,11,2,0x70+\base,0x20
    .cfi_escape 0x10,12,2,0x70+\base,0x18
    .cfi_escape 0x10,13,2,0x70+\base,0x10
    .cfi_escape 0x10,14,2,0x70+\base,0x08
    .cfi_escape 0x10,15,2,0x70+\base,0x00
.endm

# Flags and all registers but rsp, from the Frame at rsp.
.macro LOAD_REGISTERS
    pushq FRAME_RFLAGS(%rsp)
    popfq
    mov FRAME_R15(%rsp),%r15
    mov FRAME_R14(%rsp),%r14
    mov FRAME_R13(%rsp),%r13
    mov FRAME_R12(%rsp),%r12
    mov FRAME_R11(%rsp),%r11
    mov FRAME_R10(%rsp),%r10
    mov FRAME_R9(%rsp),%r9
    mov FRAME_R8(%rsp),%r8
    mov FRAME_RDI(%rsp),%rdi
    mov FRAME_RSI(%rsp),%rsi
    mov FRAME_RBP(%rsp),%rbp
    mov FRAME_RBX(%rsp),%rbx
    mov FRAME_RDX(%rsp),%rdx
    mov FRAME_RCX(%rsp),%rcx
    mov FRAME_RAX(%rsp),%rax
.endm

    .text
    .globl weir_upcall
    .hidden weir_upcall
    .type weir_upcall,@function
# long weir_upcall(function, a, b, c): registers as the C ABI passes them; the frame's rip is the
# return address.
weir_upcall:
    .cfi_startproc
    mov %rsp,%gs:TASK_SCRATCH_RSP
    mov %gs:TASK_STACK_TOP,%rsp
    push $-1
    jmp weir_site_entry
    .cfi_endproc
    .size weir_upcall,.-weir_upcall

    .globl weir_notified
    .hidden weir_notified
    .type weir_notified,@function
# From weir_notify, on the runtime's stack, with a Notice; TASK_SCRATCH_RSP is set. All registers
# stay as they are.
weir_notified:
    .cfi_startproc
    push $SITE_NOTIFIED
    jmp weir_site_entry
    .cfi_endproc
    .size weir_notified,.-weir_notified

    .globl weir_site_entry
    .hidden weir_site_entry
    .type weir_site_entry,@function
weir_site_entry:
    lea -FRAME_SITE(%rsp),%rsp
    mov %rax,FRAME_RAX(%rsp)
    mov %rcx,FRAME_RCX(%rsp)
    mov %rdx,FRAME_RDX(%rsp)
    mov %rbx,FRAME_RBX(%rsp)
    mov %rbp,FRAME_RBP(%rsp)
    mov %rsi,FRAME_RSI(%rsp)
    mov %rdi,FRAME_RDI(%rsp)
    mov %r8,FRAME_R8(%rsp)
    mov %r9,FRAME_R9(%rsp)
    mov %r10,FRAME_R10(%rsp)
    mov %r11,FRAME_R11(%rsp)
    mov %r12,FRAME_R12(%rsp)
    mov %r13,FRAME_R13(%rsp)
    mov %r14,FRAME_R14(%rsp)
    mov %r15,FRAME_R15(%rsp)
    pushfq
    pop %rax
    mov %rax,FRAME_RFLAGS(%rsp)
    mov %gs:TASK_SCRATCH_RSP,%rax
    mov %rax,FRAME_RSP(%rsp)
    mov %rsp,%gs:TASK_FRAME
    movl $1,%gs:TASK_IN_RUNTIME
    cld
    mov %rsp,%rdi
    xor %ebp,%ebp
    .cfi_startproc                              # a debugger sees the program below the runtime
    CFI_FRAME_AT 7, FRAME_SHOWN                 # rsp
    call weir_on_site

    .globl weir_site_exit
    .hidden weir_site_exit
weir_site_exit:
    mov %gs:TASK_FRAME,%rsp
    .cfi_endproc                                # it has to hold at the return address, too
    cmpl $0,%gs:TASK_PENDING
    jne 2f
1:  mov FRAME_RIP(%rsp),%rax
    mov %rax,%gs:TASK_JUMP
    LOAD_REGISTERS
    pushq %gs:TASK_FAST_LOCK_SECTION
    popq %gs:TASK_IN_RUNTIME
    mov FRAME_RSP(%rsp),%rsp
    jmp *%gs:TASK_JUMP
2:  cmpl $0,%gs:TASK_FAST_LOCK_SECTION              # signals wait for its end
    jne 1b
    jmp weir_exit_with_signals
    .globl weir_site_exit_end
    .hidden weir_site_exit_end
weir_site_exit_end:

# Signals wait for the program: the frame moves to the program's stack, the signals are raised
# there, and the handlers run with this code as their interrupted place. weir_prepare_delivery
# answers the copy's address. An unwinder that comes from a handler (cancellation, exceptions)
# finds the program's registers in that copy, through rbx, and the place in the program's own text:
# of a stub no unwinder knows anything.
weir_exit_with_signals:
    mov %rsp,%rdi
    call weir_prepare_delivery
4:  mov %rax,%rsp
    mov %rsp,%rbx
    .cfi_startproc
    CFI_FRAME_AT 3, FRAME_SHOWN                 # rbx
    mov %rsp,%rdi
    # It ends in_runtime, when no signal can come between
    call weir_raise_pending
    mov %rbx,%rsp
    .cfi_endproc
    test %al,%al
    jnz 3f
    .globl weir_restore_frame
    .hidden weir_restore_frame
# In: rsp = a Frame on the program's own stack, or on that of its handlers. Nothing is read beside
# it: a page of the program's that this needed, and a replay does not, would be an event too many.
weir_restore_frame:
    mov %rsp,%gs:TASK_DELIVERED
    .globl weir_restore_begin
    .hidden weir_restore_begin
weir_restore_begin:
    movq $0,%gs:TASK_RAISING
    mov FRAME_RIP(%rsp),%rax
    mov %rax,%gs:TASK_JUMP
    LOAD_REGISTERS
    mov FRAME_RSP(%rsp),%rsp
    jmp *%gs:TASK_JUMP
    .globl weir_restore_end
    .hidden weir_restore_end
weir_restore_end:
    .globl weir_restore_again
    .hidden weir_restore_again
weir_restore_again:                             # signals have come meanwhile: they are first
    mov %gs:TASK_DELIVERED,%rax
    jmp 4b
3:  movq $0,%gs:TASK_RAISING
    mov FRAME_RIP(%rsp),%rax                    # replaying
    mov %rax,%gs:TASK_RESUME
    LOAD_REGISTERS
    mov FRAME_RSP(%rsp),%rsp
weir_resume:                                    # in: registers, stack and flags are the program's
    mov %rsp,%gs:TASK_SCRATCH_RSP
    mov %gs:TASK_STACK_TOP,%rsp
    push $SITE_RESUMED
    jmp weir_site_entry

# A new task begins: rdi = its Frame on its runtime stack.
    .globl weir_enter_program
    .hidden weir_enter_program
weir_enter_program:
    mov %rdi,%gs:TASK_FRAME
    jmp weir_site_exit

# long weir_clone(flags, stack, parent_tid, child_tid, tls, entry, argument): entry(argument) in
# the child, on `stack`.
    .globl weir_clone
    .hidden weir_clone
    .type weir_clone,@function
weir_clone:
    mov %rcx,%r10
    mov %r9,%r11
    mov 8(%rsp),%rax
    sub $16,%rsi
    mov %rax,(%rsi)
    mov %r11,8(%rsi)
    mov $56,%eax
    syscall
    test %rax,%rax
    jz 1f
    ret
1:  xor %ebp,%ebp
    pop %rdi
    pop %rax
    call *%rax
    hlt
    .size weir_clone,.-weir_clone

# long weir_split(flags, monitor_stack): the child goes on here with 0; the parent never returns,
# it becomes the monitor.
    .globl weir_split
    .hidden weir_split
    .type weir_split,@function
weir_split:
    push %rbx
    mov %rsi,%rbx
    xor %esi,%esi
    xor %edx,%edx
    xor %r10d,%r10d
    xor %r8d,%r8d
    mov $56,%eax
    syscall
    test %rax,%rax
    jz 1f
    js 1f
    mov %rbx,%rsp
    xor %ebp,%ebp
    mov %rax,%rdi
    call weir_monitor
    hlt
1:  pop %rbx
    ret
    .size weir_split,.-weir_split

    .globl weir_sigreturn
    .hidden weir_sigreturn
weir_sigreturn:
    # Mov $15,%rax, in the encoding by which unwinders know a signal frame
    .byte 0x48,0xc7,0xc0,0x0f,0,0,0
    syscall
    hlt

# The same where tasks have protection keys: what the handler has done to its task's rights is put
# into the frame that it returns by. In: rsp = the kernel's ucontext. Unwinders are told by CFI
# where the registers are in it; they look one byte before a return address.
.macro CFI_IN_CONTEXT register, low, high
    .cfi_escape 0x10,\register,3,0x77,\low,\high
.endm
    .cfi_startproc
    .cfi_signal_frame
    .cfi_escape 0x0f,4,0x77,0xa0,0x01,0x06      # CFA: *(rsp + 160)
    CFI_IN_CONTEXT 8, 0xa8, 0x00                # r8 to r15 from 40 on
    CFI_IN_CONTEXT 9, 0xb0, 0x00
    CFI_IN_CONTEXT 10, 0xb8, 0x00
    CFI_IN_CONTEXT 11, 0xc0, 0x00
    CFI_IN_CONTEXT 12, 0xc8, 0x00
    CFI_IN_CONTEXT 13, 0xd0, 0x00
    CFI_IN_CONTEXT 14, 0xd8, 0x00
    CFI_IN_CONTEXT 15, 0xe0, 0x00
    CFI_IN_CONTEXT 5, 0xe8, 0x00                # rdi, rsi, rbp, rbx, rdx, rax, rcx from 104 on
    CFI_IN_CONTEXT 4, 0xf0, 0x00
    CFI_IN_CONTEXT 6, 0xf8, 0x00
    CFI_IN_CONTEXT 3, 0x80, 0x01
    CFI_IN_CONTEXT 1, 0x88, 0x01
    CFI_IN_CONTEXT 0, 0x90, 0x01
    CFI_IN_CONTEXT 2, 0x98, 0x01
    CFI_IN_CONTEXT 7, 0xa0, 0x01                # rsp, rip
    CFI_IN_CONTEXT 16, 0xa8, 0x01
    nop
    .globl weir_key_sigreturn
    .hidden weir_key_sigreturn
weir_key_sigreturn:
    mov %rsp,%rbx
    mov %rsp,%rdi
    and $-16,%rsp
    call weir_on_key_sigreturn
    mov %rbx,%rsp
    mov $15,%eax
    syscall
    hlt
# The same where the handler was shown the registers of the program in place of the runtime's.
    .globl weir_shown_sigreturn
    .hidden weir_shown_sigreturn
weir_shown_sigreturn:
    mov %rsp,%rbx
    mov %rsp,%rdi
    and $-16,%rsp
    call weir_on_shown_sigreturn
    mov %rbx,%rsp
    test %eax,%eax
    jnz weir_copied_sigreturn
    mov $15,%eax
    syscall
    hlt
# The same from a copy of the frame, where the kernel might not be able to read the program's stack:
# a page of it may be another task's by now.
    .globl weir_copied_sigreturn
    .hidden weir_copied_sigreturn
weir_copied_sigreturn:
    mov $2,%edi                                 # SIG_SETMASK: until the kernel sets the frame's
    lea weir_all_but_faults_and_steps(%rip),%rsi
    xor %edx,%edx
    mov $8,%r10d
    mov $14,%eax                                # rt_sigprocmask
    syscall
    mov %rsp,%rdi
    mov %gs:TASK_STACK_TOP,%rsp
    sub $SIGRETURN_COPY,%rsp
    and $-64,%rsp
    mov %rsp,%rsi
    call weir_copy_for_sigreturn
    mov %rax,%rsp
    mov $15,%eax
    syscall
    hlt
    .globl weir_shown_sigreturn_end
    .hidden weir_shown_sigreturn_end
weir_shown_sigreturn_end:
    .cfi_endproc

# void weir_run_handler(stack, handler, signal, info, context, mask): onto the program's stack,
# into the program's handler. The mask is set here, where nothing of the runtime's stacks is in use
# any more: other signals may come at once. A handler begins with the registers of what it
# interrupts, as the kernel leaves them, but rax, rdi, rsi, rdx, rsp, and here r11: a signal that
# comes here, or at its first instruction, keeps all of them in a frame, flags too; what the
# runtime left in them would be something else in a replay.
.macro OTHER_REGISTERS_OF_CONTEXT
    mov 56(%rdx),%r10
    mov 72(%rdx),%r12
    mov 80(%rdx),%r13
    mov 88(%rdx),%r14
    mov 128(%rdx),%rbx
    mov 152(%rdx),%rcx
    xor %eax,%eax
.endm
    .globl weir_run_handler
    .hidden weir_run_handler
weir_run_handler:
    mov %rdi,%rsp
    mov %rsi,%rbx
    mov %rdx,%r12
    mov %rcx,%r13
    mov %r8,%r14
    mov %r9,-8(%rsp)
    mov 40(%r14),%r8
    mov 48(%r14),%r9
    mov 96(%r14),%r15
    mov 120(%r14),%rbp
    mov $2,%edi                                 # SIG_SETMASK
    lea -8(%rsp),%rsi
    xor %edx,%edx
    mov $8,%r10d
    mov $14,%eax                                # rt_sigprocmask
    syscall
    mov %rbx,%r11
    mov %r12,%rdi
    mov %r13,%rsi
    mov %r14,%rdx
    cmpl $0,%gs:TASK_REPLAYS
    jne 1f
    OTHER_REGISTERS_OF_CONTEXT
    jmp *%r11
1:  mov %r11,%gs:TASK_RESUME
    OTHER_REGISTERS_OF_CONTEXT
    jmp weir_resume
    .globl weir_entry_end
    .hidden weir_entry_end
weir_entry_end:

    .section .note.GNU-stack,"",@progbits
