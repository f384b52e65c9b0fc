// A part's size is a product of numbers that the program chose: sizes that no memory has are none.

#include "effects/parts.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace weir::effects {

namespace {

// Of what a call that failed may have looked at, nobody needs more.
constexpr uint64_t kMaxOfFailed = 1 << 20;

bool has_happened(When when, long result) {
  switch (when) {
    case When::kDone: return !is_error(result);
    case When::kPositive: return !is_error(result) && result != 0;
    case When::kInterrupted: return !is_error(result) || result == -EINTR;
    case When::kAny: return true;
  }
  return false;
}

uint64_t argument(const Request& request, uint8_t place) {
  if (!(place & kIsInt)) return address_of(request, place);
  const auto value = static_cast<int32_t>(request.a[place & ~kIsInt]);
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

uint64_t times(uint64_t count, uint64_t size) {
  return count < kAddressLimit ? count * size : kMaxBytes;
}

// Other calls cut what is too large down first.
bool is_refused(const Request& request) {
  return (request.number == SYS_read || request.number == SYS_pread64) &&
         address_of(request, 2) > kAddressLimit;
}

}  // namespace

bool is_error(long result) { return result < 0 && result > -4096; }
bool is_partial(long result) { return result == -EFAULT || result == -EIO; }

uint64_t filled(long result, uint64_t room) {
  if (is_partial(result)) return room;
  if (is_error(result)) return 0;
  const auto count = static_cast<uint64_t>(result);
  return count < room ? count : room;
}

void visit_leading_parts(const Row& row, const Request& request, const Visitor& visitor) {
  for (const Part& part : row.parts) {
    if (part.shape != Shape::kVector) continue;
    const uint64_t count = argument(request, part.count);
    if (count <= kMaxVectors) visitor(address_of(request, part.at), count * sizeof(iovec));
  }
}

void visit_parts(const Row& row, const Request& request, long result, bool written,
                 const Visitor& visitor) {
  if (is_refused(request)) return;
  for (const Part& part : row.parts) {
    if (part.shape == Shape::kNone) break;
    if (part.is_written != written) continue;
    const bool is_whole = written && is_partial(result);
    if (!is_whole && !has_happened(part.when, result)) continue;
    const uint64_t at = address_of(request, part.at);
    uint64_t size = part.size;
    switch (part.shape) {
      case Shape::kNone:
      case Shape::kFixed: break;
      case Shape::kCounted: size = times(argument(request, part.count), size); break;
      case Shape::kUsed: size = times(filled(result, argument(request, part.count)), size); break;
      case Shape::kVector:
        visit_vectors(visitor, at, argument(request, part.count), filled(result, kAddressLimit));
        continue;
      case Shape::kString: visit_string(visitor, at, kMaxOfFailed); continue;
    }
    if (!written && is_error(result) && size > kMaxOfFailed) continue;
    visitor(at, size);
  }
}

}  // namespace weir::effects
