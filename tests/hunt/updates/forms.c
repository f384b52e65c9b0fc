// Each form of an instruction that reads memory, changes it and writes it without a lock prefix,
// while another thread stores to the same memory: that comes before the instruction, behind it, or
// in between, and then what it has stored is lost. Memory, registers and flags must be what the
// processor makes of it in one of the three cases; else the status is 2.
// usage: forms N [find]    the form of this number; find: status 1 if a store is lost
//        forms all         all, one after the other
//        forms count       prints how many there are
#include "../programs/planted.h"

struct state {
  uint64_t word[2];
  uint64_t rax, rbx, rcx, rdx, flags;
};
typedef void (*Form)(uint64_t* word, struct state* state);

#define FORM(name, text)                                                                 \
  static void name(uint64_t* word, struct state* s) {                                    \
    __asm__ volatile("pushq %[flags]\n popfq\n" text "\n pushfq\n popq %[flags]"         \
                     : [flags] "+r"(s->flags), "+a"(s->rax), "+b"(s->rbx), "+c"(s->rcx), \
                       "+d"(s->rdx)                                                      \
                     : [m] "r"(word)                                                     \
                     : "memory", "cc");                                                  \
  }
#define SIZES(name, form, more)                    \
  FORM(name##_b, form "b " more("%%al") "(%[m])")  \
  FORM(name##_w, form "w " more("%%ax") "(%[m])")  \
  FORM(name##_l, form "l " more("%%eax") "(%[m])") \
  FORM(name##_q, form "q " more("%%rax") "(%[m])")
#define REGISTER(r) r ","
#define NUMBER(r) "$5,"
#define NOTHING(r)
#define SHIFT(r) "%%cl,"

SIZES(add, "add", REGISTER)
SIZES(or, "or", NUMBER)
SIZES(adc, "adc", REGISTER)
SIZES(sbb, "sbb", NUMBER)
SIZES(and, "and", REGISTER)
SIZES(sub, "sub", NUMBER)
SIZES(xor, "xor", REGISTER)
SIZES(inc, "inc", NOTHING)
SIZES(dec, "dec", NOTHING)
SIZES(neg, "neg", NOTHING)
SIZES(not, "not", NOTHING)
SIZES(shl, "shl", NOTHING)
SIZES(shr, "shr", NUMBER)
SIZES(sar, "sar", SHIFT)
SIZES(rol, "rol", SHIFT)
SIZES(ror, "ror", NUMBER)
SIZES(rcl, "rcl", SHIFT)
SIZES(rcr, "rcr", NOTHING)
SIZES(xadd, "xadd", REGISTER)
FORM(shld_l, "shldl $4,%%edx,(%[m])")
FORM(shld_q, "shldq %%cl,%%rdx,(%[m])")
FORM(shrd_l, "shrdl %%cl,%%edx,(%[m])")
FORM(shrd_q, "shrdq $9,%%rdx,(%[m])")
FORM(bts_l, "btsl $7,(%[m])")
FORM(btr_q, "btrq %%rcx,(%[m])")
FORM(btc_w, "btcw $2,(%[m])")
FORM(cmpxchg_b, "cmpxchgb %%dl,(%[m])")
FORM(cmpxchg_w, "cmpxchgw %%dx,(%[m])")
FORM(cmpxchg_l, "cmpxchgl %%edx,(%[m])")
FORM(cmpxchg_q, "cmpxchgq %%rdx,(%[m])")
FORM(cmpxchg_8b, "cmpxchg8b (%[m])")
FORM(cmpxchg_16b, "cmpxchg16b (%[m])")
FORM(add_indexed, "mov $1,%%eax\n addl $9,-8(%[m],%%rax,8)")
FORM(inc_byte_above, "incb 3(%[m])")

#define ALL(name) \
  {name##_b, 0, 1}, {name##_w, 0, 2}, {name##_l, 0, 4}, { name##_q, 0, 8 }
static const struct {
  Form make;
  int at, size;  // which bytes it writes
} forms[] = {ALL(add),
             ALL(or),
             ALL(adc),
             ALL(sbb),
             ALL(and),
             ALL(sub),
             ALL(xor),
             ALL(inc),
             ALL(dec),
             ALL(neg),
             ALL(not ),
             ALL(shl),
             ALL(shr),
             ALL(sar),
             ALL(rol),
             ALL(ror),
             ALL(rcl),
             ALL(rcr),
             ALL(xadd),
             {shld_l, 0, 4},
             {shld_q, 0, 8},
             {shrd_l, 0, 4},
             {shrd_q, 0, 8},
             {bts_l, 0, 4},
             {btr_q, 0, 8},
             {btc_w, 0, 2},
             {cmpxchg_b, 0, 1},
             {cmpxchg_w, 0, 2},
             {cmpxchg_l, 0, 4},
             {cmpxchg_q, 0, 8},
             {cmpxchg_8b, 0, 8},
             {cmpxchg_16b, 0, 16},
             {add_indexed, 0, 4},
             {inc_byte_above, 3, 1}};
enum { kForms = sizeof forms / sizeof forms[0] };

// What memory holds first, and what the other thread stores.
static const uint64_t kFirst = 0x8123456789abcd96, kOther = 0x4edcba9876543219;
static uint64_t words[2] __attribute__((aligned(16)));
static struct state now;
static int number;

static void begin(struct state* s, uint64_t word) {
  *s = (struct state){{word, 17}, 0x8123456789abcd96, 11, 3, 0x1234567890abcdef, 0x203};
}
static void* change(void* unused) {
  forms[number].make(words, &now);
  return unused;
}
static void* store(void* unused) {
  __atomic_store_n(&words[0], kOther, __ATOMIC_RELAXED);
  return unused;
}
static int is_same(const struct state* a, const struct state* b, uint64_t word) {
  return a->word[0] == word && a->word[1] == b->word[1] && a->rax == b->rax && a->rbx == b->rbx &&
         a->rcx == b->rcx && a->rdx == b->rdx && !((a->flags ^ b->flags) & 0x8d5);
}

// 1 if the store came in between.
static int is_lost(void) {
  struct state first, second;
  begin(&now, kFirst);
  begin(&first, kFirst);
  begin(&second, kOther);
  uint64_t copy[2] __attribute__((aligned(16))) = {kFirst, 17};
  forms[number].make(copy, &first);
  first.word[0] = copy[0], first.word[1] = copy[1];
  copy[0] = kOther, copy[1] = 17;
  forms[number].make(copy, &second);
  second.word[0] = copy[0], second.word[1] = copy[1];
  words[0] = kFirst, words[1] = 17;
  RUN(change, store);
  now.word[0] = words[0], now.word[1] = words[1];
  if (is_same(&now, &second, second.word[0]) || is_same(&now, &first, kOther)) return 0;
  uint64_t between = kOther;
  memcpy((char*)&between + forms[number].at, (char*)&first.word[0] + forms[number].at,
         forms[number].size < 8 ? (size_t)forms[number].size : 8);
  if (is_same(&now, &first, between)) return 1;
  fprintf(stderr, "form %d: %lx %lx, rax %lx, flags %lx\n", number, now.word[0], now.word[1],
          now.rax, now.flags);
  _exit(2);
}

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  if (!strcmp(argv[1], "count")) return printf("%d\n", kForms) < 0;
  const int all = !strcmp(argv[1], "all"), first = all ? 0 : atoi(argv[1]);
  for (number = first; number < (all ? kForms : first + 1); number++)
    if (is_lost() && argc > 2) return 1;
  return 0;
}
