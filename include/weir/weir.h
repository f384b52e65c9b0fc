/* What a program may ask of Weir, and tell it. The program needs no library for it: without Weir
 * each question is answered by "no", and what it is told is forgotten. docs/guide/annotate.md
 * explains policies with an example.
 *
 * 1. Names: weir_noun_verb for functions, WEIR_NOUN for macros.
 * 2. Every function may be called from any thread, at any time; weir_query_ and weir_active also
 *    from a signal handler after the first call.
 * 3. Nothing here changes what the program computes.
 * 4. An object is named by any address in it.
 * 5. Where WEIR_NO_ANNOTATIONS is defined before this file is included, no annotation leaves a
 *    trace in the program: weir_alloc is malloc, elements of an array lie side by side, and
 *    weir_active() is 0. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 2

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* C has no other casts, and no nullptr */
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
extern "C" {
#endif

/* --- Sharing policies: who may touch an object (weir check) */

enum weir_policy {
  WEIR_UNTOUCHED,    /* whoever touches it first has it: it is then private */
  WEIR_PRIVATE,      /* one thread may read and write */
  WEIR_READ_SHARED,  /* those threads may read that have acquired that */
  WEIR_RACY,         /* all may read and write: nothing is checked */
  WEIR_INACCESSIBLE, /* nobody may */
  WEIR_STICKY_READ,  /* all may read, for ever */
  WEIR_LOCKED        /* who holds its lock may read and write; an object that is declared so is
                        inaccessible until weir_set_locked */
};

/* --- In libweir.so */

enum weir_change {
  WEIR_CHANGE_ACQUIRE_WRITE,
  WEIR_CHANGE_RELEASE_WRITE,
  WEIR_CHANGE_ACQUIRE_READ,
  WEIR_CHANGE_RELEASE_READ,
  WEIR_CHANGE_LOCKED,
  WEIR_CHANGE_STICKY_READ,
  WEIR_CHANGE_RACY
};

enum { WEIR_HAS_PAGES = 256 }; /* beside a policy: nothing else lies in the object's pages */

struct weir_array {
  size_t element_size, count, slices;
  size_t per_slice;   /* elements; 0: `ends` says where each slice ends */
  const size_t* ends; /* index of the first element behind each slice */
  char* data;
  size_t gap; /* bytes between slices */
  size_t id;
};

struct weir_calls {
  size_t size;
  void* (*alloc)(size_t size, int policy);
  void (*free)(void* object);
  void (*declare)(void* object, size_t size, int policy);
  void (*forget)(void* object);
  void (*change)(void* object, int change, const void* lock);
  int (*policy)(const void* object);
  struct weir_array* (*array)(const struct weir_array* shape, const size_t* ends, int policy);
  void (*array_free)(struct weir_array* array);
};

void weir_query_hunt_start(void);                /* programs call weir_hunt_start() */
int weir_query_active(void);                     /* programs call weir_active() */
const struct weir_calls* weir_query_calls(void); /* NULL where policies are not checked */

/* So that a place in a report is the caller's. */
#define WEIR_INLINE static inline __attribute__((always_inline))

#ifdef WEIR_NO_ANNOTATIONS
WEIR_INLINE int weir_active(void) { return 0; }
WEIR_INLINE const struct weir_calls* weir_calls_(void) { return NULL; }
#else
/* 1 where the program runs under the weir command, at whatever point of Order x View; 0 where it
 * does not. */
WEIR_INLINE int weir_active(void) {
  static __thread int
      known; /* 0 not asked yet, 1 no, 2 yes. Of each thread: nothing here is shared */
  if (known == 0) {
    int (*query)(void);
    *(void**)&query = dlsym(NULL /* RTLD_DEFAULT */, "weir_query_active");
    known = query != NULL && query() ? 2 : 1;
  }
  return known == 2;
}

WEIR_INLINE const struct weir_calls* weir_calls_(void) {
  static __thread const struct weir_calls* known;
  static __thread int is_known;
  if (__builtin_expect(!is_known, 0)) {
    const struct weir_calls* (*query)(void);
    *(void**)&query = dlsym(NULL, "weir_query_calls");
    known = query != NULL ? query() : NULL;
    if (known != NULL && known->size < sizeof *known) known = NULL;
    is_known = 1;
  }
  return known;
}
#endif

/* Schedules begin here (weir hunt, weir run --order serial), not where the program makes its first
 * thread; and a program that can be copied is copied here for each of them. Call it behind what
 * takes long, and before what cannot be copied: pipes, sockets, files that are written. Only the
 * first call counts. One that comes after the program's first thread does nothing, which weir says;
 * one outside these commands does nothing. */
#ifdef WEIR_NO_ANNOTATIONS
WEIR_INLINE void weir_hunt_start(void) {}
#else
WEIR_INLINE void weir_hunt_start(void) {
  void (*start)(void);
  *(void**)&start = dlsym(NULL, "weir_query_hunt_start");
  if (start != NULL) start();
}
#endif

/* So that a report names the function that has made the call: it does not end by a jump to Weir. */
#define WEIR_STAYS __asm__ volatile("")

WEIR_INLINE void weir_change_(const void* object, int change, const void* lock) {
  const struct weir_calls* calls = weir_calls_();
  if (__builtin_expect(calls != NULL, 0)) {
    calls->change((void*)(uintptr_t)object, change, lock);
    WEIR_STAYS;
  }
}

WEIR_INLINE void weir_declare_(const void* object, size_t size, int policy) {
  const struct weir_calls* calls = weir_calls_();
  if (__builtin_expect(calls != NULL, 0)) {
    calls->declare((void*)(uintptr_t)object, size, policy);
    WEIR_STAYS;
  }
}
WEIR_INLINE void weir_declare_pages_(const void* object, size_t size, enum weir_policy policy) {
  weir_declare_(object, size, (int)policy | WEIR_HAS_PAGES);
}

/* --- Objects */

/* malloc and free, of an object with a policy. */
WEIR_INLINE void* weir_alloc(size_t size, enum weir_policy policy) {
  const struct weir_calls* calls = weir_calls_();
  void* object;
  if (__builtin_expect(calls == NULL, 1)) return malloc(size);
  object = calls->alloc(size, (int)policy);
  WEIR_STAYS;
  return object;
}
WEIR_INLINE void weir_free(void* object) {
  const struct weir_calls* calls = weir_calls_();
  if (__builtin_expect(calls == NULL, 1)) {
    free(object);
    return;
  }
  calls->free(object);
  WEIR_STAYS;
}

/* Memory that exists has a policy from here on: a variable, a part of a struct or of an array.
 * Objects that lie apart from other memory, by pages, cost least (WEIR_PAGES). */
WEIR_INLINE void weir_object_declare(const void* object, size_t size, enum weir_policy policy) {
  weir_declare_(object, size, (int)policy);
}
/* It has none any more. Needed before a variable's lifetime ends; free and weir_free do it
 * themselves. */
WEIR_INLINE void weir_object_forget(const void* object) {
  const struct weir_calls* calls = weir_calls_();
  if (__builtin_expect(calls != NULL, 0)) {
    calls->forget((void*)(uintptr_t)object);
    WEIR_STAYS;
  }
}
/* enum weir_policy; -1 where the address lies in no object, and without Weir. */
WEIR_INLINE int weir_policy_of(const void* object) {
  const struct weir_calls* calls = weir_calls_();
  return __builtin_expect(calls != NULL, 0) ? calls->policy(object) : -1;
}

/* A static object that has a policy from the program's start on, in two lines at the same place,
 * outside functions:
 *
 *   WEIR_PAGES int counter = 0;
 *   WEIR_OBJECT(counter, WEIR_UNTOUCHED); */
#ifdef WEIR_NO_ANNOTATIONS
#define WEIR_PAGES
#define WEIR_OBJECT(name, policy) struct weir_needs_a_semicolon
#else
#define WEIR_PAGES __attribute__((aligned(4096), section("weir_pages")))
#define WEIR_OBJECT(name, policy)                                                     \
  __asm__(".pushsection weir_pages,1,\"aw\",@progbits\n.balign 4096\n.popsection\n"); \
  __attribute__((constructor(101))) static void weir_declare_##name(void) {           \
    weir_declare_pages_(&name, sizeof name, policy);                                  \
  }                                                                                   \
  struct weir_needs_a_semicolon
#endif

/* --- Changes. Each acquires for, or releases from, the calling thread. */

WEIR_INLINE void weir_acquire_write(const void* object) {
  weir_change_(object, WEIR_CHANGE_ACQUIRE_WRITE, NULL);
}
WEIR_INLINE void weir_release_write(const void* object) {
  weir_change_(object, WEIR_CHANGE_RELEASE_WRITE, NULL);
}
WEIR_INLINE void weir_acquire_read(const void* object) {
  weir_change_(object, WEIR_CHANGE_ACQUIRE_READ, NULL);
}
WEIR_INLINE void weir_release_read(const void* object) {
  weir_change_(object, WEIR_CHANGE_RELEASE_READ, NULL);
}
/* Who holds the lock, a mutex or a lock for readers and writers, has the object from here on. */
WEIR_INLINE void weir_set_locked(const void* object, const void* lock) {
  weir_change_(object, WEIR_CHANGE_LOCKED, lock);
}
/* While there is one thread. */
WEIR_INLINE void weir_set_sticky_read(const void* object) {
  weir_change_(object, WEIR_CHANGE_STICKY_READ, NULL);
}
/* An untouched or inaccessible object. */
WEIR_INLINE void weir_set_racy(const void* object) { weir_change_(object, WEIR_CHANGE_RACY, NULL); }

/* --- Arrays of which parts have policies of their own: each slice is an object. Slices lie apart
 *     from each other in checked programs, so elements are
 * reached by weir_array_at only. */

WEIR_INLINE struct weir_array* weir_array_make_(struct weir_array shape, const size_t* ends,
                                                enum weir_policy policy) {
  static size_t made;
  const struct weir_calls* calls = weir_calls_();
  const size_t ends_size = shape.per_slice ? 0 : shape.slices * sizeof(size_t);
  struct weir_array* array;
  size_t i;
  shape.id = (uintptr_t)&made + (__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)
                                 << 40); /* names it for weir_array_at */
  if (__builtin_expect(calls != NULL, 0)) {
    array = calls->array(&shape, ends, (int)policy);
    WEIR_STAYS;
    return array;
  }
  array = (struct weir_array*)malloc(sizeof *array + ends_size);
  if (array == NULL) return NULL;
  *array = shape;
  array->data = (char*)malloc(shape.count * shape.element_size + 1);
  if (array->data == NULL) {
    free(array);
    return NULL;
  }
  if (ends_size) {
    size_t* copy = (size_t*)(void*)(array + 1);
    for (i = 0; i < shape.slices; i++) copy[i] = ends[i];
    array->ends = copy;
  }
  return array;
}
/* `count` elements in slices of `per_slice`, the last perhaps shorter. NULL: there is no memory. */
WEIR_INLINE struct weir_array* weir_array_slice(size_t count, size_t element_size, size_t per_slice,
                                                enum weir_policy policy) {
  struct weir_array shape = {0, 0, 0, 0, NULL, NULL, 0, 0};
  shape.element_size = element_size;
  shape.count = count;
  shape.per_slice = per_slice ? per_slice : 1;
  shape.slices = (count + shape.per_slice - 1) / shape.per_slice;
  return weir_array_make_(shape, NULL, policy);
}
/* Every element is an object. */
WEIR_INLINE struct weir_array* weir_array_split(size_t count, size_t element_size,
                                                enum weir_policy policy) {
  return weir_array_slice(count, element_size, 1, policy);
}
/* Slice k ends before element ends[k]; the last one at `count`. */
WEIR_INLINE struct weir_array* weir_array_slice_at(size_t count, size_t element_size,
                                                   const size_t* ends, size_t slices,
                                                   enum weir_policy policy) {
  struct weir_array shape = {0, 0, 0, 0, NULL, NULL, 0, 0};
  shape.element_size = element_size;
  shape.count = count;
  shape.slices = slices;
  return weir_array_make_(shape, ends, policy);
}
WEIR_INLINE void weir_array_free(struct weir_array* array) {
  const struct weir_calls* calls = weir_calls_();
  if (array == NULL) return;
  if (__builtin_expect(calls != NULL, 0)) {
    calls->array_free(array);
    WEIR_STAYS;
    return;
  }
  free(array->data);
  free(array);
}
/* The slice that the element is in: an object for the functions above is weir_array_at() of any of
 * its elements. */
WEIR_INLINE size_t weir_array_slice_of(const struct weir_array* array, size_t index) {
  size_t low = 0, high = array->slices - 1;
  if (array->per_slice) return index / array->per_slice;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (array->ends[middle] > index) high = middle;
    else low = middle + 1;
  }
  return low;
}
/* Address of the element. Each thread knows the last slice that it was asked for (PUSh,
 * section 3.4). */
#ifdef WEIR_NO_ANNOTATIONS
WEIR_INLINE void* weir_array_at(const struct weir_array* array, size_t index) {
  return array->data + index * array->element_size;
}
#else
WEIR_INLINE void* weir_array_at(const struct weir_array* array, size_t index) {
  static __thread struct {
    size_t id, first, count; /* of the array, which no two share */
    char* origin;
  } known;
  size_t slice, first, end;
  if (__builtin_expect(known.id == array->id && index - known.first < known.count, 1)) {
    return known.origin + index * array->element_size;
  }
  slice = weir_array_slice_of(array, index);
  first = array->per_slice ? slice * array->per_slice : slice ? array->ends[slice - 1] : 0;
  end = array->per_slice ? first + array->per_slice : array->ends[slice];
  known.id = array->id;
  known.first = first;
  known.count = end - first;
  known.origin = array->data + slice * array->gap;
  return known.origin + index * array->element_size;
}
#endif

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
