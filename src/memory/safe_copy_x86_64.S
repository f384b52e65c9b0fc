# Copies and hashes that may fault: on_signal sends a SIGSEGV or SIGBUS between weir_safe_begin
# and weir_safe_end to weir_safe_fault. Nothing is on the stack there but the return address.

    .text
    .globl weir_safe_begin
    .hidden weir_safe_begin
weir_safe_begin:

# long weir_safe_copy(to, from, size): 0 or -EFAULT. One word is the usual case.
    .globl weir_safe_copy
    .hidden weir_safe_copy
    .type weir_safe_copy,@function
weir_safe_copy:
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
    .size weir_safe_copy,.-weir_safe_copy

# long weir_safe_string(to, from, capacity): length, `capacity` where no NUL came, or -EFAULT.
    .globl weir_safe_string
    .hidden weir_safe_string
    .type weir_safe_string,@function
weir_safe_string:
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
    .size weir_safe_string,.-weir_safe_string

# long weir_safe_hash(from, size, lanes): the bytes go into four hashes side by side, as a
# processor multiplies again before it has the last product. 0, or -EFAULT and nothing is changed.
    .macro mix from, lane
    xor \from,\lane
    rol $29,\lane
    imul %rax,\lane
    .endm
    .globl weir_safe_hash
    .hidden weir_safe_hash
    .type weir_safe_hash,@function
weir_safe_hash:
    movabs $0x9E3779B97F4A7C15,%rax
    mov (%rdx),%r8
    mov 8(%rdx),%r9
    mov 16(%rdx),%r10
    mov 24(%rdx),%r11
    cmp $8,%rsi
    jb 4f
    mov -8(%rdi,%rsi),%rcx                      # the last word, of which some may come twice
    sub $32,%rsi
    jb 2f
1:  mix (%rdi),%r8
    mix 8(%rdi),%r9
    mix 16(%rdi),%r10
    mix 24(%rdi),%r11
    add $32,%rdi
    sub $32,%rsi
    jae 1b
2:  add $24,%rsi                                # 8 less than are left
    js 7f
3:  mix (%rdi),%r8
    add $8,%rdi
    sub $8,%rsi
    jns 3b
7:  mix %rcx,%r8
    jmp 6f
4:  xor %ecx,%ecx
    test %rsi,%rsi
    je 6f
5:  shl $8,%rcx
    mov -1(%rdi,%rsi),%cl
    dec %rsi
    jne 5b
    mix %rcx,%r8
6:  mov %r8,(%rdx)
    mov %r9,8(%rdx)
    mov %r10,16(%rdx)
    mov %r11,24(%rdx)
    xor %eax,%eax
    ret
    .size weir_safe_hash,.-weir_safe_hash

# long weir_safe_touch(void* at)
# Writes the byte that is there, as a locked instruction would.
    .globl weir_safe_touch
    .hidden weir_safe_touch
    .type weir_safe_touch,@function
weir_safe_touch:
    lock orb $0,(%rdi)
    xor %eax,%eax
    ret
    .size weir_safe_touch,.-weir_safe_touch

# The repeated string instructions, 8 bytes apart, as RepeatedString names them. ebp is 0 where
# one is over.
    .macro repeated instructions:vararg
    .irp instruction,\instructions
    .balign 8
    \instruction
    mov %r8d,%ebp
    ret
    .endr
    .endm
    .balign 8
repeated_strings:
    repeated "rep movsb","rep movsw","rep movsl","rep movsq"
    repeated "rep stosb","rep stosw","rep stosl","rep stosq"
    repeated "repe cmpsb","repe cmpsw","repe cmpsl","repe cmpsq"
    repeated "repne cmpsb","repne cmpsw","repne cmpsl","repne cmpsq"
    repeated "repe scasb","repe scasw","repe scasl","repe scasq"
    repeated "repne scasb","repne scasw","repne scasl","repne scasq"

    .globl weir_safe_end
    .hidden weir_safe_end
weir_safe_end:
    .globl weir_safe_fault
    .hidden weir_safe_fault
weir_safe_fault:
    mov $-14,%rax                               # -EFAULT
    ret

# long weir_repeat(RepeatedString* state, uint64_t which): 0, or 1 where it has come to a fault.
    .globl weir_repeat
    .hidden weir_repeat
    .type weir_repeat,@function
weir_repeat:
    push %rbx
    push %rbp
    mov %rdi,%rbx
    lea repeated_strings(%rip),%r9
    lea (%r9,%rsi,8),%r9
    mov 8(%rbx),%rsi
    mov 16(%rbx),%rcx
    mov 24(%rbx),%rax
    pushq 32(%rbx)
    mov (%rbx),%rdi
    xor %r8d,%r8d
    mov $1,%ebp
    popfq
    call *%r9
    pushfq
    popq 32(%rbx)
    cld
    mov %rdi,(%rbx)
    mov %rsi,8(%rbx)
    mov %rcx,16(%rbx)
    mov %ebp,%eax
    pop %rbp
    pop %rbx
    ret
    .size weir_repeat,.-weir_repeat
    .section .note.GNU-stack,"",@progbits
