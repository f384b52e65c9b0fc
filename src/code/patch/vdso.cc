#include "code/patch/vdso.h"

#include <elf.h>
#include <sys/syscall.h>

#include <initializer_list>

#include "base/bytes.h"
#include "code/patch/patch.h"
#include "sys/memory.h"

namespace weir {

namespace {

// libc has looked these up before anything of Weir's runs: the entries stay where they are, and
// what stands there asks the kernel. That returns EFAULT where the program has closed its buffer,
// to open it in a handler of SIGSEGV: there the vDSO faults. So the buffer is then touched, and the
// kernel asked once more.

// A buffer that an argument points to.
struct Buffer {
  enum Argument : uint8_t { kNone, kFirst, kSecond, kFirstBySecond };  // the last: bytes, counted
  Argument argument;
  uint8_t size;
  bool may_be_null;
};

struct Function {
  const char* name;
  int number;
  bool takes_clock;  // its first argument names a clock
  Buffer buffers[2];
};

constexpr Buffer kNoBuffer{Buffer::kNone, 0, false};
constexpr Function kFunctions[] = {
    {"__vdso_clock_gettime", SYS_clock_gettime, true, {{Buffer::kSecond, 16, false}, kNoBuffer}},
    {"__vdso_clock_getres", SYS_clock_getres, true, {{Buffer::kSecond, 16, true}, kNoBuffer}},
    {"__vdso_gettimeofday",
     SYS_gettimeofday,
     false,
     {{Buffer::kFirst, 16, true}, {Buffer::kSecond, 8, true}}},
    {"__vdso_time", SYS_time, false, {{Buffer::kFirst, 8, false}, kNoBuffer}},
    {"__vdso_getcpu", SYS_getcpu, false, {{Buffer::kFirst, 4, true}, {Buffer::kSecond, 4, true}}},
    {"__vdso_getrandom", SYS_getrandom, false, {{Buffer::kFirstBySecond, 0, false}, kNoBuffer}},
};

const Function* find(const char* name) {
  for (const Function& function : kFunctions) {
    if (equal_strings(function.name, name)) return &function;
  }
  return nullptr;
}

constexpr uint8_t kNop = 0x90, kReturn = 0xc3, kJumpIfEqual = 0x74, kJumpIfAbove = 0x77,
                  kJumpIfNoCarry = 0x73;
// The clocks that the vDSO reads itself: CLOCK_REALTIME, MONOTONIC, MONOTONIC_RAW, their coarse
// ones, BOOTTIME, TAI.
constexpr int kOwnClocks = 0x8f3;
constexpr int kBadAddress = -14, kNoCall = -38;  // -EFAULT, -ENOSYS

class Code {
 public:
  uint64_t size() const { return size_; }
  const uint8_t* bytes() const { return bytes_; }

  void put(std::initializer_list<uint8_t> bytes) {
    for (const uint8_t byte : bytes) bytes_[size_++] = byte;
  }
  void put_number(int number) {
    copy_bytes(bytes_ + size_, &number, 4);
    size_ += 4;
  }
  // A jump over what comes until land(); returns what that takes.
  uint64_t jump(uint8_t opcode) {
    put({opcode, 0});
    return size_;
  }
  void land(uint64_t jump) { bytes_[jump - 1] = static_cast<uint8_t>(size_ - jump); }

  void ask(int number) {
    put({0xb8});  // mov $number,%eax
    put_number(number);
    put({0x0f, 0x05});  // syscall
  }
  void answer(int error) {
    put({0x48, 0xc7, 0xc0});  // mov $error,%rax
    put_number(error);
    put({kReturn});
  }
  // Room for the jump that patching puts over a system call and what follows.
  void make_room() { put({kNop, kNop, kNop, kNop}); }

  void touch(const Buffer& buffer) {
    if (buffer.argument == Buffer::kFirstBySecond) {
      put({0x80, 0x4f, 0, 0});           // orb $0,(%rdi)
      put({0x80, 0x4c, 0x37, 0xff, 0});  // orb $0,-1(%rdi,%rsi)
      return;
    }
    const bool is_first = buffer.argument == Buffer::kFirst;
    uint64_t if_null = 0;
    if (buffer.may_be_null) {
      put({0x48, 0x85, is_first ? uint8_t{0xff} : uint8_t{0xf6}});  // test %rdi,%rdi
      if_null = jump(kJumpIfEqual);
    }
    const uint8_t at = is_first ? 0x4f : 0x4e;  // orl $0,offset(%rdi)
    put({0x83, at, 0, 0});
    if (buffer.size > 4) put({0x83, at, static_cast<uint8_t>(buffer.size - 4), 0});
    if (buffer.may_be_null) land(if_null);
  }

 private:
  uint8_t bytes_[160];
  uint64_t size_ = 0;
};

// With a clock that the vDSO asks the kernel about, EFAULT is what the program would see.
void touch_buffers(Code& code, const Function& function) {
  uint64_t if_large = 0, if_other = 0;
  if (function.takes_clock) {
    code.put({0x83, 0xff, 31});  // cmp $31,%edi
    if_large = code.jump(kJumpIfAbove);
    code.put({0xb8});  // mov $kOwnClocks,%eax; bt %edi,%eax
    code.put_number(kOwnClocks);
    code.put({0x0f, 0xa3, 0xf8});
    if_other = code.jump(kJumpIfNoCarry);
  }
  for (const Buffer& buffer : function.buffers) {
    if (buffer.argument != Buffer::kNone) code.touch(buffer);
  }
  code.ask(function.number);
  code.put({kReturn});
  if (!function.takes_clock) return;
  code.make_room();
  code.land(if_large);
  code.land(if_other);
  code.answer(kBadAddress);
}

// getrandom(buffer, size, flags, state, size of state): the state is not used, and so not kept
// across forks or between tasks. Asked for what a state is to be like (its size is ~0), it answers
// that there is no such thing: who asks later calls the kernel.
Code code_for(const Function& function, bool touches) {
  Code code;
  uint64_t if_asked = 0;
  if (function.number == SYS_getrandom) {
    code.put({0x49, 0x83, 0xf8, 0xff});  // cmp $-1,%r8
    if_asked = code.jump(kJumpIfEqual);
  }
  code.ask(function.number);
  uint64_t if_bad = 0;
  if (touches) {
    code.put({0x48, 0x83, 0xf8, static_cast<uint8_t>(kBadAddress)});  // cmp $-14,%rax
    if_bad = code.jump(kJumpIfEqual);
  }
  code.put({kReturn});
  if (touches) {
    code.land(if_bad);
    touch_buffers(code, function);
  }
  code.make_room();
  if (function.number == SYS_getrandom) {
    code.land(if_asked);
    code.answer(kNoCall);
  }
  return code;
}

// What stands behind it in the function is no code any more.
void write_function(uint64_t at, uint64_t size, const Function& function) {
  Code code = code_for(function, true);
  if (code.size() > size) code = code_for(function, false);
  auto* to = reinterpret_cast<uint8_t*>(at);
  copy_bytes(to, code.bytes(), code.size());
  for (uint64_t i = code.size(); i < size; i++) to[i] = kNop;
}

bool g_done = false;

template <typename T>
T number_at(uint64_t at) {
  T number;
  copy_bytes(&number, reinterpret_cast<const void*>(at), sizeof number);
  return number;
}

// A CIE whose FDEs give their addresses as four bytes from where they stand.
bool has_near_addresses(uint64_t cie) {
  constexpr uint8_t kVersion = 1, kRelative = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  const auto* bytes = reinterpret_cast<const uint8_t*>(cie + 8);
  return bytes[0] == kVersion && bytes[1] == 'z' && bytes[2] == 'R' && bytes[3] == 0 &&
         bytes[7] == 1 && bytes[8] == kRelative;
}

// Who unwinds from inside the function (a thread that is cancelled asynchronously) finds nothing on
// the stack but the return address, as the CIE says of a function's beginning: what its FDE says of
// the code that stood there goes.
void forget_frames(Range frames, Range function) {
  for (uint64_t at = frames.start; at + 16 <= frames.limit;) {
    const auto length = number_at<uint32_t>(at), back = number_at<uint32_t>(at + 4);
    const uint64_t next = at + 4 + length;
    if (!length || next > frames.limit) return;
    const uint64_t begin_at = at + 8, cie = at + 4 - back;
    const bool is_known = back && cie >= frames.start && has_near_addresses(cie);
    if (is_known && function.contains(
                        begin_at + static_cast<uint64_t>(int64_t{number_at<int32_t>(begin_at)}))) {
      const uint64_t rules = begin_at + 9 + number_at<uint8_t>(begin_at + 8);
      if (rules < next) zero_bytes(reinterpret_cast<void*>(rules), next - rules);  // DW_CFA_nop
    }
    at = next;
  }
}

// .eh_frame, or nothing.
Range frames_of(Range image, const Elf64_Ehdr& header, const Elf64_Shdr* sections) {
  if (header.e_shstrndx >= header.e_shnum) return {};
  const uint64_t names = image.start + sections[header.e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    const Elf64_Shdr& one = sections[i];
    if (one.sh_offset + one.sh_size > image.size()) continue;
    if (equal_strings(reinterpret_cast<const char*>(names + one.sh_name), ".eh_frame"))
      return {image.start + one.sh_offset, image.start + one.sh_offset + one.sh_size};
  }
  return {};
}

}  // namespace

bool ask_kernel_instead(Range image, bool only_random) {
  if (g_done) return true;
  g_done = true;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image.start);
  if (header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr) > image.size()) return false;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.start + header->e_shoff);
  if (sys::protect(image.start, image.size(), 7) != 0) return false;  // read, write, execute
  const Range frames = frames_of(image, *header, sections);
  Range random{};
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(image.start + sections[i].sh_offset);
    const auto* names =
        reinterpret_cast<const char*>(image.start + sections[sections[i].sh_link].sh_offset);
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); k++) {
      const Function* function = symbols[k].st_value ? find(names + symbols[k].st_name) : nullptr;
      if (!function) continue;
      const uint64_t at = image.start + symbols[k].st_value;
      const bool is_random = function->number == SYS_getrandom;
      if (only_random && !is_random) continue;
      write_function(at, symbols[k].st_size, *function);
      forget_frames(frames, {at, at + symbols[k].st_size});
      if (is_random) random = Range{at, at + symbols[k].st_size};
    }
  }
  sys::protect(image.start, image.size(), 5);
  return patch_text(only_random ? random : image, only_random ? Range{} : image, kPatchSyscall,
                    nullptr) == 0;
}

}  // namespace weir
