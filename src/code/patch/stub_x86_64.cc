#include "code/patch/stub_x86_64.h"

#include "base/bytes.h"
#include "code/find/window.h"
#include "code/patch/patch.h"
#include "sys/report.h"

// Layout of a stub:
//
//   instructions that stood before the site in the window
//   syscall sites only: a number without a handler, or none that a handler could have, goes to
//   `native`; rcx, r11 and the flags are free there, as the system call itself destroys them
//   enter:   mov %rsp,%gs:0x10; mov %gs:0x18,%rsp; push $index; jmp *entry
//            (no register, no flag is touched)
//   native:  syscall
//            (syscall sites only)
//   resume:  instructions that stood after the site in the window
//            jmp to the byte after the window
//
// The program's stack is never written, so the red zone is safe and vfork and clone pass through.

namespace weir {
namespace {

class Writer {
 public:
  explicit Writer(uint64_t address) : start_(address), at_(address) {}

  uint64_t at() const { return at_; }
  uint8_t offset() const { return static_cast<uint8_t>(at_ - start_); }

  template <size_t N>
  void put(const uint8_t (&bytes)[N]) {
    put_bytes(bytes, N);
  }
  void put_bytes(const uint8_t* bytes, size_t size) {
    copy_bytes(reinterpret_cast<void*>(at_), bytes, size);
    at_ += size;
  }
  void put32(uint32_t value) { put_value(&value, sizeof(value)); }
  void put64(uint64_t value) { put_value(&value, sizeof(value)); }

  // A displacement of 32 bits that is relative to `end`, the end of the instruction it stands in.
  void put_relative(uint64_t target, uint64_t end) {
    auto distance = static_cast<int64_t>(target - end);
    if (distance != static_cast<int32_t>(distance)) in_reach_ = false;
    put32(static_cast<uint32_t>(distance));
  }
  void patch8(uint64_t where, uint8_t value) { *reinterpret_cast<uint8_t*>(where) = value; }
  bool in_reach() const { return in_reach_; }

 private:
  void put_value(const void* value, size_t size) {
    put_bytes(static_cast<const uint8_t*>(value), size);
  }

  uint64_t start_;
  uint64_t at_;
  bool in_reach_ = true;
};

// `code` is the instruction, which runs at `address`.
void put_relocated(Writer& out, const Shape& shape, const uint8_t* code, uint64_t address) {
  Flow flow = flow_of(shape);
  if (flow == Flow::kJump || flow == Flow::kConditional) {
    uint64_t target =
        address + shape.length + static_cast<uint64_t>(branch_displacement(shape, code));
    if (flow == Flow::kJump) {
      out.put({0xe9});
    } else {
      out.put({0x0f, static_cast<uint8_t>(0x80 | (shape.opcode & 0x0f))});
    }
    out.put_relative(target, out.at() + 4);
    return;
  }
  if (!shape.is_rip_relative()) {
    out.put_bytes(code, shape.length);
    return;
  }
  int32_t displacement;
  copy_bytes(&displacement, code + shape.displacement_at, sizeof(displacement));
  uint64_t target = address + shape.length + static_cast<uint64_t>(int64_t{displacement});
  uint64_t end = out.at() + shape.length;
  out.put_bytes(code, shape.displacement_at);
  out.put_relative(target, end);
  out.put_bytes(code + shape.displacement_at + 4, shape.length - shape.displacement_at - 4u);
}

// The instructions of the window in [from, to), each noted in the site.
bool put_displaced(Writer& out, const StubRequest& request, uint32_t from, uint32_t to,
                   Site& site) {
  while (from < to) {
    Shape shape;
    if (!read_shape(request.code + from, to - from, shape) ||
        site.displaced_count == Site::kMaxDisplaced)
      return false;
    WEIR_CHECK(is_relocatable(shape));  // invariant 2 of window.cc
    site.displaced_stub[site.displaced_count] = out.offset();
    site.displaced_window[site.displaced_count] = static_cast<uint8_t>(from);
    site.displaced_count++;
    put_relocated(out, shape, request.code + from, request.window + from);
    from += shape.length;
  }
  return true;
}

void put_enter(Writer& out, const StubRequest& request) {
  out.put({0x65, 0x48, 0x89, 0x24, 0x25, 0x10, 0, 0, 0});  // mov %rsp,%gs:0x10
  out.put({0x65, 0x48, 0x8b, 0x24, 0x25, 0x18, 0, 0, 0});  // mov %gs:0x18,%rsp
  out.put({0x68});                                         // push $index
  out.put32(request.index);
  out.put({0xff, 0x25});  // jmp *slot(%rip)
  out.put_relative(request.entry_slot, out.at() + 4);
}

void put_syscall(Writer& out, const StubRequest& request, Site& site) {
  out.put({0x89, 0xc1});  // mov %eax,%ecx: the kernel takes 32 bits of the number
  out.put({0x81, 0xf9});  // cmp $512,%ecx
  out.put32(kSyscallNumbers);
  out.put({0x73, 0});  // jae native
  uint64_t first = out.at();
  out.put({0x49, 0xbb});  // movabs $g_syscall_handled,%r11
  out.put64(reinterpret_cast<uint64_t>(&g_syscall_handled[0]));
  out.put({0x41, 0x80, 0x3c, 0x0b, 0});  // cmpb $0,(%r11,%rcx)
  out.put({0x74, 0});                    // je native
  uint64_t second = out.at();
  site.enter_at = out.offset();
  put_enter(out, request);
  out.patch8(first - 1, static_cast<uint8_t>(out.at() - first));
  out.patch8(second - 1, static_cast<uint8_t>(out.at() - second));
  site.native_at = out.offset();
  out.put({0x0f, 0x05});
}

}  // namespace

bool write_stub(const StubRequest& request, Site& site) {
  Writer out(request.stub);
  site.stub = request.stub;
  site.displaced_count = 0;
  if (!put_displaced(out, request, 0, request.site_at, site)) return false;
  if (site.kind == SiteKind::kSyscall) {
    put_syscall(out, request, site);
  } else {
    site.enter_at = out.offset();
    put_enter(out, request);
  }
  site.resume = out.at();
  if (!put_displaced(out, request, request.site_at + site.length, request.window_size, site))
    return false;
  out.put({0xe9});
  out.put_relative(request.window + request.window_size, out.at() + 4);
  site.stub_size = out.offset();
  return out.in_reach();
}

bool encode_jump(uint64_t from, uint64_t to, uint8_t (&bytes)[5]) {
  auto distance = static_cast<int64_t>(to - (from + 5));
  auto narrow = static_cast<int32_t>(distance);
  bytes[0] = 0xe9;
  copy_bytes(bytes + 1, &narrow, sizeof(narrow));
  return narrow == distance;
}

}  // namespace weir
