// The one place where system calls on shared memory are made: the filter lets it through
// (kernel_filter.h).
#include "dsm/segment/kernel_filter.h"

asm(R"(
  .pushsection .text
  .globl weir_dsm_gate, weir_dsm_gate_end
  .hidden weir_dsm_gate, weir_dsm_gate_end
  .type weir_dsm_gate,@function
weir_dsm_gate:
  .cfi_startproc
  mov %rdi, %rax
  mov 0(%rsi), %rdi
  mov 16(%rsi), %rdx
  mov 24(%rsi), %r10
  mov 32(%rsi), %r8
  mov 40(%rsi), %r9
  mov 8(%rsi), %rsi
  syscall
weir_dsm_gate_end:
  ret
  .cfi_endproc
  .size weir_dsm_gate, .-weir_dsm_gate
  .popsection
)");
