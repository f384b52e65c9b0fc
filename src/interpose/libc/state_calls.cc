// Functions that keep what they go on with in memory of their caller's: seeds and states of random
// numbers, trees of tsearch() (interpose/libc/library.h). The manual calls two of them on the same
// memory a race.
//
// What the nodes of a tree hold is the C library's own; a call counts as an access to the root that
// the program has. Who only looks (tfind) reads it.

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

// Changes what `state` points to, then does `real`.
template <typename State, typename Real>
auto change(Call&& call, State* state, size_t size, Real real) {
  call.reads(state, size);
  call.writes(state, size);
  call.notify();
  return real();
}

// Likewise, and stores what was drawn.
template <typename State, typename Drawn, typename Real>
auto draw(Call&& call, State* state, size_t size, Drawn* drawn, Real real) {
  call.writes(drawn, sizeof *drawn);
  return change(static_cast<Call&&>(call), state, size, real);
}

constexpr size_t kWords48 = 3 * sizeof(unsigned short);

}  // namespace

int rand_r(unsigned* seed) {
  return change(Call(WEIR_CALLER), seed, sizeof *seed, [&] { return g_library.rand_r(seed); });
}
int random_r(random_data* state, int32_t* drawn) {
  return draw(Call(WEIR_CALLER), state, sizeof *state, drawn,
              [&] { return g_library.random_r(state, drawn); });
}
int srandom_r(unsigned seed, random_data* state) {
  return change(Call(WEIR_CALLER), state, sizeof *state,
                [&] { return g_library.srandom_r(seed, state); });
}
int drand48_r(drand48_data* state, double* drawn) {
  return draw(Call(WEIR_CALLER), state, sizeof *state, drawn,
              [&] { return g_library.drand48_r(state, drawn); });
}
int lrand48_r(drand48_data* state, long* drawn) {
  return draw(Call(WEIR_CALLER), state, sizeof *state, drawn,
              [&] { return g_library.lrand48_r(state, drawn); });
}
int mrand48_r(drand48_data* state, long* drawn) {
  return draw(Call(WEIR_CALLER), state, sizeof *state, drawn,
              [&] { return g_library.mrand48_r(state, drawn); });
}
int erand48_r(unsigned short* words, drand48_data* state, double* drawn) {
  return draw(Call(WEIR_CALLER), words, kWords48, drawn,
              [&] { return g_library.erand48_r(words, state, drawn); });
}
int nrand48_r(unsigned short* words, drand48_data* state, long* drawn) {
  return draw(Call(WEIR_CALLER), words, kWords48, drawn,
              [&] { return g_library.nrand48_r(words, state, drawn); });
}
int jrand48_r(unsigned short* words, drand48_data* state, long* drawn) {
  return draw(Call(WEIR_CALLER), words, kWords48, drawn,
              [&] { return g_library.jrand48_r(words, state, drawn); });
}
long nrand48(unsigned short* words) {
  return change(Call(WEIR_CALLER), words, kWords48, [&] { return g_library.nrand48(words); });
}
long jrand48(unsigned short* words) {
  return change(Call(WEIR_CALLER), words, kWords48, [&] { return g_library.jrand48(words); });
}
int srand48_r(long seed, drand48_data* state) {
  return change(Call(WEIR_CALLER), state, sizeof *state,
                [&] { return g_library.srand48_r(seed, state); });
}

void* tsearch(const void* key, void** root, Compare compare) {
  if (!root) return g_library.tsearch(key, root, compare);
  return change(Call(WEIR_CALLER), root, sizeof *root,
                [&] { return g_library.tsearch(key, root, compare); });
}
void* tdelete(const void* key, void** root, Compare compare) {
  if (!root) return g_library.tdelete(key, root, compare);
  return change(Call(WEIR_CALLER), root, sizeof *root,
                [&] { return g_library.tdelete(key, root, compare); });
}
void* tfind(const void* key, void* const* root, Compare compare) {
  Call call(WEIR_CALLER);
  if (root) call.reads(root, sizeof *root);
  call.notify();
  return g_library.tfind(key, root, compare);
}

}  // namespace weir::interpose::library::checked
