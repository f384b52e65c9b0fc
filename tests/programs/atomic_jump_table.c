// A place that only a jump table leads to lies right behind a locked instruction that is shorter
// than a jump: the patch must leave it alone. Two tables: entries of four bytes relative to the
// table, and of eight bytes absolute.
#include <pthread.h>
#include <stdio.h>

long relative_switch(long choice, int* counter);
long absolute_switch(long choice, int* counter);

#define FUNCTION(name, jump, table)                                \
  asm(".text\n.globl " #name "\n.type " #name ",@function\n" #name \
      ":\n.cfi_startproc\n"                                        \
      "xor %eax,%eax\n" jump ".L" #name                            \
      "_count: lock incl (%rsi)\n"                                 \
      ".L" #name                                                   \
      "_one: inc %eax\n"                                           \
      ".L" #name                                                   \
      "_none: lea 2(%rax,%rax,2),%eax\nret\n"                      \
      ".cfi_endproc\n.size " #name ",.-" #name "\n" table ".text\n")

FUNCTION(relative_switch,
         "lea .Lrelative_table(%rip),%rdx\nmovslq (%rdx,%rdi,4),%rcx\nadd %rdx,%rcx\njmp *%rcx\n",
         ".section .rodata\n.balign 4\n.Lrelative_table: .long "
         ".Lrelative_switch_count-.Lrelative_table\n"
         ".long .Lrelative_switch_one-.Lrelative_table\n.long "
         ".Lrelative_switch_none-.Lrelative_table\n");
FUNCTION(absolute_switch, "lea .Labsolute_table(%rip),%rdx\njmp *(%rdx,%rdi,8)\n",
         ".section .data.rel.ro,\"aw\"\n.balign 8\n.Labsolute_table: .quad "
         ".Labsolute_switch_count,.Labsolute_switch_one,"
         ".Labsolute_switch_none\n");

static void* walk(void* counter) {
  for (long i = 0; i < 3; i++)
    printf("%ld %ld, ", relative_switch(i, counter), absolute_switch(i, counter));
  return NULL;
}

int main(void) {
  int counter = 0;
  pthread_t thread;
  walk(&counter);
  pthread_create(&thread, NULL, walk, &counter);
  pthread_join(thread, NULL);
  printf("%d\n", counter);
  return 0;
}
