# Copies that may fault: on_signal sends a SIGSEGV or SIGBUS between weir_guarded_begin and
# weir_guarded_end to weir_guarded_fault. Nothing is on the stack there but the return address.

    .text
    .globl weir_guarded_begin
    .hidden weir_guarded_begin
weir_guarded_begin:

# long weir_guarded_copy(to, from, size): 0 or -EFAULT. One word is the usual case.
    .globl weir_guarded_copy
    .hidden weir_guarded_copy
    .type weir_guarded_copy,@function
weir_guarded_copy:
    xor %eax,%eax
    cmp $4,%rdx
    jne 1f
    mov (%rsi),%ecx
    mov %ecx,(%rdi)
    ret
1:  cmp $8,%rdx
    jne 2f
    mov (%rsi),%rcx
    mov %rcx,(%rdi)
    ret
2:  mov %rdx,%rcx
    rep movsb
    ret
    .size weir_guarded_copy,.-weir_guarded_copy

# long weir_guarded_string(to, from, capacity): length, `capacity` where no NUL came, or -EFAULT.
    .globl weir_guarded_string
    .hidden weir_guarded_string
    .type weir_guarded_string,@function
weir_guarded_string:
    xor %eax,%eax
1:  cmp %rdx,%rax
    je 2f
    mov (%rsi,%rax),%cl
    mov %cl,(%rdi,%rax)
    inc %rax
    test %cl,%cl
    jne 1b
    dec %rax
2:  ret
    .size weir_guarded_string,.-weir_guarded_string

    .globl weir_guarded_end
    .hidden weir_guarded_end
weir_guarded_end:
    .globl weir_guarded_fault
    .hidden weir_guarded_fault
weir_guarded_fault:
    mov $-14,%rax                               # -EFAULT
    ret
    .section .note.GNU-stack,"",@progbits
