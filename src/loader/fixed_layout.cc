// 1. Until it is clear that everything can be moved, nothing is. (not checkable: an order of steps)
// 2. When all has been moved, the kernel's next free address is the one below what lies below kTop.
//    (checked in is_next_free)
#include "loader/fixed_layout.h"

#include <elf.h>
#include <errno.h>
#include <linux/prctl.h>
#include <sys/mman.h>

#include "base/types.h"
#include "loader/process_files.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::loader {

namespace {

constexpr uint32_t kMaxLines = 64;  // of a program that has not run: about 15
constexpr uint32_t kMaxAuxiliary = 64;
constexpr long kTextRoom = 64 << 10;
constexpr uint64_t kWordRoom = 8 << 20;  // of the table; the kernel takes less

// What is moved by one distance.
struct Part {
  sys::MapLine lines[kMaxLines];
  uint32_t count = 0;
  uint64_t to = 0;  // where start() goes

  uint64_t start() const { return count ? lines[0].range.start : 0; }
  uint64_t limit() const { return count ? lines[count - 1].range.limit : 0; }
  uint64_t size() const { return limit() - start(); }
  bool holds(uint64_t address) const { return address >= start() && address < limit(); }
  uint64_t moved(uint64_t address) const { return address - start() + to; }
  void add(const sys::MapLine& line) {
    if (count < kMaxLines) lines[count++] = line;
  }
};

// What the kernel says of a process's memory (/proc/PID/stat), as prctl takes it.
struct MemoryMap {
  uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack, arg_start,
      arg_end, env_start, env_end;
  uint64_t auxv;
  uint32_t auxv_size, exe_fd;
};

// The field `number`, counted from 1, of /proc/PID/stat.
uint64_t field(const char* text, int number) {
  const char* at = text;
  for (const char* c = text; *c; c++) {
    if (*c == ')') at = c + 1;  // the name before it may hold anything
  }
  for (int now = 2; now < number && *at; at++) now += *at == ' ';
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++) value = value * 10 + static_cast<uint64_t>(*at - '0');
  return value;
}

class Layouter {
 public:
  Layouter(Traced& process, char* text, uint64_t* words)
      : process_(process), text_(text), words_(words) {}

  LayoutResult run() {
    if (!process_.get(&registers_) || !read_stack() || !read_maps() || !choose())
      return {Layout::kFailed, step_, error_};
    if (!is_movable()) return {Layout::kTryAgain, "", 0};
    const uint64_t mask = process_.block_signals();
    const bool moved = move_all() && write_table() && tell_kernel() && is_next_free();
    if (moved) process_.restore_signals(mask);
    return {moved ? Layout::kFixed : Layout::kFailed, step_, error_};
  }

 private:
  bool failed(const char* step, long error = 0) {
    step_ = step;
    error_ = error;
    return false;
  }

  // The table: argc, argv, 0, environ, 0, auxv.
  bool read_stack() {
    const auto word = [&](uint64_t at) {
      uint64_t value = 0;
      is_read_ &= process_.read(at, &value, sizeof value);
      return value;
    };
    uint64_t at = registers_.rsp;
    arguments_ = word(at);
    at += 8 * (arguments_ + 2);
    while (is_read_ && word(at)) at += 8, variables_++;
    at += 8;
    for (; is_read_ && auxiliary_count_ < kMaxAuxiliary; at += sizeof(Elf64_auxv_t)) {
      Elf64_auxv_t& entry = auxiliary_[auxiliary_count_++];
      entry.a_type = word(at);
      entry.a_un.a_val = word(at + 8);
      if (entry.a_type == AT_NULL) return true;
    }
    return failed("reading the stack");
  }

  uint64_t auxiliary(uint64_t type) const {
    for (uint32_t i = 0; i < auxiliary_count_; i++) {
      if (auxiliary_[i].a_type == type) return auxiliary_[i].a_un.a_val;
    }
    return 0;
  }

  bool read_maps() {
    const long length = read_file(process_.pid(), "/maps", text_, kTextRoom);
    if (length <= 0) return failed("reading /proc/PID/maps", length);
    sys::MapLine line;
    Part all;
    for (char* cursor = text_; (cursor = sys::next_map_line(cursor, &line));) all.add(line);
    if (all.count == kMaxLines) return failed("reading /proc/PID/maps");
    const uint64_t loader = auxiliary(AT_BASE), vdso = auxiliary(AT_SYSINFO_EHDR);
    uint64_t inode = 0;
    for (uint32_t i = 0; i < all.count; i++) {
      if (loader && all.lines[i].range.start == loader) inode = all.lines[i].inode;
    }
    bool is_vdso_known = false;
    for (uint32_t i = 0; i < all.count; i++) {
      const sys::MapLine& one = all.lines[i];
      if (one.range.start >= kStackLimit) continue;  // [vsyscall]
      const bool is_near_loader = inode && one.range.start >= loader &&
                                  (one.inode == inode || loader_.limit() == one.range.start);
      if (one.range.contains(registers_.rsp)) {
        stack_.add(one);
      } else if (one.name[0] == '[' && one.name[1] == 'v') {
        system_.add(one);
        is_vdso_known |= one.range.start == vdso;
      } else if (is_near_loader) {
        loader_.add(one);
      } else {
        program_.add(one);
      }
    }
    if (!stack_.count || !program_.count || (vdso && !is_vdso_known) || (loader && !inode))
      return failed("reading /proc/PID/maps");
    return find_instruction();
  }

  bool find_instruction() {
    const Part* const parts[] = {&system_, &loader_, &program_};
    for (const Part* part : parts) {
      for (uint32_t i = 0; i < part->count; i++) {
        const Range range = part->lines[i].range;
        if (!part->lines[i].executable) continue;
        for (uint64_t at = range.start; at + sizeof page_ <= range.limit; at += sizeof page_) {
          if (!process_.read(at, page_, sizeof page_)) break;
          for (uint64_t j = 0; j + 1 < sizeof page_; j++) {
            if (page_[j] != 0x0f || page_[j + 1] != 0x05) continue;
            process_.use_instruction_at(at + j);
            return true;
          }
        }
      }
    }
    return failed("looking for a system call instruction");
  }

  // Where everything goes.
  bool choose() {
    Elf64_Ehdr header;
    if (!process_.read(program_.start(), &header, sizeof header) || header.e_ident[0] != 0x7f)
      return failed("reading the program's header");
    program_.to = program_.start();
    if (header.e_type == ET_DYN) {
      uint64_t alignment = kPageSize;
      for (uint32_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        const uint64_t at = program_.start() + header.e_phoff + i * sizeof segment;
        if (!process_.read(at, &segment, sizeof segment)) return failed("reading its segments");
        if (segment.p_type == PT_LOAD && segment.p_align > alignment &&
            (segment.p_align & (segment.p_align - 1)) == 0)
          alignment = segment.p_align;
      }
      program_.to = kProgram & ~(alignment - 1);
    }
    loader_.to = kTop - loader_.size();
    system_.to = loader_.to - system_.size();
    stack_.to = kStackLimit - stack_.size();
    return true;
  }

  bool is_movable() const {
    const Part* const parts[] = {&program_, &loader_, &system_, &stack_};
    for (const Part* from : parts) {
      for (const Part* to : parts) {
        const Range target{to->to, to->to + to->size()};
        const bool stays = from == to && from->to == from->start();
        for (uint32_t i = 0; i < from->count; i++) {
          if (!stays && from->lines[i].range.overlaps(target)) return false;
        }
      }
    }
    // Of what the kernel gave by itself: then all that it gives is in what will be reserved.
    const Part& first = loader_.count ? loader_ : system_;
    return !first.count || (first.start() > kTop && first.limit() <= kBehindTop);
  }

  bool move(Part& part, const char* step) {
    if (part.to == part.start()) return true;
    for (uint32_t i = 0; i < part.count; i++) {
      const Range range = part.lines[i].range;
      const uint64_t to = part.moved(range.start);
      const long at = process_.call(SYS_mremap, range.start, range.size(), range.size(),
                                    MREMAP_MAYMOVE | MREMAP_FIXED, to);
      if (at != static_cast<long>(to)) return failed(step, at);
      if (range.contains(process_.instruction()))
        process_.use_instruction_at(part.moved(process_.instruction()));
    }
    return true;
  }

  bool move_all() {
    if (!move(system_, "moving the vDSO") || !move(loader_, "moving the loader") ||
        !move(program_, "moving the program") || !move(stack_, "moving the stack"))
      return false;
    const long at = process_.call(SYS_mmap, kTop, kBehindTop - kTop, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                                  ~uint64_t{0}, 0);
    return at == static_cast<long>(kTop) || failed("reserving addresses (ulimit -v?)", at);
  }

  uint64_t moved(uint64_t address) const {
    const Part* const parts[] = {&stack_, &loader_, &system_, &program_};
    for (const Part* part : parts) {
      if (part->holds(address)) return part->moved(address);
    }
    return address;
  }

  // Of the table, without auxv.
  uint64_t table_words() const { return 1 + arguments_ + 1 + variables_ + 1; }

  // As the kernel does it, but that the kernel begins at a random address: the processor's name
  // and the random bytes below the texts, below them the table.
  bool write_table() {
    char name[32];
    const uint64_t old = registers_.rsp, delta = stack_.to - stack_.start();
    const long stat = read_file(process_.pid(), "/stat", text_, kTextRoom);
    if (stat <= 0) return failed("reading /proc/PID/stat", stat);
    const uint64_t texts = field(text_, 48) + delta;  // arg_start
    if (texts <= old + delta || texts >= kStackLimit) return failed("reading /proc/PID/stat");
    uint8_t random[16];
    const uint64_t platform = auxiliary(AT_PLATFORM) + delta;
    const long length = process_.read_string(platform, name, sizeof name);
    if (length < 0 || !process_.read(auxiliary(AT_RANDOM) + delta, random, sizeof random))
      return failed("reading the stack");
    const uint64_t words = table_words();
    uint64_t* const pointers = words_;
    if (words * 8 > kWordRoom) return failed("reading the stack: too many arguments");
    if (!process_.read(old + delta, pointers, words * 8)) return failed("reading the stack");
    const uint64_t name_at = (texts & ~uint64_t{15}) - 16, random_at = name_at - 16,
                   table = (random_at - words * 8 - auxiliary_count_ * sizeof(Elf64_auxv_t)) &
                           ~uint64_t{15};
    const uint64_t from = (table < old + delta ? table : old + delta) & ~uint64_t{15};
    for (uint64_t at = from; at < texts; at += sizeof zeros_) {
      const uint64_t rest = texts - at;
      if (!process_.write(at, zeros_, rest < sizeof zeros_ ? rest : sizeof zeros_))
        return failed("writing the stack");
    }
    for (uint64_t i = 1; i < words; i++) {
      if (pointers[i]) pointers[i] += delta;
    }
    for (uint32_t i = 0; i < auxiliary_count_; i++) {
      uint64_t& value = auxiliary_[i].a_un.a_val;
      switch (auxiliary_[i].a_type) {
        case AT_PLATFORM: value = name_at; break;
        case AT_RANDOM: value = random_at; break;
        case AT_EXECFN: value += delta; break;
        case AT_BASE:
        case AT_PHDR:
        case AT_ENTRY:
        case AT_SYSINFO_EHDR: value = moved(value); break;
        default: break;
      }
    }
    if (!process_.write(name_at, name, static_cast<uint64_t>(length) + 1) ||
        !process_.write(random_at, random, sizeof random) ||
        !process_.write(table, pointers, words * 8) ||
        !process_.write(table + words * 8, auxiliary_, auxiliary_count_ * sizeof(Elf64_auxv_t)))
      return failed("writing the stack");
    registers_.rsp = table;
    registers_.rip = moved(registers_.rip);
    return process_.set(registers_) || failed("setting the registers");
  }

  // What ps shows, where brk begins, /proc/self/auxv.
  bool tell_kernel() {
    const uint64_t delta = stack_.to - stack_.start();
    MemoryMap map;
    map.start_code = moved(field(text_, 26));
    map.end_code = moved(field(text_, 27) - 1) + 1;
    map.start_data = moved(field(text_, 45));
    map.end_data = moved(field(text_, 46) - 1) + 1;
    map.start_brk = map.brk = page_up(program_.to + program_.size());
    map.start_stack = registers_.rsp;
    map.arg_start = field(text_, 48) + delta;
    map.arg_end = field(text_, 49) + delta;
    map.env_start = field(text_, 50) + delta;
    map.env_end = field(text_, 51) + delta;
    map.auxv_size = static_cast<uint32_t>(auxiliary_count_ * sizeof(Elf64_auxv_t));
    map.exe_fd = ~0u;
    map.auxv = registers_.rsp + table_words() * 8;
    const uint64_t at = (registers_.rsp - sizeof map - 256) & ~uint64_t{15};
    if (!process_.write(at, &map, sizeof map)) return failed("writing the stack");
    const long result = process_.call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, at, sizeof map, 0);
    if (!process_.write(at, zeros_, sizeof map)) return failed("writing the stack");
    return result == 0 || failed("prctl(PR_SET_MM_MAP)", result);
  }

  bool is_next_free() {
    const uint64_t lowest = system_.count ? system_.to : loader_.count ? loader_.to : kTop;
    const long at = process_.call(SYS_mmap, 0, kPageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                                  ~uint64_t{0}, 0);
    if (at != static_cast<long>(lowest - kPageSize))
      return failed("looking for free addresses", at);
    process_.call(SYS_munmap, static_cast<uint64_t>(at), kPageSize);
    return true;
  }

  Traced& process_;
  user_regs_struct registers_{};
  Part program_, loader_, system_, stack_;
  Elf64_auxv_t auxiliary_[kMaxAuxiliary];
  uint32_t auxiliary_count_ = 0;
  uint64_t arguments_ = 0, variables_ = 0;
  bool is_read_ = true;
  const char* step_ = "";
  long error_ = 0;
  uint8_t page_[4096];
  uint8_t zeros_[4096] = {};
  char* const text_;
  uint64_t* const words_;
};

uint64_t scratch(uint64_t size) {
  return static_cast<uint64_t>(sys::raw(SYS_mmap, 0, static_cast<long>(size),
                                        PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

}  // namespace

LayoutResult fix_layout(Traced& process) {
  const uint64_t text = scratch(kTextRoom), words = scratch(kWordRoom);
  if (sys::failed(static_cast<long>(text)) || sys::failed(static_cast<long>(words)))
    return {Layout::kFailed, "memory", static_cast<long>(words)};
  const LayoutResult result =
      Layouter(process, reinterpret_cast<char*>(text), reinterpret_cast<uint64_t*>(words)).run();
  sys::raw(SYS_munmap, static_cast<long>(text), kTextRoom);
  sys::raw(SYS_munmap, static_cast<long>(words), kWordRoom);
  return result;
}

}  // namespace weir::loader
