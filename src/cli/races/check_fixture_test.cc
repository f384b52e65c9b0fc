#include "cli/races/check_fixture_test.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

// A function with it has its frame pointer. (clang knows no such attribute, and needs none where
// the frame's address is asked for.)
#ifdef __clang__
#define WEIR_KEEPS_FRAME [[gnu::noinline]]
#else
#define WEIR_KEEPS_FRAME [[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]]
#endif

namespace weir::cli {

TestItem g_table[8];
int g_matrix[3][4];
TestDerived g_derived;
TestMixed g_mixed;
std::once_flag g_once;
std::mutex g_mutex;

// Stores all registers as a function has them that calls this, and the address to which it returns.
extern "C" void weir_test_registers(uint64_t registers[17]);
asm(R"(
.text
.globl weir_test_registers
weir_test_registers:
  movq %rax, (%rdi); movq %rcx, 8(%rdi); movq %rdx, 16(%rdi); movq %rbx, 24(%rdi)
  leaq 8(%rsp), %rax; movq %rax, 32(%rdi)
  movq %rbp, 40(%rdi); movq %rsi, 48(%rdi); movq %rdi, 56(%rdi); movq %r8, 64(%rdi)
     movq %r9, 72(%rdi)
  movq %r10, 80(%rdi); movq %r11, 88(%rdi); movq %r12, 96(%rdi); movq %r13, 104(%rdi)
     movq %r14, 112(%rdi); movq %r15, 120(%rdi)
  movq (%rsp), %rax; movq %rax, 128(%rdi)
  ret
)");

namespace {

[[gnu::always_inline]] inline void fill(findings::Context* context) {
  uint64_t registers[17];
  weir_test_registers(registers);
  memcpy(context->registers, registers, sizeof context->registers);
  context->rip = registers[16];
  context->is_call = 0;
}

// The end of this thread's stack.
uint64_t stack_limit() {
  pthread_attr_t attributes;
  void* start = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) throw std::runtime_error("no stack");
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uint64_t>(start) + size;
}

// Not checked: it reads the frames of whoever has called. With a small environment there are fewer
// bytes above them than a context holds.
__attribute__((no_sanitize("address"))) void copy_stack(findings::Context* context) {
  const uint64_t start = context->registers[4], limit = stack_limit();
  const auto* from = reinterpret_cast<const volatile uint8_t*>(start);
  const size_t bytes = std::min<uint64_t>(sizeof context->stack, limit - start);
  for (size_t i = 0; i < bytes; i++) context->stack[i] = from[i];
  context->stack_bytes = static_cast<decltype(context->stack_bytes)>(bytes);
}

}  // namespace

// The context is that of the caller: this frame is left out by reading its frame pointer, which it
// has.
WEIR_KEEPS_FRAME uint32_t CheckTest::capture() {
  const uint32_t index = 1 + findings().contexts++;
  findings::Context& context = findings().context[index];
  fill(&context);
  const auto* frame = static_cast<const uint64_t*>(__builtin_frame_address(0));
  context.registers[5] = frame[0];
  context.rip = frame[1] - 1;
  context.registers[4] = reinterpret_cast<uint64_t>(frame + 2);
  copy_stack(&context);
  return index;
}

const int g_inner_line = __LINE__ + 2;
[[gnu::noinline]] uint32_t inner_place(CheckTest* from) {
  const uint32_t index = from->capture();
  asm volatile("");  // not a tail call
  return index;
}

[[gnu::noinline]] uint32_t outer_place(CheckTest* from) {
  const uint32_t index = inner_place(from);
  asm volatile("");  // not a tail call
  return index;
}

const int g_call_line = __LINE__ + 2;
[[gnu::noinline]] uint32_t CheckTest::context_of_call() {
  const uint32_t index = capture();
  asm volatile("");
  findings().context[index].rip++;
  findings().context[index].is_call = 1;
  return index;
}

CheckTest::CheckTest() : folder_(testing::TempDir() + "weir_check_XXXXXX") {
  if (!mkdtemp(folder_.data())) throw std::runtime_error("mkdtemp");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uint64_t start = 0, limit = 0, offset = 0;
    std::string rights, device, inode, path;
    char dash;
    words >> std::hex >> start >> dash >> limit >> rights >> offset >> device >> inode >> path;
    if (rights.size() < 3 || rights[2] != 'x' || !path.starts_with("/")) continue;
    findings::Module& module = findings().module[findings().modules++];
    module.start = start, module.limit = limit, module.offset = offset, module.ready = 1;
    strncpy(module.path, path.c_str(), sizeof module.path - 1);
  }
  for (uint32_t i = 0; i < 3; i++) {
    findings::TaskInfo& task = findings().task[i];
    task.ready = 1, task.tid = static_cast<int32_t>(100 + i);
    if (i == 0) continue;
    strncpy(task.name, i == 1 ? "worker" : "reader", sizeof task.name - 1);
    task.context = outer_place(this);
  }
  findings().tasks = 3;
  findings().attached = findings().multi = 1;
}

CheckTest::~CheckTest() { std::filesystem::remove_all(folder_); }

findings::Race CheckTest::race_on(const void* address) {
  static uint32_t context = 0;
  findings::Race race{};
  context = outer_place(this);
  race.why = findings::Why::kUnordered;
  for (uint32_t i = 0; i < 2; i++) {
    findings::Side& side = race.sides[i];
    side.address = reinterpret_cast<uint64_t>(address);
    side.size = 4;
    side.kind = i == 0 ? findings::kWrite : findings::kRead;
    side.task = i + 1;
    side.context = context;
  }
  return race;
}

void CheckTest::add(const findings::Race& race) {
  findings::Race& place = findings().race[findings().races++];
  place = race;
  place.ready = 1;
}

ReportedRace CheckTest::read(const findings::Race& race, bool with_debug_info) {
  return RaceReader(memory_.reader(), with_debug_info).read(race);
}

Checker CheckTest::make_checker(const std::string& format, bool verbose, bool with_debug_info,
                                Suppressions suppressions) {
  std::ofstream(folder_ + "/report"), std::ofstream(folder_ + "/log");
  CheckReport report;
  report.format = format;
  report.log = folder_ + "/log";
  report.output = format == "text" ? "" : folder_ + "/report";
  report.verbose = verbose;
  report.with_debug_info = with_debug_info;
  return Checker(memory_.reader(), std::move(suppressions), report, {"./program", "word"});
}

namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::string CheckTest::log() { return text_of(folder_ + "/log"); }
std::string CheckTest::output() { return text_of(folder_ + "/report"); }

}  // namespace weir::cli
