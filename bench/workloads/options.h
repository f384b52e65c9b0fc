// The command line that the benchmark programs share; 2 threads, medium and seed 1 where it says
// nothing:
//   PROGRAM [--threads N] [--size small|medium|large] [--input PATH] [--seed S] [--sequential]
//   [options of one program]
#ifndef WEIR_BENCH_OPTIONS_H
#define WEIR_BENCH_OPTIONS_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum Size { kSmall, kMedium, kLarge, kSizes };

struct Options {
  int threads;
  int size;           // enum Size
  const char* input;  // NULL: the program makes its input itself
  uint64_t seed;
  int sequential;
};

// kSizes: there is none of that name.
static inline enum Size size_by_name(const char* name) {
  static const char* const names[kSizes] = {"small", "medium", "large"};
  enum Size size = kSmall;
  while (size < kSizes && strcmp(name, names[size])) size = (enum Size)(size + 1);
  return size;
}

static inline int has_option(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return 1;
  }
  return 0;
}

// What follows the program's own option `name`.
static inline const char* option_value(int argc, char** argv, const char* name,
                                       const char* otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

static inline long option_number(int argc, char** argv, const char* name, long otherwise) {
  const char* value = option_value(argc, argv, name, NULL);
  if (!value) return otherwise;
  char* rest;
  const long number = strtol(value, &rest, 10);
  if (!*value || *rest || number < 0) {
    fprintf(stderr, "cannot understand %s %s\n", name, value);
    exit(2);
  }
  return number;
}

// `extra`: names of this program's own options, ended by NULL, to be asked for by has_option; or
// NULL. One that ends with '=' takes a value, the next argument, and is asked for by option_value
// or option_number, without the '='. Ends the program with status 2 at what it does not understand.
static inline struct Options parse_options(int argc, char** argv, const char* const* extra) {
  struct Options options = {2, kMedium, NULL, 1, 0};
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    char* rest = NULL;
    int known = 0, taken = 1;  // taken: by a value
    if (strcmp(name, "--threads") == 0 && value) {
      options.threads = (int)strtol(value, &rest, 10);
      known = *value && !*rest && options.threads >= 1 && options.threads <= 64;
    } else if (strcmp(name, "--size") == 0 && value) {
      options.size = size_by_name(value);
      known = options.size < kSizes;
    } else if (strcmp(name, "--input") == 0 && value) {
      options.input = value;
      known = 1;
    } else if (strcmp(name, "--seed") == 0 && value) {
      options.seed = strtoull(value, &rest, 10);
      known = *value && !*rest;
    } else {
      taken = 0;
      if (strcmp(name, "--sequential") == 0) options.sequential = known = 1;
      for (const char* const* own = extra; own && *own; ++own) {
        const size_t length = strlen(*own);
        if ((*own)[length - 1] != '=') known |= strcmp(name, *own) == 0;
        else if (strlen(name) == length - 1 && memcmp(name, *own, length - 1) == 0)
          known = taken = value != NULL;
      }
    }
    if (!known) {
      fprintf(stderr, "cannot understand %s %s\n", name, taken && value ? value : "");
      fprintf(stderr,
              "usage: %s [--threads 1..64] [--size small|medium|large] [--input PATH] [--seed S] "
              "[--sequential]",
              argv[0]);
      for (const char* const* own = extra; own && *own; ++own) fprintf(stderr, " [%s]", *own);
      fprintf(stderr, "\n");
      exit(2);
    }
    i += taken;
  }
  return options;
}

#endif
