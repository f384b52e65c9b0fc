// The C functions of weir/dsm.h for memory: blocks, regions, and accesses that are announced.
#include <string.h>

#include <string>

#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"

namespace weir::dsm {

namespace {

Block attributes_of(const weir_dsm_attributes* given, UnitKind kind) {
  const weir_dsm_attributes none = {};
  const weir_dsm_attributes& wanted = given ? *given : none;
  Block block;
  block.kind = kind;
  const Settings& settings = node().settings;
  const weir_dsm_protocol usual = settings.check ? WEIR_DSM_LRC : settings.protocol;
  block.protocol =
      static_cast<uint8_t>(wanted.protocol == WEIR_DSM_DEFAULT ? usual : wanted.protocol);
  block.home = static_cast<uint8_t>(wanted.home);
  block.home_node = wanted.home_node;
  block.unit_pages = wanted.pages ? wanted.pages : 1;
  if (wanted.protocol > WEIR_DSM_HLRC || wanted.home > WEIR_DSM_EXPLICIT ||
      wanted.unit > WEIR_DSM_ANNOTATED || block.unit_pages > 4096) {
    fail("weir_dsm_alloc_with: attributes that do not exist");
  }
  if (block.protocol == WEIR_DSM_SC && node().stream)
    fail(
        "WEIR_DSM_RECORD with memory under sc: what that tells depends on chance; record under "
        "lrc, and predict sc from it");
  if (wanted.home == WEIR_DSM_EXPLICIT && wanted.home_node >= node().nodes())
    fail("weir_dsm_alloc_with: there is no node %u", wanted.home_node);
  return block;
}

std::string name_of(const weir_dsm_attributes* given, const void* caller) {
  if (given && given->name) return given->name;
  return "at " + text_of(place_of(static_cast<const char*>(caller) - 1));
}

// The attributes may lie in shared memory, so they are read where the mutex is not held. What was
// used before is made zero by the thread itself, as an access of the program's.
void* allocate(size_t size, const weir_dsm_attributes* attributes, const void* caller) {
  Thread& thread = this_thread();
  Memory& memory = thread.node.memory;
  const Block block = attributes_of(attributes, attributes && attributes->unit == WEIR_DSM_ANNOTATED
                                                    ? UnitKind::kAnnotated
                                                    : UnitKind::kPages);
  const bool is_for_heap = memory.is_for_heap(size, block);
  const std::string name = is_for_heap ? "" : name_of(attributes, caller);
  bool is_used = false;
  uint8_t* address;
  {
    InRuntime held(thread);
    if (!is_for_heap) return memory.allocate(size, block, name.c_str(), thread, held);
    address = memory.allocate_small(size, block, is_used, thread, held);
  }
  if (is_used) memset(address, 0, size);
  return address;
}

Page& announced(const void* address, Thread& thread) {
  Memory& memory = thread.node.memory;
  Page* page = memory.segment.contains(address) ? memory.page_at(address) : nullptr;
  if (!page) fail("an access of %p is announced, which is no shared memory", address);
  return *page;
}

void access(const void* address, bool write, const void* caller) {
  Thread& thread = this_thread();
  thread.diagnostics.program_counter = static_cast<const char*>(caller) - 1;  // in the call
  InRuntime held(thread);
  thread.node.fetch(announced(address, thread), write, thread, held);
}

}  // namespace

}  // namespace weir::dsm

using namespace weir::dsm;

extern "C" {

void* weir_dsm_alloc(size_t size) { return allocate(size, nullptr, __builtin_return_address(0)); }

void* weir_dsm_alloc_with(size_t size, const weir_dsm_attributes* attributes) {
  return allocate(size, attributes, __builtin_return_address(0));
}

void* weir_dsm_alloc_shared(size_t count, size_t size, const weir_dsm_attributes* attributes) {
  struct {
    void* memory;
    uint64_t count, size;
  } first = {nullptr, count, size};
  if (weir_dsm_node() == 0) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    first.memory = allocate(bytes, attributes, __builtin_return_address(0));
  }
  weir_dsm_share(&first, sizeof first, 0);
  if (first.count != count || first.size != size) {
    fail("an array of %zu elements of %zu bytes, while node 0 has %lu of %lu", count, size,
         first.count, first.size);
  }
  return first.memory;
}

void weir_dsm_free(void* memory) {
  if (!memory) return;
  Thread& thread = this_thread();
  InRuntime held(thread);
  thread.node.memory.free(memory, thread, held);
}

void weir_dsm_touch(const void* address, size_t size, int write) {
  Thread& thread = this_thread();
  if (size == 0) return;
  thread.diagnostics.program_counter = static_cast<const char*>(__builtin_return_address(0)) - 1;
  InRuntime held(thread);
  thread.node.touch(static_cast<const uint8_t*>(address), size, write, thread, held);
}

void weir_dsm_read_access(const void* address) {
  access(address, false, __builtin_return_address(0));
}
void weir_dsm_write_access(const void* address) {
  access(address, true, __builtin_return_address(0));
}

weir_dsm_region weir_dsm_region_alloc(size_t size, const weir_dsm_attributes* attributes) {
  Thread& thread = this_thread();
  if (size == 0) fail("weir_dsm_region_alloc of 0 bytes");
  const Block block = attributes_of(attributes, UnitKind::kRegion);
  const std::string name = name_of(attributes, __builtin_return_address(0));
  InRuntime held(thread);
  uint32_t number = 0;
  thread.node.memory.allocate(size, block, name.c_str(), thread, held, &number);
  return number;
}

void weir_dsm_region_attach(weir_dsm_region region, void** pointer) {
  Thread& thread = this_thread();
  const InRuntime held(thread);
  if (region >= thread.node.memory.blocks() ||
      thread.node.memory.block(region).kind != UnitKind::kRegion)
    fail("weir_dsm_region_attach: there is no region %u", region);
  thread.node.regions.attach(region, pointer);
}

}  // extern "C"
