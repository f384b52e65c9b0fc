#include "code/program/text_patches.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/bytes.h"
#include "code/find/static_image.h"
#include "code/find/text_map.h"
#include "code/patch/doubt.h"
#include "code/patch/vdso.h"
#include "code/translate/counted.h"
#include "code/translate/program_text.h"
#include "code/translate/step.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "control/record_mode.h"
#include "heap/guard/call_stack.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "sys/libc.h"
#include "sys/loaded_files.h"
#include "sys/maps.h"
#include "sys/page_map.h"
#include "sys/report.h"
#include "view/view.h"

namespace weir::runtime {

namespace {

Range g_libc, g_libc_threads;

// Mappings of an object's file, as far as they are in its place.
struct Pieces {
  static constexpr size_t kMax = 64;
  struct {
    Range range;
    uint64_t offset;
  } piece[kMax];
  size_t count;
};

// A loader in another thread has reserved the object's addresses by one mapping of the file, and
// has yet to put segments there: what lies there belongs elsewhere, or is behind the file's end.
bool is_being_loaded(Range object, const Pieces& pieces) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(object.start);
  if (!pieces.count || pieces.piece[0].range.start != object.start ||
      __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  const uint64_t limit = object.start + kPageSize;
  uint64_t bias = 0;
  bool found = false;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    const uint64_t at = object.start + header->e_phoff + i * sizeof(Elf64_Phdr);
    if (at < object.start || at + sizeof(Elf64_Phdr) > limit) break;
    const auto& segment = *reinterpret_cast<const Elf64_Phdr*>(at);
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    if (!found) bias = object.start - page_down(segment.p_vaddr);
    found = true;
    const uint64_t start = bias + page_down(segment.p_vaddr);
    for (size_t j = 0; j < pieces.count; j++) {
      const auto& piece = pieces.piece[j];
      if (piece.range.contains(start) &&
          piece.offset + (start - piece.range.start) != page_down(segment.p_offset))
        return true;
    }
  }
  return false;
}

// Texts that have their patches, of these kinds.
struct Patched {
  Range text;
  PatchKinds kinds;
};
constexpr unsigned kMaxTexts = 4096;
constexpr unsigned kMaxPatched = kMaxTexts;
constinit Patched g_patched[kMaxPatched] = {};
unsigned g_patched_count = 0;

Patched* patched_at(Range text) {
  for (unsigned i = 0; i < g_patched_count; i++) {
    if (g_patched[i].text.start == text.start && g_patched[i].text.limit == text.limit)
      return &g_patched[i];
  }
  return nullptr;
}

bool is_patched(Range text, PatchKinds kinds) {
  const Patched* known = patched_at(text);
  return known && (known->kinds & kinds) == kinds;
}

// A library of the C compiler's: what tasks do in it for themselves parts none of them
// (code/translate/step.h).
bool is_of_system(const char* name) {
  static const char* const kNames[] = {"/libc.so.",   "/libc-",      "/ld-linux",  "/libpthread",
                                       "/libdl.so.",  "/libdl-",     "/librt.so.", "/librt-",
                                       "/libm.so.",   "/libm-",      "/libgcc_s.", "/libgomp.so.",
                                       "/libresolv.", "/libmvec.so."};
  for (const char* part : kNames)
    if (contains_text(name, part)) return true;
  return false;
}

// Whether a page of it may be a copy, and so other than the file's.
bool has_copies(Range text) {
  constexpr uint64_t kEntries = 512;
  uint64_t entries[kEntries];
  const long file = sys::open_own("/proc/self/pagemap");
  if (sys::failed(file)) return true;
  bool found = false;
  for (uint64_t at = text.start; at < text.limit && !found; at += kEntries * kPageSize) {
    const uint64_t pages = (page_up(text.limit) - at) / kPageSize;
    const uint64_t size = (pages < kEntries ? pages : kEntries) * sizeof entries[0];
    const long got =
        sys::raw(SYS_pread64, file, reinterpret_cast<long>(entries), static_cast<long>(size),
                 static_cast<long>(at / kPageSize * sizeof entries[0]));
    found = got != static_cast<long>(size);
    for (uint64_t i = 0; i < size / sizeof entries[0] && !found; i++)
      found = sys::page_map::is_copy(entries[i]);
  }
  sys::raw(SYS_close, file);
  return found;
}

// The file that the text's first line names, if there it is still.
TextFile file_at(const sys::MapLine& line) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct stat status {};
  if (sys::raw(SYS_stat, reinterpret_cast<long>(line.name), reinterpret_cast<long>(&status)) != 0 ||
      status.st_ino != line.inode ||
      (uint64_t{major(status.st_dev)} << 32 | minor(status.st_dev)) != line.device)
    return {};
  return {status.st_dev,
          status.st_ino,
          static_cast<uint64_t>(status.st_size),
          line.offset,
          status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec};
}

void note_patched(Range text, PatchKinds kinds) {
  if (Patched* known = patched_at(text)) known->kinds = known->kinds | kinds;
  else if (g_patched_count < kMaxPatched) g_patched[g_patched_count++] = {text, kinds};
}

// The program itself, if nothing in memory says where its functions lie: what its file says. If
// the file cannot be read, only what is called from its entry is found.
void learn_program(Range object) {
  ElfObject image;
  if (static_image::is_learned() || !object.contains(getauxval(AT_PHDR)) || !image.open(object) ||
      image.unwind_ranges(nullptr, 0) > 0)
    return;
  const long file = sys::open_own("/proc/self/exe");
  if (sys::failed(file)) return;
  struct stat status {};
  sys::raw(SYS_fstat, file, reinterpret_cast<long>(&status));
  const auto size = static_cast<uint64_t>(status.st_size);
  const long at = sys::raw(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  sys::raw(SYS_close, file);
  if (sys::failed(at)) return;
  const auto start = static_cast<uint64_t>(at);
  if (!static_image::learn(object, {start, start + size}, image.bias()))
    report("no memory for what the program's file says of it");
  sys::raw(SYS_munmap, at, status.st_size);
}

}  // namespace

Range libc_text() { return g_libc; }

bool is_libc_text(uint64_t address) {
  return g_libc.contains(address) || g_libc_threads.contains(address);
}

bool has_patches(Range range) {
  for (unsigned i = 0; i < g_patched_count; i++) {
    if (g_patched[i].text.overlaps(range)) return true;
  }
  return false;
}

void doubt_patches(Range range) {
  for (unsigned i = g_patched_count; i-- > 0;) {
    if (g_patched[i].text.overlaps(range)) g_patched[i] = g_patched[--g_patched_count];
  }
}

void forget_text(Range text) {
  forget_sites(text);
  guard::forget_texts();
  doubt_patches(text);
}

void note_library(Range text) {
  forget_text(text);
  shared().memory.text_pending = 1;
}

void patch_all(PatchKinds kinds) {
  const view::PeekScope peeks(self());  // where a plan of patches is kept, less is looked at
  translate::forget_all_text();
  translate::forget_quiet_text();
  guard::forget_texts();
  set_fetch_memory(weir_safe_copy);
  doubt::open_all();
  char* maps;
  long length = sys::read_maps(&maps);
  if (length == -EMFILE) {
    page::LimitLifted descriptors(RLIMIT_NOFILE);
    length = sys::read_maps(&maps);
  }
  if (length < 0) {  // unpatched the program would run on as if there were no Weir
    report("cannot read /proc/self/maps (error %d)%s", int64_t{-length},
           page::of_descriptors(length));
    die(125);
  }
  // An object is what lies between its mapping at file offset 0 and the last one of that name: the
  // tables that say where its functions and jumps lead are behind the text. Its data may be the
  // backing's by now.
  sys::MapLine line;
  static struct {
    Range text;
    Range object;
    sys::MapLine first;
    bool writable;
  } found[kMaxTexts];
  static Pieces pieces;
  pieces.count = 0;
  size_t count = 0, first = 0;  // the first text of the object at hand
  Range object{};
  uint64_t file_limit = 0;  // where the last text ends in its file
  const char* name = "";
  const auto read = [](void* to, uint64_t from, uint64_t size) {
    return trap::from_program(to, static_cast<long>(from), size) == 0;
  };
  sys::LoadedNames names(plan().is_serial() ? sys::first_loaded_file(read) : 0, read);
  bool is_gone = false;  // another task has unmapped it, and this process has yet to repeat that
  // Where it is being loaded, its texts wait for that loader's own call.
  const auto finish = [&] {
    const bool waits = !is_gone && first != count && is_being_loaded(object, pieces);
    if (waits) shared().memory.text_pending = 1;
    if (waits || is_gone) count = first;
  };
  for (char* cursor = maps; (cursor = sys::next_map_line(cursor, &line));) {
    const bool needs_all = input::is_on() || constant::has_time();
    if (equal_strings(line.name, "[vdso]") && !ask_kernel_instead(line.range, !needs_all) &&
        needs_all) {
      report("cannot change the kernel's vDSO: what it tells about time would not be %s",
             input::is_on() ? "recorded" : "constant");
      die(125);
    }
    // Who looks for a place comes back by it, and who is counted: untranslated, the way back from
    // clock_gettime() would lead out of the counted code until the next event.
    if ((input::is_on() || plan().is_serial()) && equal_strings(line.name, "[vdso]"))
      translate::note_text(line.range);
    if (line.executable && equal_strings(line.name, "[stack]")) shared().memory.has_made_code = 1;
    if (line.name[0] != '/') continue;
    const char* const loaded_as = names.of(line);
    const bool is_data = line.readable && line.range.start == object.limit &&
                         starts_with(line.name, "/memfd:weir-store");
    if (line.offset == 0 && !is_data && !equal_strings(name, line.name)) {
      finish();
      pieces.count = 0;
      is_gone = false;
      object = line.range;
      name = line.name;
      first = count;
    }
    if (!is_data && !equal_strings(name, line.name)) continue;
    object.limit = line.range.limit;
    is_gone = is_gone || (is_data && page::backing_bytes_at(line.range.start) == 0);
    if (!is_data && line.readable && pieces.count < Pieces::kMax)
      pieces.piece[pieces.count++] = {line.range, line.offset};
    if (line.executable && line.range.contains(libc::code())) g_libc = line.range;
    if (line.executable && line.range.contains(libc::threads_code())) g_libc_threads = line.range;
    if (line.executable && !line.writable && line.range.overlaps(page::own_image()))
      translate::note_text(line.range);
    if (line.executable && plan().is_serial() && is_of_system(loaded_as))
      translate::note_quiet_text(line.range);
    if (!is_data && line.executable && !line.shared && !line.range.overlaps(page::own_image())) {
      // The kernel shows a text that was changed here and there in pieces. A plan is for the whole.
      const bool goes_on = count > first && found[count - 1].text.limit == line.range.start &&
                           found[count - 1].writable == line.writable && line.offset == file_limit;
      if (goes_on) {
        found[count - 1].text.limit = line.range.limit;
      } else {
        if (count == kMaxTexts) {  // unpatched, the rest would run as if there were no Weir
          report("the program has code in more than %u places of files", uint64_t{kMaxTexts});
          die(125);
        }
        found[count].writable = line.writable;
        found[count].first = line;
        found[count++].text = line.range;
      }
      file_limit = line.offset + line.range.size();
    }
    for (size_t i = first; i < count; i++) found[i].object = object;
  }
  finish();
  static Range patched[sizeof found / sizeof found[0]];
  uint32_t patched_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (is_patched(found[i].text, kinds)) patched[patched_count++] = found[i].text;
  }
  doubt::keep_only(patched, patched_count);
  for (size_t i = 0; i < count; i++) {
    const char* folder =
        options().cache_path[0] && !found[i].writable ? options().cache_path : nullptr;
    long result = 0;
    if (!is_patched(found[i].text, kinds)) {
      learn_program(found[i].object);
      TextFile file{};
      if (folder && !patched_at(found[i].text) && !has_copies(found[i].text))
        file = file_at(found[i].first);
      result = patch_text(found[i].text, found[i].object, kinds, nullptr, folder, file);
      if (result == 0) note_patched(found[i].text, kinds);
    }
    if (result != 0)
      report("cannot patch the text at %x (error %d)", found[i].text.start, int64_t{-result});
    if (result == 0 && !found[i].writable) translate::note_text(found[i].text);
  }
  if (plan().is_isolated() && (kinds & kPatchAtomic)) doubt::close_all();
}

PatchKinds first_patch_kinds() {
  if (input::is_on()) return kPatchSyscall | kPatchRdtsc | kPatchCpuid | kPatchRandom | kPatchBase;
  PatchKinds kinds = kPatchSyscall | kPatchBase;
  if (plan().is_deterministic()) kinds = kinds | kPatchCpuid;
  if (constant::has_time()) kinds = kinds | kPatchRdtsc;
  if (constant::has_random()) kinds = kinds | kPatchRandom;
  return kinds;
}

PatchKinds later_patch_kinds() {
  if (!plan().orders_atomics()) return PatchKinds{};
  const bool is_in_order = plan().scheduler == Plan::Scheduler::kNumbered;
  return is_in_order ? kPatchAtomic | kPatchRdtsc : kPatchAtomic;
}

void patch_new_text() {
  patch_all(g_tasks_active ? first_patch_kinds() | later_patch_kinds() : first_patch_kinds());
  if (!g_tasks_active || plan().is_serial()) translate::on_patched_text();
}

}  // namespace weir::runtime
