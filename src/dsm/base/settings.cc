// Numbers take K, M, G and T for powers of 1,024. A variable that begins as these do and is none of
// them ends the job: a misspelt one would be without effect, and nobody would know.
#include "dsm/base/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "dsm/base/failure.h"

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
  if (errno || end == text || *end || value < least || value > most)
    fail("%s=%s: a number from %lu to %lu is wanted", name, text, least, most);
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

// Empty for 0, as for nothing.
std::string destination(const char* name) {
  const char* text = getenv(name);
  return text && strcmp(text, "0") ? text : "";
}

// All that there are, here and in dsm/net: what follows WEIR_DSM_.
constexpr std::string_view kVariables[] = {
    "PROTOCOL",    "TAPES",     "SIZE",    "ADDRESS",  "COLLECT",         "THREADS",
    "TREE",        "STATS",     "SHARING", "WAITS",    "RECORD",          "CHECK",
    "TIMEOUT",     "INTERFACE", "MPI",     "TIMELINE", "TIMELINE_EVENTS", "SPIN",
    "SERVER_SPIN", "CHANNELS"};

// Letters to insert, to take away or to change, and neighbours to exchange (Levenshtein, Damerau).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> from(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); i++) {
    for (size_t j = 0; j <= b.size(); j++) {
      if (i == 0 || j == 0) {
        from[i][j] = i + j;
        continue;
      }
      from[i][j] = std::min(
          {from[i - 1][j] + 1, from[i][j - 1] + 1, from[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        from[i][j] = std::min(from[i][j], from[i - 2][j - 2] + 1);
    }
  }
  return from[a.size()][b.size()];
}

void refuse_unknown_variables() {
  constexpr std::string_view kPrefix = "WEIR_DSM_";
  for (char** variable = environ; variable && *variable; variable++) {
    std::string_view name = *variable;
    if (!name.starts_with(kPrefix)) continue;
    name = name.substr(kPrefix.size(), name.find('=') - kPrefix.size());
    if (std::ranges::find(kVariables, name) != std::end(kVariables)) continue;
    const auto nearest = std::ranges::min_element(
        kVariables, {}, [&](std::string_view known) { return distance(name, known); });
    const std::string its(name.substr(0, 60)), advice(*nearest);
    if (distance(name, *nearest) * 2 <= std::max<size_t>(nearest->size(), 4))
      fail("there is no setting WEIR_DSM_%s; WEIR_DSM_%s is one", its.c_str(), advice.c_str());
    fail("there is no setting WEIR_DSM_%s; docs/guide/dsm-settings.md lists them", its.c_str());
  }
}

}  // namespace

Settings Settings::from_environment() {
  refuse_unknown_variables();
  Settings settings;
  settings.protocol = static_cast<weir_dsm_protocol>(1 + word("WEIR_DSM_PROTOCOL", kProtocols, 1));
  settings.tapes = static_cast<Tapes>(word("WEIR_DSM_TAPES", kTapes, 1));
  settings.size = number("WEIR_DSM_SIZE", settings.size, 1 << 20, uint64_t{8} << 40);
  settings.address = number("WEIR_DSM_ADDRESS", settings.address, 1 << 16, uint64_t{1} << 47);
  settings.collect = number("WEIR_DSM_COLLECT", settings.collect, 1 << 16, uint64_t{1} << 46);
  settings.threads = static_cast<unsigned>(number("WEIR_DSM_THREADS", 1, 1, 1024));
  settings.tree = static_cast<unsigned>(number("WEIR_DSM_TREE", settings.tree, 1, 1024));
  settings.statistics_to = destination("WEIR_DSM_STATS");
  settings.statistics = !settings.statistics_to.empty();
  settings.sharing = destination("WEIR_DSM_SHARING");
  settings.timeline = destination("WEIR_DSM_TIMELINE");
  if (settings.timeline == "1") fail("WEIR_DSM_TIMELINE=1: the name of a file is wanted");
  settings.timeline_events =
      number("WEIR_DSM_TIMELINE_EVENTS", settings.timeline_events, 1 << 10, uint64_t{1} << 32);
  settings.waits = static_cast<unsigned>(number("WEIR_DSM_WAITS", 0, 0, 1'000'000));
  if (const char* directory = getenv("WEIR_DSM_RECORD")) settings.record = directory;
  if (!settings.record.empty() && settings.protocol == WEIR_DSM_SC)
    fail(
        "WEIR_DSM_RECORD with WEIR_DSM_PROTOCOL=sc: what that tells depends on chance; record "
        "under lrc, and predict sc from it");
  settings.check = number("WEIR_DSM_CHECK", 0, 0, 1);
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
      "WEIR_DSM_CHECK=" + std::to_string(check),
      std::string("WEIR_DSM_TIMELINE ") + (timeline.empty() ? "unset" : "set"),
      std::string("WEIR_DSM_SHARING ") + (sharing.empty() ? "unset" : "set"),
      std::string("WEIR_DSM_RECORD ") + (record.empty() ? "unset" : "set"),
  };
  return all;
}

}  // namespace weir::dsm
