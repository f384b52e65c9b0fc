// Numbers take K, M, G and T for powers of 1,024.
#include "dsm/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsm/failure.h"

namespace weir::dsm {

namespace {

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
  static constexpr const char* kProtocols[] = {"sc", "lrc", "hlrc"};
  static constexpr const char* kTapes[] = {"off", "called", "auto"};
  static constexpr const char* kSwitch[] = {"0", "1"};
  settings.protocol = static_cast<weir_dsm_protocol>(1 + word("WEIR_DSM_PROTOCOL", kProtocols, 1));
  settings.tapes = static_cast<Tapes>(word("WEIR_DSM_TAPES", kTapes, 1));
  settings.size = number("WEIR_DSM_SIZE", settings.size, 1 << 20, uint64_t{8} << 40);
  settings.address = number("WEIR_DSM_ADDRESS", settings.address, 1 << 16, uint64_t{1} << 47);
  settings.collect = number("WEIR_DSM_COLLECT", settings.collect, 1 << 16, uint64_t{1} << 46);
  settings.threads = static_cast<unsigned>(number("WEIR_DSM_THREADS", 1, 1, 1024));
  settings.tree = static_cast<unsigned>(number("WEIR_DSM_TREE", settings.tree, 1, 1024));
  settings.statistics = word("WEIR_DSM_STATS", kSwitch, 0);
  settings.check = word("WEIR_DSM_CHECK", kSwitch, 0);
  settings.waits = word("WEIR_DSM_WAITS", kSwitch, 0);
  return settings;
}

std::string Settings::common() const {
  return "protocol " + std::to_string(protocol) + ", tapes " + std::to_string(static_cast<int>(tapes)) + ", size " + std::to_string(size) + ", address " +
         std::to_string(address) + ", threads " + std::to_string(threads) + ", tree " + std::to_string(tree) + ", check " + std::to_string(check);
}

}  // namespace weir::dsm
