/* weir/region.h, in C and in C++, as a program with all warnings has it (run.py). */
#include "weir/region.h"

int use_region(int* memory);

static void on_trap(weir_region_trap* trap) {
  weir_region_protect(trap->start, PROT_READ | PROT_WRITE);
}

int use_region(int* memory) {
  int* pointer = (int*)weir_region_alloc(sizeof(int), NULL, on_trap);
  weir_region_options options;
  options.struct_size = sizeof options;
  options.window = 0;
  if (weir_region_start(&options) || weir_region_ptr(&pointer) ||
      weir_region_define(memory, sizeof *memory, NULL, on_trap))
    return 1;
  *pointer = 1;
  return weir_region_ptr_free(&pointer);
}
