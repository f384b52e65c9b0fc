// Litmus tests of x86-TSO, by their usual names (Owens, Sarkar, Sewell, TPHOLs 2009; Sewell and
// others, CACM 2010). Threads run the same test a few times, each time on other memory. The status
// is 1 if the outcome came that the manifest says is allowed or not.
// usage: litmus NAME
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kRounds = 10, kThreads = 4 };

typedef struct {
  _Alignas(64) volatile int x;
  _Alignas(64) volatile int y;
  _Alignas(64) volatile int z;
  _Alignas(64) volatile char wide_x[64];
  _Alignas(64) volatile char wide_y[64];
  _Alignas(64) volatile int r[8];
} Round;

static Round rounds[kRounds];
static pthread_barrier_t barrier;

static inline void store(volatile int* at, int value) {
  __asm__ volatile("movl %1,%0" : "=m"(*at) : "r"(value) : "memory");
}
static inline int load(volatile int* at) {
  int value;
  __asm__ volatile("movl %1,%0" : "=r"(value) : "m"(*at) : "memory");
  return value;
}
static inline void exchange(volatile int* at, int value) {
  __asm__ volatile("xchgl %1,%0" : "+m"(*at), "+r"(value) : : "memory");
}
static inline void add(volatile int* at) {
  __asm__ volatile("addl $1,%0" : "+m"(*at) : : "memory", "cc");
}
static inline void mfence(void) { __asm__ volatile("mfence" : : : "memory"); }
static inline void locked(void) {
  __asm__ volatile("lock; addl $0,-64(%%rsp)" : : : "memory", "cc");
}
static inline void store_wide(volatile char* at) {
  __asm__ volatile("pcmpeqd %%xmm0,%%xmm0; movups %%xmm0,%0" : "=m"(*at) : : "xmm0", "memory");
}
static inline void store_string(volatile char* at) {
  volatile char* to = at;
  uint64_t count = 16;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(1) : "memory");
}
static inline int load_byte(volatile char* at) {
  int value;
  __asm__ volatile("movzbl %1,%0" : "=r"(value) : "m"(*at) : "memory");
  return value;
}
static __attribute__((noinline)) int load_in_a_call(volatile int* at) { return load(at); }

// --- what each thread does, and whether the outcome is the one in question
typedef void (*Body)(Round*);

#define SB(name, between)          \
  static void name##_0(Round* m) { \
    store(&m->x, 1);               \
    between;                       \
    m->r[0] = load(&m->y);         \
  }                                \
  static void name##_1(Round* m) { \
    store(&m->y, 1);               \
    between;                       \
    m->r[1] = load(&m->x);         \
  }
SB(sb, )
SB(sb_mfence, mfence())
SB(sb_locked, locked())
static void sb_xchg_0(Round* m) { exchange(&m->x, 1), m->r[0] = load(&m->y); }
static void sb_xchg_1(Round* m) { exchange(&m->y, 1), m->r[1] = load(&m->x); }
static void sb_call_0(Round* m) { store(&m->x, 1), m->r[0] = load_in_a_call(&m->y); }
static void sb_wide_0(Round* m) { store_wide(m->wide_x), m->r[0] = load_byte(m->wide_y + 15); }
static void sb_wide_1(Round* m) { store_wide(m->wide_y), m->r[1] = load_byte(m->wide_x + 15); }
static void sb_string_0(Round* m) { store_string(m->wide_x), m->r[0] = load_byte(m->wide_y + 3); }
static void sb_string_1(Round* m) { store_string(m->wide_y), m->r[1] = load_byte(m->wide_x + 3); }
static void sb_add_0(Round* m) { add(&m->x), m->r[0] = load(&m->y); }
static void sb_add_1(Round* m) { add(&m->y), m->r[1] = load(&m->x); }
static void sb_membarrier_1(Round* m) {
  store(&m->y, 1);
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  m->r[1] = load(&m->x);
}
static int both_zero(Round* m) { return m->r[0] == 0 && m->r[1] == 0; }

// Each reads its own store (iwp2.4).
static void forward_0(Round* m) { store(&m->x, 1), m->r[2] = load(&m->x), m->r[0] = load(&m->y); }
static void forward_1(Round* m) { store(&m->y, 1), m->r[3] = load(&m->y), m->r[1] = load(&m->x); }
static int forwarded(Round* m) { return m->r[2] == 1 && m->r[3] == 1 && both_zero(m); }
static int lost_own(Round* m) { return m->r[2] == 0 || m->r[3] == 0; }

static void n6_0(Round* m) { store(&m->x, 1), m->r[0] = load(&m->x), m->r[1] = load(&m->y); }
static void n6_1(Round* m) { store(&m->y, 2), store(&m->x, 2); }
static int n6(Round* m) { return m->r[0] == 1 && m->r[1] == 0 && m->x == 1; }
static void n5_0(Round* m) { store(&m->x, 1), m->r[0] = load(&m->x); }
static void n5_1(Round* m) { store(&m->x, 2), m->r[1] = load(&m->x); }
static int n5(Round* m) { return m->r[0] == 2 && m->r[1] == 1; }
static void n4b_0(Round* m) { m->r[0] = load(&m->x), store(&m->x, 1); }
static void n4b_1(Round* m) { m->r[1] = load(&m->x), store(&m->x, 2); }
static int n4b(Round* m) { return m->r[0] == 2 && m->r[1] == 1; }

// A byte of one's own within a word of memory's.
static void partial_0(Round* m) {
  store(&m->x, 0x01020304);
  __asm__ volatile("movb $5,%0" : "=m"(*(volatile char*)&m->x) : : "memory");
  m->r[0] = load(&m->x);
  m->r[1] = load(&m->y);
}
static void partial_1(Round* m) { store(&m->y, 1), m->r[2] = load(&m->x); }
static int is_torn(Round* m) {
  return m->r[0] != 0x01020305 || (m->r[2] != 0 && m->r[2] != 0x01020304 && m->r[2] != 0x01020305);
}

static void mp_0(Round* m) { store(&m->x, 1), store(&m->y, 1); }
static void mp_1(Round* m) { m->r[0] = load(&m->y), m->r[1] = load(&m->x); }
static int mp(Round* m) { return m->r[0] == 1 && m->r[1] == 0; }
// An unlocked instruction that reads and writes is made in two steps, or as a whole.
static void mp_add_0(Round* m) { store(&m->x, 1), add(&m->y); }
static void own_add_0(Round* m) {
  store(&m->x, 1);
  add(&m->x);
  m->r[0] = load(&m->x);
  m->r[1] = load(&m->y);
}
static void own_add_1(Round* m) { add(&m->y), m->r[2] = load(&m->x); }
static int lost_own_add(Round* m) { return m->r[0] != 2 || m->x != 2 || m->y != 1; }
// The flag lies on the writer's stack.
static volatile int* volatile on_stack[kRounds];
static void mp_stack_0(Round* m) {
  volatile int flag = 0;
  on_stack[m - rounds] = &flag;
  pthread_barrier_wait(&barrier);
  store(&m->x, 1);
  __asm__ volatile("movl $1,%0" : "=m"(flag) : : "memory");
  m->r[2] = load(&m->y);
  pthread_barrier_wait(&barrier);
}
static void mp_stack_1(Round* m) {
  pthread_barrier_wait(&barrier);
  m->r[0] = load(on_stack[m - rounds]), m->r[1] = load(&m->x);
  pthread_barrier_wait(&barrier);
}
static void lb_0(Round* m) { m->r[0] = load(&m->x), store(&m->y, 1); }
static void lb_1(Round* m) { m->r[1] = load(&m->y), store(&m->x, 1); }
static int lb(Round* m) { return m->r[0] == 1 && m->r[1] == 1; }
static void s_0(Round* m) { store(&m->x, 2), store(&m->y, 1); }
static void s_1(Round* m) { m->r[0] = load(&m->y), store(&m->x, 1); }
static int s(Round* m) { return m->r[0] == 1 && m->x == 2; }
static void r_0(Round* m) { store(&m->x, 1), store(&m->y, 1); }
static void r_1(Round* m) { store(&m->y, 2), m->r[0] = load(&m->x); }
static int r(Round* m) { return m->y == 2 && m->r[0] == 0; }
static void w2_0(Round* m) { store(&m->x, 1), store(&m->y, 2); }
static void w2_1(Round* m) { store(&m->y, 1), store(&m->x, 2); }
static int w2(Round* m) { return m->x == 1 && m->y == 1; }
static void write_x(Round* m) { store(&m->x, 1); }
static void write_y(Round* m) { store(&m->y, 1); }
static void read_xy(Round* m) { m->r[0] = load(&m->x), m->r[1] = load(&m->y); }
static void read_yx(Round* m) { m->r[2] = load(&m->y), m->r[3] = load(&m->x); }
static int iriw(Round* m) { return m->r[0] == 1 && !m->r[1] && m->r[2] == 1 && !m->r[3]; }
static void wrc_1(Round* m) { m->r[0] = load(&m->x), store(&m->y, 1); }
static int wrc(Round* m) { return m->r[0] == 1 && m->r[2] == 1 && m->r[3] == 0; }

static const struct Test {
  const char* name;
  int (*outcome)(Round*);
  Body bodies[kThreads];
} tests[] = {
    {"sb", both_zero, {sb_0, sb_1}},
    {"sb_mfence", both_zero, {sb_mfence_0, sb_mfence_1}},
    {"sb_locked", both_zero, {sb_locked_0, sb_locked_1}},
    {"sb_xchg", both_zero, {sb_xchg_0, sb_xchg_1}},
    {"sb_one_fence", both_zero, {sb_0, sb_mfence_1}},
    {"sb_membarrier", both_zero, {sb_0, sb_membarrier_1}},
    {"sb_call", both_zero, {sb_call_0, sb_mfence_1}},
    {"sb_add", both_zero, {sb_add_0, sb_add_1}},
    {"sb_wide", both_zero, {sb_wide_0, sb_wide_1}},
    {"sb_string", both_zero, {sb_string_0, sb_string_1}},
    {"forward", forwarded, {forward_0, forward_1}},
    {"own", lost_own, {forward_0, forward_1}},
    {"partial", is_torn, {partial_0, partial_1}},
    {"n4b", n4b, {n4b_0, n4b_1}},
    {"n5", n5, {n5_0, n5_1}},
    {"n6", n6, {n6_0, n6_1}},
    {"mp", mp, {mp_0, mp_1}},
    {"mp_add", mp, {mp_add_0, mp_1}},
    {"own_add", lost_own_add, {own_add_0, own_add_1}},
    {"mp_stack", mp, {mp_stack_0, mp_stack_1}},
    {"lb", lb, {lb_0, lb_1}},
    {"s", s, {s_0, s_1}},
    {"r", r, {r_0, r_1}},
    {"2+2w", w2, {w2_0, w2_1}},
    {"iriw", iriw, {write_x, write_y, read_xy, read_yx}},
    {"wrc", wrc, {write_x, wrc_1, read_yx}},
};

static void* run(void* body) {
  Body one;
  memcpy(&one, &body, sizeof one);
  for (int i = 0; i < kRounds; i++) one(&rounds[i]);
  return NULL;
}

int main(int argc, char** argv) {
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    const struct Test* test = &tests[i];
    if (argc < 2 || strcmp(argv[1], test->name) != 0) continue;
    if (strcmp(test->name, "sb_membarrier") == 0)
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    pthread_t threads[kThreads];
    int count = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    for (; count < kThreads && test->bodies[count]; count++) {
      void* body;
      memcpy(&body, &test->bodies[count], sizeof body);
      pthread_create(&threads[count], NULL, run, body);
    }
    for (int n = 0; n < count; n++) pthread_join(threads[n], NULL);
    for (int n = 0; n < kRounds; n++)
      if (test->outcome(&rounds[n])) return 1;
    return 0;
  }
  fprintf(stderr, "usage: litmus NAME\n");
  return 2;
}
