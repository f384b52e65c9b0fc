// Numbers take K, M, G and T for powers of 1,024.
#include "dsm/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsm/failure.h"

namespace weir::dsm {

namespace {

constexpr const char* kProtocols[] = {"sc", "lrc", "hlrc"};
constexpr const char* kTapes[] = {"off", "called", "auto"};

uint64_t number(const char* name, uint64_t otherwise, uint64_t least, uint64_t most) {
  const char* text = getenv(name);
  if (!text) return otherwise;
  char* end;
  errno = 0;
  uint64_t value = strtoull(text, &end, 0);
  const char* const units = "KMGT";
  if (const char* unit = *end ? strchr(units, *end & ~0x20) : nullptr) {
    value <<= 10 * (unit - units + 1);
    end++;
  }
  if (errno || end == text || *end || value < least || value > most) fail("%s=%s: a number from %lu to %lu is wanted", name, text, least, most);
  return value;
}

template <size_t kCount>
unsigned word(const char* name, const char* const (&words)[kCount], unsigned otherwise) {
  const char* text = getenv(name);
  if (!text) return otherwise;
  std::string all;
  for (unsigned i = 0; i < kCount; i++) {
    if (!strcmp(text, words[i])) return i;
    all += std::string(i ? ", " : "") + words[i];
  }
  fail("%s=%s: one of %s is wanted", name, text, all.c_str());
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  static constexpr const char* kSwitch[] = {"0", "1"};
  settings.protocol = static_cast<weir_dsm_protocol>(1 + word("WEIR_DSM_PROTOCOL", kProtocols, 1));
  settings.tapes = static_cast<Tapes>(word("WEIR_DSM_TAPES", kTapes, 1));
  settings.size = number("WEIR_DSM_SIZE", settings.size, 1 << 20, uint64_t{8} << 40);
  settings.address = number("WEIR_DSM_ADDRESS", settings.address, 1 << 16, uint64_t{1} << 47);
  settings.collect = number("WEIR_DSM_COLLECT", settings.collect, 1 << 16, uint64_t{1} << 46);
  settings.threads = static_cast<unsigned>(number("WEIR_DSM_THREADS", 1, 1, 1024));
  settings.tree = static_cast<unsigned>(number("WEIR_DSM_TREE", settings.tree, 1, 1024));
  settings.statistics = word("WEIR_DSM_STATS", kSwitch, 0);
  settings.waits = word("WEIR_DSM_WAITS", kSwitch, 0);
  return settings;
}

std::vector<std::string> Settings::common() const {
  const auto all = {
      std::string("WEIR_DSM_PROTOCOL=") + kProtocols[protocol - 1],
      std::string("WEIR_DSM_TAPES=") + kTapes[static_cast<int>(tapes)],
      "WEIR_DSM_SIZE=" + std::to_string(size),
      "WEIR_DSM_ADDRESS=" + std::to_string(address),
      "WEIR_DSM_COLLECT=" + std::to_string(collect),
      "WEIR_DSM_THREADS=" + std::to_string(threads),
      "WEIR_DSM_TREE=" + std::to_string(tree),
      "WEIR_DSM_STATS=" + std::to_string(statistics),
  };
  return all;
}

}  // namespace weir::dsm
