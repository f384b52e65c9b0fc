// What a call that changes the address space means beside what the kernel makes of it. It depends
// on what lies under the program's memory, and on how many tasks have it: decided at the start,
// when the first task is made, and in a forked child (use_change_rules() in syscall.h).
//
// The defaults are those of a program of one thread whose arena is the backing. All else is mapped
// by the kernel, as it would be natively.
// Implemented in change_rules.cc.
#pragma once

#include <sys/mman.h>

#include "base/types.h"
#include "syscall/syscall.h"

namespace weir::syscalls {

class ChangeRules {
 public:
  constexpr ChangeRules() = default;
  ChangeRules(const ChangeRules&) = delete;
  ChangeRules& operator=(const ChangeRules&) = delete;

  // Makes the call.
  virtual long make(Call& call);

  // --- mmap

  // As take_huge() and map_near_code() in calls.h and calls.cc.
  virtual long take_huge(Call&) { return 0; }
  virtual long map_near_code(Call& call, uint64_t size, int protection);
  // Such memory, at a reserved place, is a mapping of the kernel's there.
  virtual bool stays_kernels(bool /*is_private*/, bool /*anonymous*/, int /*protection*/) {
    return true;
  }
  virtual long map_shared(const Call& call, uint64_t size, int protection);
  // What is neither shared, nor anonymous at a place of Weir's choosing.
  virtual long map_private(const Call& call, uint64_t size, int protection);
  // How many files may be mapped shared within the arena.
  virtual uint32_t max_files_in_arena();
  virtual void note_shared_write(const Call&) {}

  // --- munmap, mremap

  virtual void before_unmap(Range) {}
  virtual void note_unmapped(Range) {}
  // Something else comes there.
  virtual void replace(uint64_t /*start*/, uint64_t /*size*/) {}
  // 0, or why the kernel may not move such memory.
  virtual long check_move(const Call&) { return 0; }
  // The runtime reads memory of that protection.
  virtual bool is_readable(int protection) { return protection & PROT_READ; }
  // Where it reads and writes the program's memory, and how many of `size` bytes it finds there.
  virtual uint64_t seen_at(uint64_t address) { return address; }
  virtual uint64_t seen_bytes(uint64_t /*address*/, uint64_t size) { return size; }
  // A reserved place is about to be written.
  virtual bool open_reserved(uint64_t /*start*/, uint64_t /*size*/) { return true; }

  // --- mprotect

  // It is about to be protected so, which becomes what the kernel is asked for. 0 or -errno.
  virtual long begin_protect(uint64_t /*start*/, uint64_t /*size*/, int& /*protection*/,
                             bool /*is_shared_memory*/) {
    return 0;
  }
  virtual void note_protected(uint64_t /*start*/, uint64_t /*size*/, int /*protection*/) {}
  // Whether code is noted there that the program makes.
  virtual bool holds_made_code(uint64_t /*address*/) { return true; }
  virtual void note_code(Range text);

  // --- memory that processes share

  virtual bool note_shared_memory(Range, int /*protection*/, int /*kept*/, uint64_t /*offset*/) {
    return false;
  }
  virtual long attach(const Call& call);
  virtual void note_attached(Range, int /*protection*/, long /*asked*/) {}
  virtual long detach(const Call& call);
  virtual void note_detached(Range) {}
  virtual void let_all_follow() {}
  virtual long remap_pages(const Call& call);

 protected:
  ~ChangeRules() = default;
};

ChangeRules& change_rules();

}  // namespace weir::syscalls
