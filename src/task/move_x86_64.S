# A task leaves one process and arrives in another: registers that a called function keeps, x87 and
# vector state, the stack pointer. The return address lies on the runtime's stack, which both
# processes see.

#include "task/move_offsets.h"

    .text
# void weir_leave(MovedState*, uint64_t stack, void (*function)()): function() on `stack`, never to
# return.
    .globl weir_leave
    .hidden weir_leave
    .type weir_leave,@function
weir_leave:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rdx,%rcx
    mov MOVED_COMPONENTS(%rdi),%eax
    xor %edx,%edx
    xsave64 MOVED_VECTORS(%rdi)
    mov %rsp,MOVED_RSP(%rdi)
    mov %rsi,%rsp
    xor %ebp,%ebp
    call *%rcx
    hlt
    .size weir_leave,.-weir_leave

# void weir_arrive(MovedState*): returns from the weir_leave that saved it.
    .globl weir_arrive
    .hidden weir_arrive
    .type weir_arrive,@function
weir_arrive:
    mov MOVED_COMPONENTS(%rdi),%eax
    xor %edx,%edx
    xrstor64 MOVED_VECTORS(%rdi)
    mov MOVED_RSP(%rdi),%rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
    .size weir_arrive,.-weir_arrive
    .section .note.GNU-stack,"",@progbits
