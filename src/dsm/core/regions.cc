// A trap of a region is a fault of its unit; the handler runs on the thread that trapped, as that
// of a page does.
#include "dsm/node/regions.h"

#include <ucontext.h>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/node/this_node.h"
#include "weir/region.h"

namespace weir::dsm {

namespace {

void on_trap(weir_region_trap* trap) {
  Page& page = *static_cast<Page*>(trap->context);
  Thread& thread = this_thread();
  InRuntime held(thread);
  thread.diagnostics.program_counter = reinterpret_cast<const void*>(
      static_cast<const ucontext_t*>(trap->ucontext)->uc_mcontext.gregs[REG_RIP]);
  const bool write = trap->access & PROT_WRITE;
  (write ? thread.node.counters.now.write_faults : thread.node.counters.now.read_faults)++;
  thread.node.fetch(page, write, thread, held);
}

}  // namespace

Regions::~Regions() {
  for (auto& [block, made] : made_) weir_region_ptr_free(&made.pointer);
}

void* Regions::create(uint32_t block, uint64_t size) {
  Made& made = made_[block];
  if (!made.region) made.region = weir_region_alloc(size, &made.pointer, on_trap);
  if (!made.region) fail("no memory for a region of %lu bytes", size);
  return made.region;
}

void Regions::attach(uint32_t block, void** pointer) {
  Page& page = node_.memory.object(block);
  Made& made = made_[block];
  void* region = made.region;
  weir_region_handler(region, on_trap, &page);
  if (!page.attached)
    weir_region_protect(region, page.right == Right::kNone   ? PROT_NONE
                                : page.right == Right::kRead ? PROT_READ
                                                             : PROT_READ | PROT_WRITE);
  page.attached = true;
  *pointer = region;
  if (weir_region_bptr(&made.pointer, pointer))
    fail("the pointer at %p is registered already", static_cast<void*>(pointer));
}

}  // namespace weir::dsm
