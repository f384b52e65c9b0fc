// How a function of the C library's gets between the program and the C library, and how a checked one tells what it touches.
//
// The exported functions have names of their own here, so that nothing that headers or the compiler know of them gets in the way.

#include "interpose/library.h"

#include <dlfcn.h>

#include "page/store.h"
#include "runtime/state.h"
#include "task/shared.h"

namespace weir::interpose::library {

namespace {

[[gnu::cold, gnu::noinline]] void find_library() {
#define WEIR_FIND(result, name, parameters, arguments) g_library.name = reinterpret_cast<result(*) parameters>(dlsym(RTLD_NEXT, #name));
  WEIR_LIBRARY_CALLS(WEIR_FIND)
#undef WEIR_FIND
}
__attribute__((constructor)) void find_early() { find_library(); }

// Called before any constructor has run.
#define WEIR_EARLY(result, name, parameters, arguments) \
  result early_##name parameters {                      \
    find_library();                                     \
    return g_library.name arguments;                    \
  }
WEIR_LIBRARY_CALLS(WEIR_EARLY)
#undef WEIR_EARLY

}  // namespace

constinit Real g_library{
#define WEIR_EARLY(result, name, parameters, arguments) .name = early_##name,
    WEIR_LIBRARY_CALLS(WEIR_EARLY)
#undef WEIR_EARLY
};

#define WEIR_DOOR(result, name, parameters, arguments)                                              \
  extern "C" [[gnu::visibility("default")]] result weir_call_##name parameters __asm__(#name);      \
  result weir_call_##name parameters {                                                              \
    if (__builtin_expect(happens::g_checked, 0)) return checked::name arguments;                    \
    return g_library.name arguments;                                                                \
  }
WEIR_LIBRARY_CALLS(WEIR_DOOR)
#undef WEIR_DOOR

Call::Call(const Caller& caller) : caller_(caller), is_on_(g_tasks_active && !self().in_vfork && !self().in_runtime) {}

void Call::add(const void* at, size_t size, What what) {
  const auto start = reinterpret_cast<uint64_t>(at);
  if (!is_on_ || !size || happens::is_unseen(start, size, what == What::kWrites)) return;
  if (count_ == kMost) tell();
  parts_[count_++] = {start, size, what};
}

bool Call::tell() {
  if (!count_) return false;
  weir_upcall(
      [](long at, long, long) -> long {
        const Call& call = *reinterpret_cast<const Call*>(at);
        for (uint32_t i = 0; i < call.count_; i++) {
          const Part& part = call.parts_[i];
          const Caller& caller = call.caller_;
          if (part.what == What::kGives) happens::on_allocated(part.start, part.size, part.size, caller.where, caller.stack, caller.frame);
          else happens::on_library(part.start, part.size, part.what == What::kWrites, caller.where, caller.stack, caller.frame);
        }
        return 0;
      },
      reinterpret_cast<long>(this), 0, 0);
  count_ = 0;
  return true;
}

bool Call::is_unseen(const void* at, size_t size) const { return !is_on_ || happens::is_unseen(reinterpret_cast<uint64_t>(at), size, false); }

// Memory whose protection the program has changed is left to the hardware.
uint64_t Call::place(uint64_t at, size_t size) const {
  if (!is_on_) return at;
  const uint64_t alias = page::alias_of(at);
  return alias == at || page::store_extent(at) < size || page::has_protection(at, size) ? at : alias;
}

Text Call::text(const char* at, size_t most) const {
  const auto address = reinterpret_cast<uint64_t>(at);
  const uint64_t alias = is_on_ ? page::alias_of(address) : address;
  if (alias != address) {
    const uint64_t extent = page::store_extent(address);
    const size_t limit = most < extent ? most : extent;
    const auto* seen = reinterpret_cast<const char*>(alias);
    const size_t length = g_library.strnlen(seen, limit);
    const size_t read = length < limit ? length + 1 : length;
    if ((length < limit || limit == most) && !page::has_protection(address, read)) return {seen, length, read};
  }
  const size_t length = g_library.strnlen(at, most);
  return {at, length, length < most ? length + 1 : length};
}

}  // namespace weir::interpose::library
