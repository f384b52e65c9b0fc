# An access that the program may not make, as a context of the program
# (signal/context/refused_access.h).
    .text
    .globl weir_refused_access
    .hidden weir_refused_access
    .type weir_refused_access,@function
weir_refused_access:
    lock orb $0,(%rax)
    .globl weir_refused_access_end
    .hidden weir_refused_access_end
weir_refused_access_end:
    int3                                        # it was allowed after all
    .size weir_refused_access,.-weir_refused_access
    .section .note.GNU-stack,"",@progbits
