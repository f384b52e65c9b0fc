#include "code/patch/plan.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/test_libraries.h"
#include "code/patch/patch.h"
#include "sys/syscall_x86_64.h"

// What is patched from a plan that was kept is what a sweep finds, and a plan that cannot be
// believed is not used. Every patching happens in a child, which tells what it has done by the file
// of its sites.

namespace {

using namespace weir;

constexpr PatchKinds kLater = kPatchAtomic | kPatchRdtsc | kPatchCpuid | kPatchRandom;
constexpr PatchKinds kKinds = kPatchSyscall | kLater;

std::vector<Library> libraries() {
  // Kept open. Whichever of them is not installed is left out.
  for (const char* more : {"libcrypto.so.3", "libpython3.11.so.1.0"}) (void)dlopen(more, RTLD_LAZY);
  std::vector<Library> all = loaded_libraries();
  std::erase_if(all, [](const Library& library) { return library.name.empty(); });
  return all;
}

Library libc() { return loaded_library("libc.so"); }

// Of a site all that does not depend on where stubs lie.
struct Patched {
  uint64_t address, window;
  SiteKind kind;
  uint8_t length, window_size, stub_size, enter_at, displaced_count;
  bool is_trap;
  uint8_t original[5];
  AtomicOp atomic;
  RandomOp random;
};

void entry() {}

// Patches in a child: what it did, sorted by address. `calls` are the kinds of each call of
// patch_text.
std::vector<Patched> patched(
    const Library& library, const char* folder, std::vector<PatchKinds> calls,
    const std::function<void()>& before = [] {}, const TextFile& file = {}) {
  std::unique_ptr<FILE, int (*)(FILE*)> out(tmpfile(), fclose);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    set_site_entry(&entry);
    before();
    for (PatchKinds kinds : calls) {
      if (patch_text(library.text, library.object, kinds, nullptr, folder, file) != 0)
        sys::raw(SYS_exit_group, 1);
    }
    // libc's own calls lead into the runtime now, which is not there.
    for (uint32_t i = 0; i < site_count(); i++) {
      const Site& site = *site_at(i);
      Patched one;
      memset(static_cast<void*>(&one), 0, sizeof one);
      one.address = site.address, one.window = site.window, one.kind = site.kind,
      one.length = site.length;
      one.window_size = site.window_size, one.stub_size = site.stub_size,
      one.enter_at = site.enter_at;
      one.displaced_count = site.displaced_count, one.is_trap = site.is_trap;
      for (int k = 0; k < 5; k++) one.original[k] = site.original[k];
      if (site.kind == SiteKind::kAtomic) one.atomic = site.atomic;
      one.random = site.random;
      sys::raw(SYS_write, fileno(out.get()), reinterpret_cast<long>(&one), sizeof one);
    }
    sys::raw(SYS_exit_group, 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::vector<Patched> all;
  rewind(out.get());
  for (Patched one; fread(static_cast<void*>(&one), sizeof one, 1, out.get()) == 1;)
    all.push_back(one);
  std::sort(all.begin(), all.end(),
            [](const Patched& a, const Patched& b) { return a.address < b.address; });
  return all;
}

bool same(const std::vector<Patched>& a, const std::vector<Patched>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || memcmp(static_cast<const void*>(a.data()), static_cast<const void*>(b.data()),
                             a.size() * sizeof a[0]) == 0;
}

class KeptPlan : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weir-plan-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    for (const std::string& file : files()) unlink(file.c_str());
    rmdir(folder_.c_str());
  }

  std::vector<std::string> files() const {
    std::vector<std::string> all;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') all.push_back(folder_ + "/" + entry->d_name);
    }
    closedir(folder);
    return all;
  }

  std::string folder_;
};

std::string content(const std::string& name) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(name.c_str(), "r"), fclose);
  std::string text(1 << 20, 0);
  text.resize(fread(text.data(), 1, text.size(), file.get()));
  return text;
}

void write_content(const std::string& name, const std::string& text) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(name.c_str(), "w"), fclose);
  fwrite(text.data(), 1, text.size(), file.get());
}

TEST_F(KeptPlan, PatchesWhatASweepFinds) {
  for (const Library& library : libraries()) {
    SCOPED_TRACE(library.name);
    const auto swept = patched(library, nullptr, {kKinds});
    const auto making = patched(library, folder_.c_str(), {kPatchSyscall, kLater});
    const auto kept = patched(library, folder_.c_str(), {kPatchSyscall, kLater});
    const auto at_once = patched(library, folder_.c_str(), {kKinds});
    EXPECT_TRUE(same(swept, making));
    EXPECT_TRUE(same(swept, kept));
    EXPECT_TRUE(same(swept, at_once));
    // The two sweeps of a run without a folder find the same sites; a window may differ, as each
    // takes other bytes for branches.
    const auto twice = patched(library, nullptr, {kPatchSyscall, kLater});
    ASSERT_EQ(swept.size(), twice.size());
    for (size_t i = 0; i < swept.size(); i++)
      EXPECT_TRUE(swept[i].address == twice[i].address && swept[i].kind == twice[i].kind);
  }
  EXPECT_GE(files().size(), 2u);
}

TEST_F(KeptPlan, OneThatCannotBeBelievedIsNotUsed) {
  const Library library = libc();
  const auto swept = patched(library, folder_.c_str(), {kKinds});
  ASSERT_EQ(files().size(), 1u);
  const std::string name = files()[0], good = content(name);
  std::vector<std::string> bad = {"",
                                  good.substr(0, 50),
                                  good.substr(0, 100),
                                  good.substr(0, good.size() - 48),
                                  good + std::string(48, 0),
                                  std::string(good.size(), 0)};
  for (size_t at : {size_t{0}, size_t{8}, size_t{17}, size_t{24}, size_t{33}, size_t{48},
                    size_t{80}, size_t{84}, size_t{90}, good.size() - 1}) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 4);
  }
  for (const std::string& text : bad) {
    write_content(name, text);
    EXPECT_TRUE(same(swept, patched(library, folder_.c_str(), {kKinds})));
    EXPECT_TRUE(content(name) == good);  // written anew
  }
}

// A whole, well signed plan for other bytes: of a text that was changed, build id and all.
TEST_F(KeptPlan, OneForOtherBytesIsNotUsed) {
  const Library library = libc();
  const auto before = patched(library, folder_.c_str(), {kKinds});
  ASSERT_FALSE(before.empty());
  const auto change = [&] {
    // The site loses its prefix or becomes another instruction; what stays is code.
    const Patched& site = before[before.size() / 2];
    mprotect(reinterpret_cast<void*>(page_down(site.address)), 2 * kPageSize,
             PROT_READ | PROT_WRITE | PROT_EXEC);
    memset(reinterpret_cast<void*>(site.address), 0x90, site.length);
  };
  const auto swept = patched(library, nullptr, {kKinds}, change);
  EXPECT_EQ(swept.size() + 1, before.size());
  EXPECT_TRUE(same(swept, patched(library, folder_.c_str(), {kKinds}, change)));
}

TEST_F(KeptPlan, ATextOfTheSameFileIsNotReadAgain) {
  const Library library = libc();
  const TextFile file{1, 2, 3, 4, 5, 6};
  const auto before = patched(
      library, folder_.c_str(), {kKinds}, [] {}, file);
  ASSERT_EQ(files().size(), 1u);
  const std::string name = files()[0], first = content(name);
  const auto change = [&] {  // between the sites
    const uint64_t at = before[before.size() / 2].window - 1;
    mprotect(reinterpret_cast<void*>(page_down(at)), 2 * kPageSize,
             PROT_READ | PROT_WRITE | PROT_EXEC);
    *reinterpret_cast<uint8_t*>(at) ^= 1;
  };
  EXPECT_TRUE(same(before, patched(library, folder_.c_str(), {kKinds}, change, file)));
  EXPECT_TRUE(content(name) == first);
  // Of another file, all of it is compared, and where it is the same that file is noted.
  for (uint64_t TextFile::*member :
       {&TextFile::device, &TextFile::inode, &TextFile::size, &TextFile::offset}) {
    TextFile other = file;
    other.*member += 1;
    write_content(name, first);
    (void)patched(library, folder_.c_str(), {kKinds}, change, other);
    EXPECT_FALSE(content(name) == first);
    write_content(name, first);
    EXPECT_TRUE(same(before, patched(
                                 library, folder_.c_str(), {kKinds}, [] {}, other)));
    const std::string noted = content(name);
    EXPECT_FALSE(noted == first);
    EXPECT_TRUE(same(before, patched(library, folder_.c_str(), {kKinds}, change, other)));
    EXPECT_TRUE(content(name) == noted);
  }
}

TEST_F(KeptPlan, AFileThatHasJustChangedIsNotNoted) {
  const Library library = libc();
  const int64_t now = int64_t{time(nullptr)} * 1'000'000'000;
  const TextFile changed{1, 2, 3, 4, 5, now}, modified{1, 2, 3, 4, now, 5};
  EXPECT_FALSE(has_settled(changed) || has_settled(modified));
  const auto before = patched(
      library, folder_.c_str(), {kKinds}, [] {}, changed);
  TextIdentity identity;
  ASSERT_TRUE(identify_text(library.text, library.object, false, identity));
  Plan plan;
  ASSERT_TRUE(load_plan(folder_.c_str(), identity, plan));
  EXPECT_FALSE(plan.header().file.is_known());
}

TEST_F(KeptPlan, OneThatOthersMayWriteToIsNotUsed) {
  const Library library = libc();
  (void)patched(library, folder_.c_str(), {kKinds});
  ASSERT_EQ(files().size(), 1u);
  const std::string name = files()[0];
  TextIdentity identity;
  ASSERT_TRUE(identify_text(library.text, library.object, false, identity));
  const auto is_loaded = [&] {
    Plan plan;
    return load_plan(folder_.c_str(), identity, plan);
  };
  EXPECT_TRUE(is_loaded());
  chmod(name.c_str(), 0620);
  EXPECT_FALSE(is_loaded());
  chmod(name.c_str(), 0602);
  EXPECT_FALSE(is_loaded());
  chmod(name.c_str(), 0600);
  EXPECT_TRUE(is_loaded());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(name.c_str(), 12345, 0), 0);
    EXPECT_FALSE(is_loaded());
    ASSERT_EQ(chown(name.c_str(), 0, 0), 0);
  }
  const std::string elsewhere = name + ".moved";
  rename(name.c_str(), elsewhere.c_str());
  EXPECT_FALSE(is_loaded());
  ASSERT_EQ(symlink(elsewhere.c_str(), name.c_str()), 0);
  EXPECT_FALSE(is_loaded());
  unlink(name.c_str());
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  EXPECT_FALSE(is_loaded());
  unlink(name.c_str());
  ASSERT_EQ(mkdir(name.c_str(), 0700), 0);
  EXPECT_FALSE(is_loaded());
  EXPECT_FALSE(patched(library, folder_.c_str(), {kKinds}).empty());
  rmdir(name.c_str());
  EXPECT_FALSE(patched(library, "/nonexistent/folder", {kPatchSyscall, kLater}).empty());
}

TEST_F(KeptPlan, GoesThirtyDaysAfterItsLastUse) {
  const auto write_aged = [&](const std::string& name, time_t read_days, time_t written_days) {
    write_content(folder_ + "/" + name, "text");
    const time_t now = time(nullptr), day = 24 * 3600;
    const timespec times[2] = {{now - read_days * day, 0}, {now - written_days * day, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (folder_ + "/" + name).c_str(), times, 0), 0);
  };
  write_aged("0123abcd-00001000-89abcdef", 31, 31);               // not in use
  write_aged("0123abcd-00001000-89abcdef.0000002a.new", 31, 31);  // its writer was killed
  write_aged("0123abcd-00002000-89abcdef", 29, 400);
  write_aged("0123abcd-00003000-89abcdef", 400, 29);
  write_aged("notes-of-mine", 400, 400);  // no plan
  ASSERT_EQ(mkdir((folder_ + "/files").c_str(), 0700), 0);
  const Library library = libc();
  EXPECT_FALSE(patched(library, folder_.c_str(), {kPatchSyscall, kLater}).empty());
  rmdir((folder_ + "/files").c_str());
  const auto kept = [&](const std::string& name) {
    return access((folder_ + "/" + name).c_str(), F_OK) == 0;
  };
  EXPECT_FALSE(kept("0123abcd-00001000-89abcdef"));
  EXPECT_FALSE(kept("0123abcd-00001000-89abcdef.0000002a.new"));
  EXPECT_TRUE(kept("0123abcd-00002000-89abcdef"));
  EXPECT_TRUE(kept("0123abcd-00003000-89abcdef"));
  EXPECT_TRUE(kept("notes-of-mine"));
  EXPECT_EQ(files().size(), 4u);  // and libc's
}

TEST_F(KeptPlan, WritersAtTheSameTimeLeaveAWholeOne) {
  const Library library = libc();
  TextIdentity identity;
  ASSERT_TRUE(identify_text(library.text, library.object, false, identity));
  std::vector<pid_t> writers;
  fflush(stdout);
  for (int i = 0; i < 4; i++) {
    const pid_t child = fork();
    if (child == 0) {
      for (int round = 0; round < 200; round++) {
        Plan plan;
        if (!plan.take(1500)) _exit(1);
        for (uint32_t k = 0; k < 1500; k++)
          plan.add({k, k, k, SiteKind::kSyscall, 2, 5, 0, 0, 0, {}, {}});
        store_plan(folder_.c_str(), identity, plan);
        Plan read;
        if (!load_plan(folder_.c_str(), identity, read) || read.header().count != 1500) _exit(2);
      }
      _exit(0);
    }
    writers.push_back(child);
  }
  for (pid_t writer : writers) {
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), 1u);
}

}  // namespace
