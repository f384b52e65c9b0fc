#include "region/pool.h"

#include <string.h>
#include <sys/mman.h>

#include "sys/syscall_x86_64.h"

namespace weir::region {

namespace {

constexpr size_t kChunk = 1u << 20, kPage = 4096;

unsigned class_of(size_t size) {
  if (size <= (size_t{1} << Pool::kSmallest)) return Pool::kSmallest;
  return 64u - static_cast<unsigned>(__builtin_clzl(size - 1));
}

void* map(size_t size) {
  const long at = sys::raw(SYS_mmap, 0, static_cast<long>(size), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at < 0 ? nullptr : reinterpret_cast<void*>(at);
}

}  // namespace

void* Pool::take(size_t size) {
  const unsigned kind = class_of(size);
  if (kind >= kClasses) return nullptr;
  const size_t whole = size_t{1} << kind;
  if (Free* block = free_[kind]) {
    free_[kind] = block->next;
    memset(static_cast<void*>(block), 0, whole > kChunk / 4 ? sizeof *block : whole);
    return block;
  }
  if (whole > kChunk / 4) return map(whole);
  if (chunk_)
    chunk_ += -reinterpret_cast<uintptr_t>(chunk_) & (whole < kPage ? whole - 1 : kPage - 1);
  if (!chunk_ || chunk_ > chunk_end_ || static_cast<size_t>(chunk_end_ - chunk_) < whole) {
    chunk_ = static_cast<char*>(map(kChunk));
    if (!chunk_) return nullptr;
    chunk_end_ = chunk_ + kChunk;
  }
  char* block = chunk_;
  chunk_ += whole;
  return block;
}

void Pool::give(void* block, size_t size) {
  if (!block) return;
  Free* freed = static_cast<Free*>(block);
  const unsigned kind = class_of(size);
  const size_t whole = size_t{1} << kind;
  if (whole > kChunk / 4 &&
      sys::raw(SYS_madvise, reinterpret_cast<long>(block), static_cast<long>(whole), MADV_DONTNEED))
    memset(block, 0, size);  // locked memory (mlockall) stays
  freed->next = free_[kind];
  free_[kind] = freed;
}

}  // namespace weir::region
