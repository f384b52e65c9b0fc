// Constants among code, whose bytes are those of a locked instruction or put a decoder out of step:
// what the program reads there must be what it was built with. And locked instructions that only
// such places lead to: they must be seen.
#include <pthread.h>
#include <stdio.h>

const unsigned char* table_behind_return(void);
const unsigned char* table_behind_return_described(void);
const unsigned char* table_behind_call(void);
long words_between_blocks(void);
void count_undescribed(int* counter);
void count_behind_pop(int* counter);
void count_by_label(int* counter, long choice);

// Behind a function's return, in the bytes that are its own by its symbol; the second has an unwind
// table, too.
#define TABLE \
  "lea 1f(%rip),%rax\nret\n.p2align 3\n1: .byte 0xf0,0x48,0x0f,0xb1,0x0f,0xc3,0x11,0x22\n"
asm(".text\n.globl table_behind_return\n.type "
    "table_behind_return,@function\ntable_behind_return:\n" TABLE
    ".size table_behind_return,.-table_behind_return\n"
    ".globl table_behind_return_described\n.type table_behind_return_described,@function\n"
    "table_behind_return_described:\n.cfi_startproc\n" TABLE
    ".cfi_endproc\n"
    ".size table_behind_return_described,.-table_behind_return_described\n");

// Behind a call that takes its return address for the place of the table.
asm(".text\n.globl table_behind_call\n.type table_behind_call,@function\ntable_behind_call:\ncall "
    "2f\n"
    ".byte 0xf0,0xff,0x07,0xc3,0x87,0x07,0xc3,0x90\n2: pop %rax\nret\n.size "
    "table_behind_call,.-table_behind_call\n");

// Before a block, as GHC has it: read as code, they end inside of the block's first instruction.
asm(".text\n.globl words_between_blocks\n.type "
    "words_between_blocks,@function\nwords_between_blocks:\n"
    "push %rbp\nmov %rsp,%rbp\njmp 1f\n.p2align 3\n"
    ".byte 0x06,0x08,0,0,0,0,0,0,0x1e,0,0,0,0x58,0x66,0x06,0\n"
    "1: movq $0x464a80,-16(%rbp)\nmov -16(%rbp),%rax\npop %rbp\nret\n"
    ".size words_between_blocks,.-words_between_blocks\n");

// Code without symbol type, size or unwind information, behind constants.
asm(".text\n.byte 0xf0,0x48,0x0f,0xb1,0x0f,0x06,0x06\ncount_undescribed: lock incl (%rdi)\nret\n"
    "count_behind_pop: call 1f\n.byte 0xf0,0x06,0x07,0x06\n1: pop %rax\nlock incl "
    "(%rdi)\nret\n.globl count_undescribed,count_behind_pop\n");

// Computed gotos by differences of labels, of a kind that is in no list of tables.
__attribute__((noinline)) void count_by_label(int* counter, long choice) {
  static const int steps[] = {&&locked - &&plain, &&nothing - &&plain};
  goto*(&&plain + steps[choice & 1]);
plain:
  ++*counter;
  return;
locked:
  asm volatile("lock incl %0" : "+m"(*counter));
  return;
nothing:
  return;
}

static int undescribed, behind_pop, by_label;

static void* work(void* unused) {
  for (int i = 0; i < 1000; i++) {
    count_undescribed(&undescribed);
    count_behind_pop(&behind_pop);
    count_by_label(&by_label, i);
  }
  return unused;
}

static void show(const unsigned char* table) {
  for (int i = 0; i < 8; i++) printf("%02x ", table[i]);
  puts("");
}

int main(void) {
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  show(table_behind_return());
  show(table_behind_return_described());
  show(table_behind_call());
  printf("%lx\n%d %d %d\n", words_between_blocks(), undescribed, behind_pop, by_label);
  return 0;
}
