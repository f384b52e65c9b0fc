# Machine code that translated blocks are made of (weir_count_lookup, copied into each), and the serializing instruction.
#
# Invariants
# 1. No flag is written, no register lost, nothing put on the program's stack.
# 2. Every place in a copy lies in the cache, so that a signal handler knows where it is.

#include "count/offsets.h"
#include "patch/frame_offsets.h"

    .text
# In: rcx is where the program goes on; its own rcx and rdx are saved. Out: there, in its translation.
# The table knows one block for each value of the lower 16 bits of an address, and a block has the negative of its own
# address in front of it, so the sum is 0 where it is the one that is wanted.
    .globl weir_count_lookup, weir_count_lookup_miss, weir_count_lookup_end
    .hidden weir_count_lookup, weir_count_lookup_miss, weir_count_lookup_end
weir_count_lookup:
    movabs $COUNT_TARGETS_INDEX,%rdx
    mov %cx,%dx
    mov (,%rdx,8),%rdx
    mov %rdx,%gs:TASK_COUNT_JUMP
    mov -8(%rdx),%rdx
    lea (%rcx,%rdx),%rcx
    jrcxz 1f
    not %rdx
    lea 1(%rcx,%rdx),%rcx                       # the address again
    mov %rcx,%gs:TASK_COUNT_RIP
    mov %gs:TASK_COUNT_RCX,%rcx
    mov %gs:TASK_COUNT_RDX,%rdx
    .byte 0xe9                                  # jmp to the thunk of misses
weir_count_lookup_miss:
    .long 0
1:  mov %gs:TASK_COUNT_RCX,%rcx
    mov %gs:TASK_COUNT_RDX,%rdx
    jmp *%gs:TASK_COUNT_JUMP
weir_count_lookup_end:

# void weir_count_serialize(): iret is one of the few serializing instructions that no hypervisor intercepts.
    .globl weir_count_serialize
    .hidden weir_count_serialize
    .type weir_count_serialize,@function
weir_count_serialize:
    mov %rsp,%rax
    mov %ss,%ecx
    push %rcx
    push %rax
    pushfq
    mov %cs,%ecx
    push %rcx
    lea 1f(%rip),%rcx
    push %rcx
    iretq
1:  ret
    .size weir_count_serialize,.-weir_count_serialize

    .section .note.GNU-stack,"",@progbits
