// Two threads change a variable once each, in one statement without a lock: one of the two changes
// may be lost. Compilers make one unlocked instruction of it, or several; C, C++ and OpenMP; -DKIND
// says which statement. With -DFIXED there is a lock.
#include "../programs/planted.h"

#define INT 1
#define LONG_LONG 2
#define SHORT 3
#define CHAR_DOWN 4
#define BIT_FIELD 5
#define FLAG 6
#define FLAG_TAKEN 7
#define TOGGLED 8
#define SHIFTED 9
#define REFERENCES 10
#define MEMBER 11
#define ELEMENT 12
#define NEGATED 13
#define BIT_MAP 14
#define MULTIPLIED 15
#define WIDE 16
#define DOUBLE 17
#define MANY 18
#define ON_STACK 19
#define HALVES 20
#define MINIMUM 21
#define LIST_HEAD 22
#define BOOLEAN 23
#define THROUGH_POINTER 24

#if KIND == INT
static int n;
#define FIRST n++
#define SECOND n++
#define RIGHT (n == 2)
#elif KIND == LONG_LONG
static long long n;
#define FIRST n += 5
#define SECOND n += 7
#define RIGHT (n == 12)
#elif KIND == SHORT
static short n = 5;
#define FIRST n--
#define SECOND n -= 3
#define RIGHT (n == 1)
#elif KIND == CHAR_DOWN
static unsigned char n = 5;
#define FIRST n--
#define SECOND n--
#define RIGHT (n == 3)
#elif KIND == BIT_FIELD
static struct { unsigned ready : 1, level : 5, closed : 1; } s;
#define FIRST s.ready = 1
#define SECOND s.closed = 1
#define RIGHT (s.ready && s.closed && !s.level)
#elif KIND == FLAG
static unsigned n;
#define FIRST n |= 1
#define SECOND n |= 0x10
#define RIGHT (n == 0x11)
#elif KIND == FLAG_TAKEN
static unsigned long n = 7;
#define FIRST n &= ~1ul
#define SECOND n &= ~4ul
#define RIGHT (n == 2)
#elif KIND == TOGGLED
static unsigned n;
#define FIRST n ^= 3
#define SECOND n ^= 5
#define RIGHT (n == 6)
#elif KIND == SHIFTED
static unsigned n = 1;
#define FIRST n <<= 1
#define SECOND n <<= 2
#define RIGHT (n == 8)
#elif KIND == REFERENCES
static struct { int users, freed; } s = {2, 0};
#define FIRST \
  if (--s.users == 0) __atomic_fetch_add(&s.freed, 1, __ATOMIC_RELAXED)
#define SECOND FIRST
#define RIGHT (s.freed == 1)
#elif KIND == MEMBER
struct account {
  char name[12];
  int balance;
};
static struct account* a;
#define BEGIN a = (struct account*)calloc(1, sizeof *a)
#define FIRST a->balance += 10
#define SECOND a->balance -= 3
#define RIGHT (a->balance == 7)
#elif KIND == ELEMENT
static int cells[16];
static volatile int at = 3;
#define FIRST cells[at]++
#define SECOND cells[at] += 2
#define RIGHT (cells[3] == 3)
#elif KIND == NEGATED
static int n = 3;
#define FIRST n = -n
#define SECOND n = ~n
#define RIGHT (n == 2 || n == 4)
#elif KIND == BIT_MAP
static unsigned long map[4];
static volatile unsigned bit = 70;
#define FIRST map[bit / 64] |= 1ul << (bit % 64)
#define SECOND map[1] |= 1
#define RIGHT (map[1] == 0x41)
#elif KIND == MULTIPLIED
static unsigned n = 1;
#define FIRST n *= 3
#define SECOND n *= 5
#define RIGHT (n == 15)
#elif KIND == WIDE
static unsigned __int128 n = ~0ull;
#define FIRST n += 2
#define SECOND n += 3
#define RIGHT (n == (unsigned __int128)~0ull + 5)
#elif KIND == DOUBLE
static double n;
#define FIRST n += 0.5
#define SECOND n += 0.25
#define RIGHT (n == 0.75)
#elif KIND == MANY
static int n;
#define FIRST \
  for (int i = 0; i < 1000; i++) n++
#define SECOND FIRST
#define RIGHT (n == 2000)
#elif KIND == ON_STACK
static int* shared;
#define BEGIN \
  int n = 0;  \
  shared = &n
#define FIRST (*shared)++
#define SECOND (*shared)++
#define RIGHT (n == 2)
#elif KIND == HALVES
static union {
  unsigned whole;
  struct {
    unsigned low : 12, high : 20;
  } part;
} s;
#define FIRST s.part.low += 3
#define SECOND s.part.high += 1
#define RIGHT (s.whole == 0x1003)
#elif KIND == MINIMUM
static int n = 10;
static volatile int one = 6, other = 4;
#define FIRST \
  if (one < n) n = one
#define SECOND \
  if (other < n) n = other
#define RIGHT (n == 4)
#elif KIND == LIST_HEAD
static struct node { struct node* next; } * head, nodes[2];
#define FIRST nodes[0].next = head, head = &nodes[0]
#define SECOND nodes[1].next = head, head = &nodes[1]
#define RIGHT (head->next && !head->next->next)
#elif KIND == BOOLEAN
static unsigned char taken, takers;
#define FIRST \
  if (!taken) taken = 1, __atomic_fetch_add(&takers, 1, __ATOMIC_RELAXED)
#define SECOND FIRST
#define RIGHT (takers == 1)
#elif KIND == THROUGH_POINTER
static struct {
  long pad;
  unsigned short count;
} s, * volatile p = &s;
#define FIRST p->count++
#define SECOND p->count += 0x101
#define RIGHT (s.count == 0x102)
#endif
#ifndef BEGIN
#define BEGIN
#endif

#ifdef _OPENMP
int main(void) {
  BEGIN;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      FIX(lock();)
      FIRST;
      FIX(unlock();)
    }
#pragma omp section
    {
      FIX(lock();)
      SECOND;
      FIX(unlock();)
    }
  }
#else
static void* first(void* unused) {
  FIX(lock();)
  FIRST;
  FIX(unlock();)
  return unused;
}
static void* second(void* unused) {
  FIX(lock();)
  SECOND;
  FIX(unlock();)
  return unused;
}

int main(void) {
  BEGIN;
  RUN(first, second);
#endif
  REQUIRE(RIGHT);
  return 0;
}
