// Memory of the backing that is a private copy of a file: its bytes are read, and where the program
// asks for the file's once more (MADV_DONTNEED, a mapping that grows) they are read again.

#include <errno.h>
#include <sys/stat.h>

#include "memory/backing.h"
#include "memory/file_bytes.h"
#include "record/input.h"
#include "sys/descriptor.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"

namespace weir::syscalls {

namespace {

long read_bytes(uint64_t start, uint64_t size, int descriptor, uint64_t offset) {
  const uint64_t at = change_rules().seen_at(start);
  for (uint64_t done = 0; done < size;) {
    const long got = input::call(SYS_pread64, descriptor, static_cast<long>(at + done),
                                 static_cast<long>(size - done), static_cast<long>(offset + done));
    if (got == -EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<uint64_t>(got);
  }
  return 0;
}

// Natively an access to whole pages behind the file's end is SIGBUS.
void tell_of_end(const FileSource& source, int descriptor, uint64_t offset, uint64_t size) {
  struct stat status {};
  if (input::replaying() || sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0 ||
      page_up(static_cast<uint64_t>(status.st_size)) >= page_up(offset + size) ||
      !page::first_time(page::FileWord::kBeyondEnd))
    return;
  report(
      "%s is mapped privately beyond its end: an access to the pages there finds zeros under Weir, "
      "and is no SIGBUS",
      page::name_of(source));
}

}  // namespace

long read_file(uint64_t start, uint64_t size, int descriptor, uint64_t offset) {
  if (const long wrong = read_bytes(start, size, descriptor, offset)) return wrong;
  if (!input::log_value(input::What::kFlags, [=] { return sys::is_regular(descriptor); })) return 0;
  const FileSource source = input::replaying() ? FileSource{} : page::kept_source_of(descriptor);
  page::remember_file({start, start + size}, source, offset);
  tell_of_end(source, descriptor, offset, size);
  return 0;
}

void restore_files(Range range) {
  const FileSource* source;
  uint64_t offset;
  for (;;) {
    const Range part = page::file_part(range, &source, &offset);
    if (part.empty()) return;
    range.start = part.limit;
    const auto open = [=] { return page::open_source(*source); };
    const long file = input::log_value(input::What::kFlags, open);
    const auto descriptor = static_cast<int>(file);
    if (file < 0 || read_bytes(part.start, part.size(), descriptor, offset) != 0) {
      report(
          "%s is mapped privately at %x, and cannot be read once more (error %d): its bytes "
          "there are zeros now",
          page::name_of(*source), part.start, int64_t{-file});
    }
    if (file >= 0) input::call(SYS_close, file);
  }
}

}  // namespace weir::syscalls
