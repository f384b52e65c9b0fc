#include "runtime/text.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/options.h"
#include "count/count.h"
#include "count/text.h"
#include "event/input.h"
#include "page/store.h"
#include "patch/vdso.h"
#include "runtime/state.h"
#include "sys/libc.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "task/shared.h"
#include "view/view.h"

namespace weir::runtime {

namespace {

Range g_libc;

}  // namespace

Range libc_text() { return g_libc; }

void patch_all(PatchKinds kinds) {
  const view::PeekScope peeks(self());  // where a plan of patches is kept, less is looked at
  count::forget_all_text();
  char* maps;
  long length = sys::read_maps(&maps);
  if (length == -EMFILE) {
    page::LimitLifted descriptors(RLIMIT_NOFILE);
    length = sys::read_maps(&maps);
  }
  if (length < 0) {  // unpatched the program would run on as if there were no Weir
    report("cannot read /proc/self/maps (error %d)%s", int64_t{-length}, page::of_descriptors(length));
    die(125);
  }
  // An object is what lies between its mapping at file offset 0 and the last one of that name: the tables that say where its
  // functions and jumps lead are behind the text. Its data may be the store's by now.
  sys::MapLine line;
  static struct { Range text; Range object; bool writable; } found[512];
  size_t count = 0, first = 0;  // the first text of the object at hand
  Range object{};
  const char* name = "";
  for (char* cursor = maps; (cursor = sys::next_map_line(cursor, &line));) {
    if (equal_strings(line.name, "[vdso]") && !ask_kernel_instead(line.range, !input::is_on()) && input::is_on()) {
      report("cannot change the kernel's vDSO: what it tells the program about time would not be recorded");
      die(125);
    }
    if (line.executable && equal_strings(line.name, "[stack]")) shared().has_made_code = 1;
    if (line.name[0] != '/') continue;
    const bool is_data = line.readable && line.range.start == object.limit && starts_with(line.name, "/memfd:weir-store");
    if (line.offset == 0 && !is_data && !equal_strings(name, line.name)) {
      object = line.range;
      name = line.name;
      first = count;
    }
    if (!is_data && !equal_strings(name, line.name)) continue;
    object.limit = line.range.limit;
    if (line.executable && line.range.contains(libc::code())) g_libc = line.range;
    if (line.executable && !line.writable && line.range.overlaps(page::own_image())) count::note_text(line.range);
    if (!is_data && line.executable && !line.shared && !line.range.overlaps(page::own_image()) &&
        count < sizeof found / sizeof found[0]) {
      found[count].writable = line.writable;
      found[count++].text = line.range;
    }
    for (size_t i = first; i < count; i++) found[i].object = object;
  }
  for (size_t i = 0; i < count; i++) {
    PatchStats stats;
    const char* folder = options().cache_path[0] && !found[i].writable ? options().cache_path : nullptr;
    long result = patch_text(found[i].text, found[i].object, kinds, &stats, folder);
    if (result != 0) report("cannot patch the text at %x (error %d)", found[i].text.start, int64_t{-result});
    if (result == 0 && !found[i].writable) count::note_text(found[i].text);
  }
}

PatchKinds first_patch_kinds() {
  if (input::is_on()) return kPatchSyscall | kPatchRdtsc | kPatchCpuid | kPatchRandom;
  return options().order == Order::kToken ? kPatchSyscall | kPatchCpuid : kPatchSyscall;
}

void patch_new_text(Range) {
  patch_all(g_tasks_active && orders_atomics() ? first_patch_kinds() | kPatchAtomic : first_patch_kinds());
  if (!g_tasks_active) count::on_patched_text();
}

}  // namespace weir::runtime
