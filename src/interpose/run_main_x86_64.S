# int weir_run_main(argc, argv, envp): what libc calls as the program's main. It calls that one, and
# then weir_main_is_over(status), never to return. As in libc itself, nothing behind the call needs
# the stack pointer that was before it: programs of Free Pascal end by a jump to main's return
# address, from wherever their stack stands.

    .text
    .globl weir_run_main
    .hidden weir_run_main
    .type weir_run_main,@function
weir_run_main:
    .cfi_startproc
    sub $8,%rsp
    .cfi_adjust_cfa_offset 8
    call *weir_program_main(%rip)
    and $-16,%rsp
    mov %eax,%edi
    call weir_main_is_over
    hlt
    .cfi_endproc
    .size weir_run_main,.-weir_run_main
    .section .note.GNU-stack,"",@progbits
