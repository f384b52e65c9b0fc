// Reading the options must work in the first malloc of the process, which ld.so may call before
// libc has set `environ`: then the kernel's own copy in /proc/self/environ is read instead. No libc
// function is called.
//
// The result is kept in constant-initialized storage. Two threads cannot race here: the first
// malloc of a process happens while ld.so is still alone.
#include "control/options.h"

#include <fcntl.h>

#include "base/bytes.h"
#include "base/coherent_features.h"
#include "sys/syscall_x86_64.h"

extern char** environ;

namespace weir {

constinit Options g_options;
constinit bool g_options_known = false;

constinit uint32_t g_left_out = 0;

namespace {

constexpr char kName[] = "WEIR_OPTIONS=";

// A piece of the option text, [start, limit).
struct Piece {
  const char* start;
  const char* limit;

  bool is(const char* word) const {
    const char* at = start;
    while (at != limit && *word != 0 && *at == *word) ++at, ++word;
    return at == limit && *word == 0;
  }
};

// Decimal; stops at the first other character; saturates.
uint64_t number(Piece text) {
  uint64_t value = 0;
  for (const char* at = text.start; at != text.limit && *at >= '0' && *at <= '9'; ++at) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return ~uint64_t{0};
    if (__builtin_add_overflow(value, uint64_t(*at - '0'), &value)) return ~uint64_t{0};
  }
  return value;
}

void copy_path(Piece text, char* out, size_t room) {
  size_t length = 0;
  for (const char* at = text.start; at != text.limit && length + 1 < room; ++at) {
    const bool quoted =
        *at == '%' && text.limit - at > 2 && at[1] == '2' && (at[2] == 'c' || at[2] == '5');
    out[length++] = !quoted ? *at : at[2] == 'c' ? ',' : '%';
    if (quoted) at += 2;
  }
  out[length] = 0;
}

void apply(Piece key, Piece value, Options* result) {
  if (key.is("order")) {
    if (value.is("token")) result->order = Order::kToken;
    if (value.is("record")) result->order = Order::kRecord;
    if (value.is("free")) result->order = Order::kFree;
    if (value.is("serial")) result->order = Order::kSerial;
  } else if (key.is("view")) {
    if (value.is("isolated")) result->view = View::kIsolated;
    if (value.is("coherent")) result->view = View::kCoherent;
    if (value.is("guarded")) result->view = View::kChecked;
    if (value.is("direct")) result->view = View::kDirect;
  } else if (key.is("stat")) {
    result->stat = number(value) != 0;
  } else if (key.is("fingerprint")) {
    result->fingerprint = number(value) != 0;
  } else if (key.is("delay")) {
    result->delay_seed = number(value);
  } else if (key.is("sparse")) {
    result->sparse_delays = number(value) != 0;
  } else if (key.is("trace")) {
    result->trace = value.start == value.limit ? -1 : static_cast<int>(number(value));
  } else if (key.is("findings")) {
    result->findings = value.start == value.limit ? -1 : static_cast<int>(number(value));
  } else if (key.is("command")) {
    result->command = static_cast<int>(number(value));
  } else if (key.is("kept")) {
    result->command_findings = static_cast<int>(number(value));
  } else if (key.is("enforcer")) {
    if (value.is("auto")) result->enforcer = Enforcer::kAuto;
    if (value.is("process")) result->enforcer = Enforcer::kProcess;
    if (value.is("mpk")) result->enforcer = Enforcer::kMpk;
  } else if (key.is("policies")) {
    if (value.is("inferred")) result->policies = Policies::kInferred;
    if (value.is("declared")) result->policies = Policies::kDeclared;
  } else if (key.is("exact")) {
    result->exact = number(value) != 0;
  } else if (key.is("linger")) {
    result->lingers = number(value) != 0;
  } else if (key.is("rehash")) {
    result->rehash_ms = static_cast<uint32_t>(number(value));
  } else if (key.is("domains")) {
    result->domains = static_cast<uint32_t>(number(value));
  } else if (key.is("without")) {
    result->left_out = static_cast<uint32_t>(number(value));
  } else if (key.is("pages")) {
    result->without_userfault = value.is("mprotect");
  } else if (key.is("virtual")) {
    result->constant = static_cast<uint32_t>(number(value));
  } else if (key.is("processes")) {
    result->constant_memory = static_cast<int>(number(value));
  } else if (key.is("schedule")) {
    result->schedule_memory = static_cast<int>(number(value));
  } else if (key.is("heap")) {
    result->guards_heap = value.is("guard");
  } else if (key.is("addresses")) {
    result->places = value.is("weir");
  } else if (key.is("seed")) {
    result->seed = number(value);
  } else if (key.is("start")) {
    result->start = number(value);
  } else if (key.is("log")) {
    copy_path(value, result->log_path, sizeof result->log_path);
  } else if (key.is("json")) {
    copy_path(value, result->json_path, sizeof result->json_path);
  } else if (key.is("cache")) {
    copy_path(value, result->cache_path, sizeof result->cache_path);
  }
}

constexpr size_t kTextRoom = 4096;

// Finds the variable in /proc/self/environ; writes its value to `out` (cut at kTextRoom). False:
// not there.
bool read_from_kernel(char* out) {
  const char* path = "/proc/self/environ";
  long fd = sys::raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (sys::failed(fd)) return false;
  char chunk[512];
  size_t matched = 0;     // characters of kName seen at the start of this variable
  bool skipping = false;  // this variable is another one
  bool copying = false;
  size_t length = 0;
  long got = 0;
  while ((got = sys::raw(SYS_read, fd, reinterpret_cast<long>(chunk), sizeof chunk)) > 0) {
    for (long i = 0; i < got; ++i) {
      char c = chunk[i];
      if (copying) {
        if (c == 0 || length + 1 == kTextRoom) goto done;
        out[length++] = c;
      } else if (c == 0) {
        matched = 0, skipping = false;
      } else if (!skipping) {
        if (c != kName[matched]) skipping = true;
        else if (++matched == sizeof kName - 1) copying = true;
      }
    }
  }
done:
  sys::raw(SYS_close, fd);
  out[length] = 0;
  zero_bytes(chunk, sizeof chunk);  // the stack is the program's memory: what differs from run to
                                    // run may not stay there
  return copying;
}

}  // namespace

Options parse_options(const char* text) {
  Options result;
  if (text == nullptr) return result;
  result.present = true;
  while (*text != 0) {
    Piece key{text, text};
    while (*key.limit != 0 && *key.limit != ',' && *key.limit != '=') ++key.limit;
    Piece value{key.limit, key.limit};
    if (*key.limit == '=') {
      value.start = value.limit = key.limit + 1;
      while (*value.limit != 0 && *value.limit != ',') ++value.limit;
    }
    apply(key, value, &result);
    text = value.limit;
    if (*text == ',') ++text;
  }
  return result;
}

void take_options(const LateOptions& late) {
  g_options.stat |= late.stat;
  g_options.fingerprint |= late.fingerprint;
  g_options.without_userfault |= late.without_userfault;
  const auto take = [](const char* path, char* to, size_t room) {
    const size_t length = string_length(path);
    if (length && length < room) copy_bytes(to, path, length + 1);
  };
  take(late.log_path, g_options.log_path, sizeof g_options.log_path);
}

const Options& read_options() {
  const char* found = nullptr;
  char text[kTextRoom];
  if (environ != nullptr) {
    for (char** at = environ; *at != nullptr && found == nullptr; ++at) {
      if (starts_with(*at, kName)) found = *at + sizeof kName - 1;
    }
  } else if (read_from_kernel(text)) {
    found = text;
  }
  g_options = parse_options(found);
  g_left_out = g_options.left_out;
  zero_bytes(text, sizeof text);
  g_options_known = true;
  return g_options;
}

}  // namespace weir
