#include "code/patch/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "code/find/byte_scan.h"
#include "code/find/text_map.h"
#include "memory/backing.h"
#include "sys/folder.h"
#include "sys/syscall_x86_64.h"

// A plan takes milliseconds to make (libc has 1.4 MB of text) and is the same for every run, so
// plans are kept, a file for each text in a folder of the user's.
//
// Whoever can write such a file says which instructions are replaced, so a file is believed only if
// 1. it is a regular file of this user's that nobody else can write to, no link,
// 2. its digest is right: it is whole,
// 3. it was made by this very build of the runtime, for an object with this build id, or if it has
//    none for a text with this digest, and this text in it,
// 4. the text is, as a whole, as it was then: its digest says so, or it is the file's, and the file
//    is the one whose text had that digest,
// 5. every window that is going to be replaced holds the bytes that it held then (Patcher looks at
//    that).
// Else the text is swept as if there were none, and the file is written anew.
//
// Written under another name and renamed, so a reader sees a whole file or none, and of two writers
// the last one wins. Nothing that goes wrong here is an error: it costs time.

namespace weir {
namespace {

constexpr char kMagic[8] = {'w', 'e', 'i', 'r', 's', 'i', 't', '3'};
constexpr uint64_t kShortText = 64 << 10;
constexpr uint64_t kLongestFile = 128 << 20;  // of an object with 2.8 million sites

uint64_t digest_of(const PlanHeader& header, uint64_t file_size) {
  const auto* from = reinterpret_cast<const uint8_t*>(&header.text);
  return digest_text(
      from, file_size - static_cast<uint64_t>(from - reinterpret_cast<const uint8_t*>(&header)));
}

bool same_text(const TextIdentity& a, const TextIdentity& b) {
  return __builtin_memcmp(&a, &b, sizeof a) == 0;
}

// Per process: digests of texts as they were before anything in them was replaced.
class Digests {
 public:
  // 0: the text has changed, and is not known.
  uint64_t of(Range text, bool is_changed) {
    uint32_t at = 0;
    while (at < kMax && (texts_[at].start != text.start || texts_[at].limit != text.limit)) at++;
    if (is_changed) return at < kMax ? digests_[at] : 0;
    if (at == kMax) at = next_++ % kMax;
    texts_[at] = text;
    return digests_[at] = digest_text(reinterpret_cast<const uint8_t*>(text.start), text.size());
  }

 private:
  static constexpr uint32_t kMax = 256;
  Range texts_[kMax];
  uint64_t digests_[kMax];
  uint32_t next_;
};
Digests g_digests;

// The name of a plan's file.
class Name {
 public:
  Name(const char* folder, const TextIdentity& identity) {
    put(folder);
    put("/");
    for (uint32_t i = 0; i < identity.id_size; i++) put_hex(identity.id[i], 2);
    put("-");
    put_hex(identity.text_offset, 8);
    put("-");
    put_hex(identity.runtime,
            8);  // two builds of Weir that are used in turn would write it anew each time
  }
  // ... while it is being written.
  void make_temporary() {
    put(".");
    put_hex(static_cast<uint64_t>(sys::raw(SYS_getpid)), 8);
    put(".new");
  }
  long text() const { return reinterpret_cast<long>(text_); }

 private:
  void put(const char* word) {
    while (*word && length_ + 1 < sizeof text_) text_[length_++] = *word++;
    text_[length_] = 0;
  }
  void put_hex(uint64_t value, unsigned digits) {
    while (digits-- > 0) {
      const char digit[2] = {"0123456789abcdef"[value >> (4 * digits) & 15], 0};
      put(digit);
    }
  }

  char text_[640] = {};
  size_t length_ = 0;
};

bool is_ours(long file, uint64_t& size) {
  struct stat status;
  if (sys::failed(sys::raw(SYS_fstat, file, reinterpret_cast<long>(&status)))) return false;
  size = static_cast<uint64_t>(status.st_size);
  return S_ISREG(status.st_mode) && status.st_uid == static_cast<uint32_t>(sys::raw(SYS_geteuid)) &&
         (status.st_mode & 022) == 0 && size >= sizeof(PlanHeader) && size <= kLongestFile;
}

bool read_plan(long file, const TextIdentity& identity, Plan& plan) {
  uint64_t size;
  if (!is_ours(file, size)) return false;
  const uint64_t room = (size - sizeof(PlanHeader)) / sizeof(PlannedSite);
  if (!plan.take(room)) return false;
  PlanHeader& header = plan.header();
  if (sys::raw(SYS_read, file, reinterpret_cast<long>(&header), static_cast<long>(size)) !=
      static_cast<long>(size))
    return false;
  return __builtin_memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
         same_text(header.text, identity) && header.count == room &&
         header.digest == digest_of(header, size);
}

// By the names that Name makes: in a folder that the user names there may be others.
bool is_plan(const char* name) {
  uint32_t dashes = 0;
  for (; *name && *name != '.'; name++) {
    if (*name == '-') dashes++;
    else if ((*name < '0' || *name > '9') && (*name < 'a' || *name > 'f')) return false;
  }
  return dashes == 2 && (!*name || ends_with(name, ".new"));
}

// Plans of libraries and builds of Weir that are no longer there would stay for ever. Where times
// of reading are not kept, one that is in use goes too, and the next run makes it again.
void remove_unused(const char* folder) {
  constexpr int64_t kKept = int64_t{30} * 24 * 3600;  // seconds
  const long opened =
      sys::raw(SYS_open, reinterpret_cast<long>(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (sys::failed(opened)) return;
  timespec now{};
  sys::raw(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<long>(&now));
  sys::each_entry(opened, [&](const char* name) {
    struct stat status;
    const long text = reinterpret_cast<long>(name);
    if (!is_plan(name) ||
        sys::failed(sys::raw(SYS_newfstatat, opened, text, reinterpret_cast<long>(&status),
                             AT_SYMLINK_NOFOLLOW)))
      return true;
    const int64_t before = now.tv_sec - kKept;
    if (S_ISREG(status.st_mode) && status.st_mtim.tv_sec < before && status.st_atim.tv_sec < before)
      sys::raw(SYS_unlinkat, opened, text, 0);
    return true;
  });
  sys::raw(SYS_close, opened);
}

}  // namespace

uint64_t digest_bytes(const uint8_t* bytes, uint64_t size) {
  uint64_t digest = 0x9E3779B97F4A7C15 ^ size;
  for (; size >= 8; bytes += 8, size -= 8) {
    digest = (digest ^ load_at<uint64_t>(bytes)) * 0xBF58476D1CE4E5B9;
    digest ^= digest >> 29;
  }
  for (; size > 0; bytes++, size--) digest = (digest ^ *bytes) * 0x94D049BB133111EB;
  return digest ^ digest >> 31;
}

uint64_t digest_text(const uint8_t* bytes, uint64_t size) {
  constexpr uint64_t kLanes = 4, kStep = kLanes * 8;
  uint64_t lane[kLanes] = {1, 2, 3, 4};
  uint64_t at = 0;
  for (; at + kStep <= size; at += kStep) {
    for (uint64_t i = 0; i < kLanes; i++) {
      const uint64_t mixed = (lane[i] ^ load_at<uint64_t>(bytes + at + 8 * i)) * 0xBF58476D1CE4E5B9;
      lane[i] = mixed ^ mixed >> 32;
    }
  }
  const uint64_t rest = digest_bytes(bytes + at, size - at);
  return digest_bytes(reinterpret_cast<const uint8_t*>(lane), sizeof lane) ^ mix(rest);
}

bool Plan::take(uint64_t capacity) {
  const uint64_t size = sizeof(PlanHeader) + capacity * sizeof(PlannedSite);
  if (!memory_.take(size)) return false;
  memory_.expect(size);
  return true;
}

bool identify_text(Range text, Range object, bool is_changed, TextIdentity& identity) {
  identity = TextIdentity{};
  if (text.size() < kShortText || text.start < object.start) return false;
  ElfObject image, own;
  if (!image.open(object)) return false;
  identity.id_size = image.build_id(identity.id, sizeof identity.id);
  if (identity.id_size == 0) {  // as of many libraries in Python's wheels
    const uint64_t digest = g_digests.of(text, is_changed);
    constexpr char kByText[] = "text";
    copy_bytes(identity.id, kByText, 4);
    copy_bytes(identity.id + 4, &digest, sizeof digest);
    identity.id_size = digest != 0 ? 4 + sizeof digest : 0;
  }
  uint8_t own_id[sizeof identity.id] = {};
  const uint32_t own_size = own.open(page::own_image()) ? own.build_id(own_id, sizeof own_id) : 0;
  identity.runtime = digest_bytes(own_id, own_size);
  identity.text_offset = text.start - object.start;
  identity.text_size = text.size();
  return identity.id_size != 0 && own_size != 0;
}

bool has_settled(const TextFile& file) {
  constexpr int64_t kMinAge = 2'000'000'000, kSecond = 1'000'000'000;  // nanoseconds
  timespec now{};
  sys::raw(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<long>(&now));
  const int64_t before = now.tv_sec * kSecond + now.tv_nsec - kMinAge;
  return file.modified < before && file.changed < before;
}

bool load_plan(const char* folder, const TextIdentity& identity, Plan& plan) {
  const Name name(folder, identity);
  const long file = sys::raw(SYS_open, name.text(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (sys::failed(file)) return false;
  const bool good = read_plan(file, identity, plan);
  sys::raw(SYS_close, file);
  return good;
}

void store_plan(const char* folder, const TextIdentity& identity, const Plan& plan) {
  PlanHeader& header = plan.header();
  const uint64_t size = sizeof header + header.count * sizeof(PlannedSite);
  const page::LimitLifted file_size(RLIMIT_FSIZE);  // or the program would end by SIGXFSZ
  if (file_size.now < size || size > kLongestFile) return;
  copy_bytes(header.magic, kMagic, sizeof kMagic);
  header.text = identity;
  header.digest = digest_of(header, size);
  const Name name(folder, identity);
  Name temporary(folder, identity);
  temporary.make_temporary();
  const long file = sys::raw(SYS_open, temporary.text(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file == -EEXIST)
    sys::raw(SYS_unlink, temporary.text());  // of a process that was killed; the next run writes it
  if (sys::failed(file)) return;
  const bool whole = sys::raw(SYS_write, file, reinterpret_cast<long>(&header),
                              static_cast<long>(size)) == static_cast<long>(size);
  sys::raw(SYS_close, file);
  if (!whole || sys::failed(sys::raw(SYS_rename, temporary.text(), name.text())))
    sys::raw(SYS_unlink, temporary.text());
  remove_unused(folder);
}

}  // namespace weir
