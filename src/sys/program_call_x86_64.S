# long weir_program_call(number, a, b, c, d, e, f): a system call that the program makes. Like that
# of weir_interruptible it is told by its address from those that the runtime makes for itself
# (syscall/filter.cc): at weir_program_call_end the call has been made.

    .text
    .globl weir_program_call
    .hidden weir_program_call
    .type weir_program_call,@function
weir_program_call:
    mov %rdi,%rax
    mov %rsi,%rdi
    mov %rdx,%rsi
    mov %rcx,%rdx
    mov %r8,%r10
    mov %r9,%r8
    mov 8(%rsp),%r9
    syscall
    .globl weir_program_call_end
    .hidden weir_program_call_end
weir_program_call_end:
    ret
    .size weir_program_call,.-weir_program_call
    .section .note.GNU-stack,"",@progbits
