// What programs about store buffers have in common: accesses that cost no fence on x86, and the
// fence that only the right twin has. Sequentially consistent, each program is right without it.
#pragma once

#include <sched.h>

#include "planted.h"

#define STORE(where, value) __atomic_store_n(&(where), (value), __ATOMIC_RELEASE)
#define LOAD(where) __atomic_load_n(&(where), __ATOMIC_ACQUIRE)
// Between a store and a later load of something else.
#define FENCE() FIX(__atomic_thread_fence(__ATOMIC_SEQ_CST))
