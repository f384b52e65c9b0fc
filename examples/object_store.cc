// A store of objects in a file. Each object is a region of 64 bytes, and the program uses it as if it were in memory:
//   - at first it is closed (PROT_NONE). Its first touch, whoever makes it, traps, and the handler reads it from the file: only what is used is ever read.
//   - then it may be read. Its first write traps, and the handler notes that it is to be written back.
//   - commit() writes back just those, all of them or none, wherever the process is killed; then they trap again at their first write.
// Pages could not do that: 64 objects share one.
//
//   object_store FILE put KEY VALUE              KEY: up to 39 bytes; VALUE: a whole number. Makes FILE where there is none
//   object_store FILE get KEY
//   object_store FILE add KEY NUMBER             NUMBER may be negative
//   object_store FILE transfer FROM TO NUMBER
//   object_store FILE list
//   object_store FILE sum                        of all values; checks each object's place in the index as well
//   object_store FILE stress ACCOUNTS SECONDS    transfers between random accounts a0, a1, ... (made with 1000 each), each committed; prints the commits' numbers
// What was read and written is said on stderr. Exit status: 0; 1: there is no such key; 2: wrong usage, or the file cannot be used.
//
// The file: a Root of 4096 bytes, then Records. FILE.journal: a Journal, then entries (Entry, its bytes). A commit writes the journal, waits until it is on
// disk, and only then writes to the file. Whoever opens the store copies a whole journal again: that changes nothing if it had been copied. One that is not
// whole (it says how long it is, and has a checksum) was never begun to be copied, and is ignored.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "weir/region.hpp"

namespace {

constexpr uint64_t kMagic = 0x3165726f74536557, kJournalMagic = 0x316c6e724a736557;
constexpr uint32_t kBuckets = 1000;

struct Root {
  uint64_t magic;
  uint64_t commits;
  uint32_t count;  // of records; their numbers begin at 1
  uint32_t unused;
  uint32_t buckets[kBuckets];  // the first record of each chain, or 0
  char fill[4096 - 24 - 4 * kBuckets];
};

struct Record {
  char key[40];
  int64_t value;
  uint32_t next;  // in its chain, or 0
  uint32_t unused[3];
};

struct Journal {
  uint64_t magic;
  uint64_t commit;  // what Root::commits will be
  uint64_t size;    // bytes of entries
  uint64_t checksum;
};

struct Entry {
  uint64_t offset, size;
};

static_assert(sizeof(Root) == 4096 && sizeof(Record) == 64 && sizeof(Journal) == 32 && sizeof(Entry) == 16);

[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("object_store: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

uint64_t checksum_of(const void* bytes, size_t size, uint64_t sum = 0xcbf29ce484222325) {  // FNV-1a
  for (size_t i = 0; i < size; i++) sum = (sum ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3;
  return sum;
}

// True: all of it. False: the file ends before.
bool read_at(int file, void* bytes, size_t size, uint64_t offset) {
  for (size_t done = 0; done < size;) {
    const ssize_t some = pread(file, static_cast<char*>(bytes) + done, size - done, static_cast<off_t>(offset + done));
    if (some < 0) fail("cannot read: %s", strerror(errno));
    if (some == 0) return false;
    done += static_cast<size_t>(some);
  }
  return true;
}

void write_at(int file, const void* bytes, size_t size, uint64_t offset) {
  for (size_t done = 0; done < size;) {
    const ssize_t some = pwrite(file, static_cast<const char*>(bytes) + done, size - done, static_cast<off_t>(offset + done));
    if (some < 0) fail("cannot write: %s", strerror(errno));
    done += static_cast<size_t>(some);
  }
}

void sync(int file) {
  if (fdatasync(file)) fail("cannot write to disk: %s", strerror(errno));
}

class Store {
 public:
  explicit Store(const std::string& path) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) fail("%s: %s", path.c_str(), strerror(errno));
    if (flock(file_, LOCK_EX)) fail("%s: %s", path.c_str(), strerror(errno));
    journal_ = open((path + ".journal").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (journal_ < 0) fail("%s.journal: %s", path.c_str(), strerror(errno));
    // That the names are there has to be on disk, too.
    const size_t slash = path.rfind('/');
    const int folder = open(slash == std::string::npos ? "." : path.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder)) fail("%s: %s", path.c_str(), strerror(errno));
    close(folder);
    replay();
    struct stat status;
    if (fstat(file_, &status)) fail("%s: %s", path.c_str(), strerror(errno));
    is_new_ = status.st_size == 0;
    root_ = weir::static_pointer_cast<Root>(object(0, 0, sizeof(Root)));
    if (is_new_) root_->magic = kMagic;
    if (root_->magic != kMagic || (!is_new_ && root_->count > (static_cast<uint64_t>(status.st_size) - sizeof(Root)) / sizeof(Record)))
      fail("%s: is no object store, or damaged", path.c_str());
  }

  const weir::region_ptr<Root>& root() const { return root_; }

  // Its record, to be used as if it were in memory. `number` is not 0.
  const weir::region_ptr<Record>& record(uint32_t number) {
    auto found = records_.find(number);
    if (found != records_.end()) return found->second;
    if (number == 0 || number > root_->count) fail("damaged: there is no record %u", number);
    return records_[number] = weir::static_pointer_cast<Record>(object(number, sizeof(Root) + (number - 1) * sizeof(Record), sizeof(Record)));
  }

  static uint32_t bucket_of(const char* key) { return static_cast<uint32_t>(checksum_of(key, strlen(key)) % kBuckets); }

  // 0: there is none.
  uint32_t find(const std::string& key) {
    uint32_t steps = 0;
    for (uint32_t number = root_->buckets[bucket_of(key.c_str())]; number; number = record(number)->next) {
      if (strcmp(record(number)->key, key.c_str()) == 0) return number;  // the C library's own instructions trap as ours do
      if (++steps > root_->count) fail("damaged: a chain has no end");
    }
    return 0;
  }

  const weir::region_ptr<Record>& make(const std::string& key, int64_t value) {
    if (key.empty() || key.size() >= sizeof(Record::key)) fail("a key has 1 to 39 bytes");
    const uint32_t number = ++root_->count;
    const auto& made = record(number);
    uint32_t& first = root_->buckets[bucket_of(key.c_str())];
    memcpy(made->key, key.c_str(), key.size() + 1);
    made->value = value;
    made->next = first;
    first = number;
    return made;
  }

  // All writes since the last one are in the file after this, or none.
  void commit() {
    // That an access may have changed changed_, in the handler, the compiler does not know: neither the program's last one, nor that of the root.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (changed_.empty()) return;
    root_->commits++;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::string entries;
    for (const Object* each : changed_) {
      const Entry entry{each->offset, each->size};
      entries.append(reinterpret_cast<const char*>(&entry), sizeof entry);
      entries.append(static_cast<const char*>(each->start), each->size);
    }
    Journal header{kJournalMagic, root_->commits, entries.size(), 0};
    header.checksum = checksum_of(entries.data(), entries.size(), checksum_of(&header, offsetof(Journal, checksum)));
    const std::string whole = std::string(reinterpret_cast<const char*>(&header), sizeof header) + entries;
    write_at(journal_, whole.data(), whole.size(), 0);
    sync(journal_);
    apply(entries);
    for (const Object* each : changed_) weir_region_protect(each->start, PROT_READ);
    written_ += changed_.size();
    changed_.clear();
  }

  void report() const { fprintf(stderr, "%zu objects read, %zu written\n", read_, written_); }

 private:
  struct Object {
    Store* store;
    uint32_t number;
    uint64_t offset, size;  // in the file
    void* start;            // where it may always be read and written
    bool is_read;
  };

  weir::region_ptr<void> object(uint32_t number, uint64_t offset, uint64_t size) {
    weir::region_ptr<void> memory = weir_region_alloc(size, nullptr, nullptr);
    if (!memory) fail("no memory");
    Object& made = objects_[number] = {this, number, offset, size, memory.open(), false};
    weir_region_handler(memory.get(), on_trap, &made);
    weir_region_protect(memory.get(), PROT_NONE);
    return memory;
  }

  static void on_trap(weir_region_trap* trap) {
    auto* object = static_cast<Object*>(trap->context);
    Store* store = object->store;
    if (!object->is_read) {  // a record behind the file's end is a new one: zeros
      if (read_at(store->file_, trap->start, object->size, object->offset)) store->read_++;
      object->is_read = true;
    }
    if (trap->access & PROT_WRITE) store->changed_.push_back(object);
    weir_region_protect(trap->start, trap->access & PROT_WRITE ? PROT_READ | PROT_WRITE : PROT_READ);
  }

  void apply(const std::string& entries) {
    for (size_t at = 0; at < entries.size();) {
      Entry entry;
      memcpy(&entry, entries.data() + at, sizeof entry);
      write_at(file_, entries.data() + at + sizeof entry, entry.size, entry.offset);
      at += sizeof entry + entry.size;
    }
    sync(file_);
  }

  void replay() {
    Journal header;
    struct stat status;
    if (fstat(journal_, &status) || !read_at(journal_, &header, sizeof header, 0) || header.magic != kJournalMagic) return;
    if (header.size > static_cast<uint64_t>(status.st_size)) return;
    std::string entries(header.size, 0);
    if (!read_at(journal_, entries.data(), entries.size(), sizeof header)) return;
    if (checksum_of(entries.data(), entries.size(), checksum_of(&header, offsetof(Journal, checksum))) != header.checksum) return;
    Root root{};
    read_at(file_, &root, offsetof(Root, count), 0);
    if (root.commits != header.commit && root.commits + 1 != header.commit) return;  // another file's journal
    apply(entries);
  }

  int file_ = -1, journal_ = -1;
  bool is_new_ = false;
  std::map<uint32_t, Object> objects_;  // those that the program has asked for
  std::map<uint32_t, weir::region_ptr<Record>> records_;
  weir::region_ptr<Root> root_;
  std::vector<const Object*> changed_;
  size_t read_ = 0, written_ = 0;
};

int64_t number_of(const char* text) {
  char* end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (errno || end == text || *end) fail("'%s' is no number", text);
  return number;
}

uint32_t existing(Store& store, const std::string& key) {
  const uint32_t number = store.find(key);
  if (!number) {
    fprintf(stderr, "object_store: there is no '%s'\n", key.c_str());
    exit(1);
  }
  return number;
}

// Every record is to be found by its key.
void print_sum(Store& store) {
  int64_t sum = 0;
  for (uint32_t number = 1; number <= store.root()->count; number++) {
    const auto& record = store.record(number);
    if (store.find(record->key) != number) fail("damaged: record %u is not found by its key", number);
    sum += record->value;
  }
  printf("sum %ld of %u objects after %lu commits\n", static_cast<long>(sum), store.root()->count, static_cast<unsigned long>(store.root()->commits));
}

void stress(Store& store, int64_t accounts, int64_t seconds) {
  if (accounts < 2 || accounts > 1'000'000) fail("there are 2 to 1000000 accounts");
  const auto name = [](int64_t account) { return std::string("a").append(std::to_string(account)); };
  for (int64_t i = 0; i < accounts; i++) {
    if (!store.find(name(i))) store.make(name(i), 1000);
  }
  store.commit();
  srandom(static_cast<unsigned>(getpid()));
  for (const time_t end = time(nullptr) + seconds; time(nullptr) < end;) {
    const auto& from = store.record(existing(store, name(random() % accounts)));
    const auto& to = store.record(existing(store, name(random() % accounts)));
    const int64_t amount = random() % 100;
    from->value -= amount;
    to->value += amount;
    store.commit();
    printf("%lu\n", static_cast<unsigned long>(store.root()->commits));
    fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 2 ? words[2] : "";
  const auto is = [&](const char* command, int arguments) { return what == command && count == 3 + arguments; };
  if (!is("put", 2) && !is("get", 1) && !is("add", 2) && !is("transfer", 3) && !is("list", 0) && !is("sum", 0) && !is("stress", 2)) {
    fail("usage: object_store FILE put KEY VALUE | get KEY | add KEY NUMBER | transfer FROM TO NUMBER | list | sum | stress ACCOUNTS SECONDS");
  }
  Store store(words[1]);
  if (what == "put") {
    const int64_t value = number_of(words[4]);
    if (const uint32_t number = store.find(words[3])) store.record(number)->value = value;
    else store.make(words[3], value);
  } else if (what == "get") {
    printf("%ld\n", static_cast<long>(store.record(existing(store, words[3]))->value));
  } else if (what == "add") {
    store.record(existing(store, words[3]))->value += number_of(words[4]);
  } else if (what == "transfer") {
    const auto& from = store.record(existing(store, words[3]));
    const auto& to = store.record(existing(store, words[4]));
    from->value -= number_of(words[5]);
    to->value += number_of(words[5]);
  } else if (what == "list") {
    for (uint32_t number = 1; number <= store.root()->count; number++) {
      printf("%s %ld\n", store.record(number)->key, static_cast<long>(store.record(number)->value));
    }
  } else if (what == "sum") {
    print_sum(store);
  } else {
    stress(store, number_of(words[3]), number_of(words[4]));
  }
  store.commit();
  store.report();
}
