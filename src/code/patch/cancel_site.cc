#include "code/patch/cancel_site.h"

#include <errno.h>

#include "sys/libc.h"

namespace weir {

namespace {

uint64_t g_cancel_address = 0;

constexpr uint64_t kBehind = 3;  // the system call, and the return

// The program's byte at `address`, which the site's jump or int3 may have replaced.
uint8_t original_byte(const Site& site, uint64_t address) {
  const uint64_t at = address - site.window, replaced = site.is_trap ? 1 : sizeof site.original;
  return at < replaced ? site.original[at] : *reinterpret_cast<const uint8_t*>(address);
}

bool is_cancellable(const Site& site) {
  uint8_t code[libc::kCancellableCall];
  const uint64_t start = site.address + kBehind - sizeof code;
  for (uint64_t i = 0; i < sizeof code; i++) code[i] = original_byte(site, start + i);
  return libc::is_cancellable_call(code);
}

}  // namespace

bool find_cancel_site(Range text) {
  g_cancel_address = 0;
  if (!libc::has_one_cancellable_call()) return true;
  for (uint32_t i = 0; i < site_count() && !g_cancel_address; i++) {
    const Site& site = *site_at(i);
    if (site.kind == SiteKind::kSyscall && text.contains(site.address) && is_cancellable(site))
      g_cancel_address = site.address;
  }
  return g_cancel_address != 0;
}

bool is_cancel_site(const Site& site) { return site.address == g_cancel_address; }

void end_cancelled_call(int signal, ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  const auto rip = static_cast<uint64_t>(gregs[REG_RIP]);
  StubPlace place;
  if (signal != kCancelSignal || !g_cancel_address || !find_stub_place(rip, place) ||
      !is_cancel_site(*place.site))
    return;
  if (place.on_runtime_stack || rip > place.site->stub + place.site->native_at) return;
  gregs[REG_RIP] = static_cast<greg_t>(place.site->resume);
  gregs[REG_RAX] = -EINTR;
}

}  // namespace weir
