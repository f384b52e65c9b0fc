# void weir_count_serialize(): iret is one of the few serializing instructions that no hypervisor
# intercepts.

    .text
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
