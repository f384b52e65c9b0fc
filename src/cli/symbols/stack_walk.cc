// elfutils walks the stacks of threads of a process, or of a core file. Here it is told of a
// process with one thread, whose registers are those of the context that is just looked at, and
// whose memory is that context's part of the stack: call frame information reads nothing else.
//
// 1. A context of a call has the address behind the call. The instruction of the frame is then the
//    call itself: one byte less is inside it.
// 2. Who is called may have noted its own stack pointer, which points to the return address: then
//    the caller's is one word further.
// 3. glibc's clone has no call frame information where it calls the kernel, and seldom a name.
//    There its return address is the innermost word of the stack.
// 4. What is not the program's is not shown: the runtime's frames, and those of libc below a
//    thread's or the program's first function.
#include "cli/symbols/stack_walk.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weir::cli {
namespace {

constexpr size_t kMaxFrames = 128;
constexpr int kMaxNested = 64;
constexpr pid_t kOnly = 1;  // process and thread, as elfutils sees it

struct Walk {
  const KeptStack* kept = nullptr;
  uint64_t rsp = 0, pc = 0;
  std::vector<StackFrame> frames;
};

Walk* g_walk = nullptr;  // that is on its way

pid_t next_thread(Dwfl*, void*, void** state) {
  const bool is_first = *state == nullptr;
  *state = &g_walk;
  return is_first ? kOnly : 0;
}

bool get_thread(Dwfl*, pid_t tid, void*, void**) { return tid == kOnly; }

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void*) {
  uint64_t found;
  if (!g_walk || !stack_word(*g_walk->kept, address, &found)) return false;
  *word = found;
  return true;
}

bool set_registers(Dwfl_Thread* thread, void*) {
  constexpr int kNumber[] = {0, 2, 1, 3,
                             7, 6, 4, 5};  // of instructions' registers 0 to 7 in debug information
  Dwarf_Word registers[17];
  for (int i = 0; i < 16; i++) registers[i < 8 ? kNumber[i] : i] = g_walk->kept->registers[i];
  registers[7] = g_walk->rsp;
  registers[16] = g_walk->pc;
  dwfl_thread_state_register_pc(thread, g_walk->pc);
  return dwfl_thread_state_registers(thread, 0, 17, registers);
}

const Dwfl_Thread_Callbacks kThread = {next_thread,   get_thread, read_memory,
                                       set_registers, nullptr,    nullptr};

int on_frame(Dwfl_Frame* frame, void*) {
  Dwarf_Addr pc = 0;
  bool is_instruction = false;
  if (!dwfl_frame_pc(frame, &pc, &is_instruction) || pc == 0) return DWARF_CB_ABORT;
  StackFrame found{is_instruction ? pc : pc - 1, 0, 0, 0, {}, 0};
  dwfl_frame_reg(frame, 7, &found.rsp);
  dwfl_frame_reg(frame, 6, &found.rbp);
  for (unsigned i = 0; i < 16; i++) {
    if (dwfl_frame_reg(frame, i, &found.registers[i]) == 0) found.known_registers |= 1u << i;
  }
  if (!g_walk->frames.empty()) g_walk->frames.back().cfa = found.rsp;
  g_walk->frames.push_back(found);
  return g_walk->frames.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_runtime(const Frame& frame) { return base_name(frame.module).starts_with("libweir.so"); }

bool is_libc(const Frame& frame) {
  const std::string name = base_name(frame.module);
  return name.starts_with("libc.so") || name.starts_with("libc-2") ||
         name.starts_with("libpthread");
}

// An annotation's own code (include/weir/weir.h, weir.hpp), inlined or not: what is meant is who
// makes the annotation.
bool is_annotation(const Frame& frame) {
  return frame.file.ends_with("/weir/weir.h") || frame.file.ends_with("/weir/weir.hpp");
}

// Whether the instructions before `rip` are glibc's call of clone or clone3. Their names are known
// only where there is debug information of glibc: they are in no table of symbols that a program
// needs.
bool makes_task(const Modules& modules, uint64_t rip) {
  constexpr uint8_t kClone[] = {0xb8, 56, 0, 0, 0, 0x0f, 0x05},
                    kClone3[] = {0xb8, 0xb3, 1, 0, 0, 0x0f, 0x05};  // mov $number,%eax; syscall
  uint8_t code[sizeof kClone];
  return modules.code_at(rip - sizeof code, code, sizeof code) &&
         (memcmp(code, kClone, sizeof code) == 0 || memcmp(code, kClone3, sizeof code) == 0);
}

// In what lies below all of the program.
bool is_below(const Frame& frame) {
  constexpr const char* kNames[] = {"start_thread",      "__libc_start_call_main",
                                    "__libc_start_main", "clone3",
                                    "__clone3",          "clone",
                                    "__clone",           "_start",
                                    "thrd_start"};
  return std::ranges::any_of(kNames, [&](const char* name) { return frame.function == name; });
}

// Adds what is inlined there into a function, and in that.
void add_inlined(std::vector<Dwarf_Die>& functions, Dwarf_Die* scope, Dwarf_Addr pc, int depth) {
  Dwarf_Die child;
  if (depth > kMaxNested) return;
  for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
        dwarf_haspc(&child, pc) != 1)
      continue;
    if (tag == DW_TAG_inlined_subroutine) functions.push_back(child);
    return add_inlined(functions, &child, pc, depth + 1);
  }
}

// The function at that address, at most so many scopes down: elfutils looks only into scopes that
// contain the address, and the body of a lambda expression is described within the function that
// has it.
bool find_function(Dwarf_Die* scope, Dwarf_Addr pc, int most, Dwarf_Die* function) {
  Dwarf_Die child;
  if (most < 0) return false;
  for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram && dwarf_haspc(&child, pc) == 1) return *function = child, true;
    const bool has_functions = tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
                               tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
                               tag == DW_TAG_class_type || tag == DW_TAG_union_type;
    if (has_functions && find_function(&child, pc, most - 1, function)) return true;
  }
  return false;
}

// The function there and what is inlined into it, innermost first. Empty: it is not described.
std::vector<Dwarf_Die> functions_at(Unit& unit, Dwarf_Addr pc) {
  std::vector<Dwarf_Die> functions;
  Dwarf_Die function;
  if (!find_function(&unit.die, pc, 0, &function) &&
      !find_function(&unit.die, pc, kMaxNested, &function))
    return functions;
  functions.push_back(function);
  add_inlined(functions, &function, pc, 0);
  std::ranges::reverse(functions);
  return functions;
}

}  // namespace

bool stack_word(const KeptStack& kept, uint64_t address, uint64_t* word) {
  const uint64_t at = address - kept.registers[4];
  if (address < kept.registers[4] || at + sizeof *word > kept.stack.size()) return false;
  memcpy(word, kept.stack.data() + at, sizeof *word);
  return true;
}

std::vector<StackFrame> StackWalk::walk(const KeptStack& kept) {
  Walk walk;
  walk.kept = &kept;
  walk.rsp = kept.registers[4];
  walk.pc = kept.is_call ? kept.rip - 1 : kept.rip;
  uint64_t top = 0;
  if (kept.is_call && stack_word(kept, walk.rsp, &top) && top == kept.rip)
    walk.rsp += sizeof top;  // 2.
  if (modules_.dwfl() && attached_ != modules_.generation()) {
    attached_ = modules_.generation();
    dwfl_attach_state(modules_.dwfl(), nullptr, kOnly, &kThread, nullptr);
  }
  g_walk = &walk;
  if (modules_.dwfl())
    dwfl_getthread_frames(modules_.dwfl(), kOnly, on_frame,
                          nullptr);  // its error is the stack's end
  if (walk.frames.size() == 1 && stack_word(kept, walk.rsp, &top) &&
      makes_task(modules_, kept.rip)) {  // 3.
    walk.frames.clear();
    walk.rsp += sizeof top;
    walk.pc = top - 1;
    dwfl_getthread_frames(modules_.dwfl(), kOnly, on_frame, nullptr);
  }
  g_walk = nullptr;
  if (walk.frames.empty()) walk.frames.push_back({walk.pc, walk.rsp, kept.registers[5], 0, {}, 0});
  return walk.frames;
}

Frames StackWalk::at(uint64_t address) {
  Frame frame;
  frame.address = address;
  Dwfl_Module* module = modules_.at(address);
  if (!module) return {frame};
  frame.module = modules_.path_of(module);
  frame.offset = address - modules_.bias_of(module);
  GElf_Off offset;
  GElf_Sym symbol;
  const std::string by_symbol =
      demangled(dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr));
  std::optional<Unit> unit = modules_.unit_at(address);
  if (!unit) {
    frame.function = by_symbol;
    return {frame};
  }
  const Dwarf_Addr inside = address - unit->bias;
  if (Dwarf_Line* line = dwarf_getsrc_die(&unit->die, inside)) {
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    dwarf_lineno(line, &frame.line);
    dwarf_linecol(line, &frame.column);
    if (file && frame.line) frame.file = source_path(&unit->die, file);
  }
  Frames found;
  bool is_complete = false;
  for (Dwarf_Die& die : functions_at(*unit, inside)) {
    frame.function = name_of(&die);
    frame.is_inlined = dwarf_tag(&die) == DW_TAG_inlined_subroutine;
    found.push_back(frame);
    is_complete = !frame.is_inlined;
    frame.file = source_file(&unit->die, &die, DW_AT_call_file);
    frame.line = frame.file.empty() ? 0 : number_of(&die, DW_AT_call_line);
    frame.column = frame.file.empty() ? 0 : number_of(&die, DW_AT_call_column);
  }
  if (!is_complete) {
    frame.function = by_symbol;
    frame.is_inlined = false;
    found.push_back(frame);
  }
  return found;
}

Frames StackWalk::frames(const KeptStack& kept) {
  Frames all;
  const std::vector<StackFrame> stack = walk(kept);
  const bool is_creation = makes_task(modules_, kept.rip);  // who has asked for it is meant
  for (const StackFrame& physical : stack) {
    const Frames here = at(physical.address);
    if (is_below(here.back())) break;
    for (const Frame& frame : here) {
      if (!is_runtime(frame)) all.push_back(frame);
    }
    if (here.back().function == "main") break;
  }
  while (is_creation && all.size() > 1 && is_libc(all.front())) all.erase(all.begin());
  while (all.size() > 1 && (is_libc(all.back()) || all.back().module.empty())) all.pop_back();
  const auto own = std::ranges::find_if_not(all, is_annotation);
  if (own != all.end()) all.erase(all.begin(), own);
  return all;
}

}  // namespace weir::cli
