// For tests: what a small runtime of their own needs, as code/patch/entry_x86_64.S is for the real
// one.
#pragma once

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// Code that sites enter: no vector registers, as the program has them.
#define WEIR_TEST_HANDLER \
  __attribute__((target("general-regs-only"), no_sanitize("address", "undefined")))

// Under the address sanitizer the runtime calls libc's memcpy, which uses vector registers, so
// there they are kept around it.
#ifdef __SANITIZE_ADDRESS__
#define WEIR_TEST_VECTORS \
  "mov $0xe7, %eax; xor %edx, %edx; "  // which xsave is to take: all up to AVX-512's
#define WEIR_TEST_KEEP_VECTORS                                                                \
  "sub $0xb00, %rsp; and $-64, %rsp; xor %eax, %eax; lea 512(%rsp), %rdi; mov $8, %ecx; rep " \
  "stosq;" WEIR_TEST_VECTORS "xsave64 (%rsp); mov %rbx, %rdi;"
#define WEIR_TEST_GIVE_VECTORS_BACK WEIR_TEST_VECTORS "xrstor64 (%rsp);"
#else
#define WEIR_TEST_KEEP_VECTORS
#define WEIR_TEST_GIVE_VECTORS_BACK
#endif

// Defines the function `entry` (a string), to which sites go: it calls void `on_site`(Frame*) on
// the stack of %gs:0x18 and goes on as the frame then says.
#define WEIR_TEST_ENTRY(entry, on_site)                                                    \
  asm(".text\n" entry                                                                      \
      ":"                                                                                  \
      "lea -152(%rsp), %rsp;"                                                              \
      "mov %rax, 112(%rsp); mov %rcx, 104(%rsp); mov %rdx, 96(%rsp); mov %rbx, 88(%rsp);"  \
      "mov %rbp, 80(%rsp);  mov %rsi, 72(%rsp);  mov %rdi, 64(%rsp); mov %r8, 56(%rsp);"   \
      "mov %r9, 48(%rsp);   mov %r10, 40(%rsp);  mov %r11, 32(%rsp); mov %r12, 24(%rsp);"  \
      "mov %r13, 16(%rsp);  mov %r14, 8(%rsp);   mov %r15, 0(%rsp);"                       \
      "pushfq; pop %rax; mov %rax, 120(%rsp); mov %gs:0x10, %rax; mov %rax, 128(%rsp);"    \
      "cld; mov %rsp, %rdi; mov %rsp, %rbx;" WEIR_TEST_KEEP_VECTORS "call " on_site        \
      ";" WEIR_TEST_GIVE_VECTORS_BACK                                                      \
      "mov %rbx, %rsp; mov 136(%rsp), %rax; mov %rax, %gs:0x28; pushq 120(%rsp); popfq;"   \
      "mov 104(%rsp), %rcx; mov 96(%rsp), %rdx; mov 88(%rsp), %rbx; mov 80(%rsp), %rbp;"   \
      "mov 72(%rsp), %rsi;  mov 64(%rsp), %rdi; mov 56(%rsp), %r8;  mov 48(%rsp), %r9;"    \
      "mov 40(%rsp), %r10;  mov 32(%rsp), %r11; mov 24(%rsp), %r12; mov 16(%rsp), %r13;"   \
      "mov 8(%rsp), %r14;   mov 0(%rsp), %r15;  mov 112(%rsp), %rax; mov 128(%rsp), %rsp;" \
      "jmp *%gs:0x28")

namespace weir::test {

// Runs `body` in a child that may do to itself what it likes. True: it returned true and left with
// status 0.
template <typename Body>
bool in_child(Body body) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(50);
    const bool good = body();
    fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) printf("child: status %x\n", static_cast<unsigned>(status));
  return status == 0;
}

}  // namespace weir::test
