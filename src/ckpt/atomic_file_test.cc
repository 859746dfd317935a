#include "ckpt/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "ckpt/expect_error.h"
#include "ckpt/faults_for_test.h"
#include "ckpt/safetensors.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

namespace fs = std::filesystem;
using test::Armed;
using test::expect_error;
using test::Fault;
using test::read_file;
using test::TempFolder;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// While it lives, no file may grow beyond `bytes`: write(2) fails with EFBIG, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TempFolder folder;
  const fs::path path = folder / "x";
  {
    AtomicFile file(path);
    file.write("hello ");
    file.write(std::string(3 << 20, 'y'));
    EXPECT_FALSE(fs::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_file(path), "hello " + std::string(3 << 20, 'y'));
  EXPECT_EQ(entries(folder.path()), 1u);
  {
    AtomicFile abandoned(path);
    abandoned.write("half");
  }
  EXPECT_EQ(read_file(path).size(), 6u + (3 << 20));
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, ADeviceOrAFolderIsLeftAlone) {
  const TempFolder folder;
  for (const fs::path& path : {fs::path("/dev/null"), folder.path()})
    expect_error([&] { AtomicFile file(path); }, "is no plain file");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicFile, ObeysTheUmask) {
  const TempFolder folder;
  const mode_t mask = umask(027);
  write_atomically(folder / "x", "text");
  umask(mask);
  EXPECT_EQ(read_file(folder / "x"), "text");
  EXPECT_EQ(fs::status(folder / "x").permissions(), static_cast<fs::perms>(0640));
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotMix) {
  const TempFolder folder;
  AtomicFile a(folder / "x"), b(folder / "x");
  a.write("aaaa");
  b.write("bb");
  a.commit();
  EXPECT_EQ(read_file(folder / "x"), "aaaa");
  b.commit();
  EXPECT_EQ(read_file(folder / "x"), "bb");
}

TEST(AtomicFile, SaysWhyItFailsAndLeavesNothing) {
  const TempFolder folder;
  expect_error([&] { AtomicFile(folder / "absent/x"); },
               "absent/x: No such file or directory; does the folder exist?");
  expect_error([&] { AtomicFile(folder / std::string(300, 'n')); }, "File name too long");
  EXPECT_EQ(entries(folder.path()), 0u);
}

// The disk is full at every byte in turn: the old file stays, no new one is seen, nothing is left.
TEST(AtomicFile, AFullDiskAtAnyByteLeavesTheOldFile) {
  const TempFolder folder;
  const fs::path path = folder / "x.safetensors";
  const std::string data(256, 'd');
  const std::vector<TensorView> tensors = {{"a", {DType::kU8, {256}}, test::bytes_of(data)}};
  write_safetensors(path, tensors, {{"generation", "1"}});
  const std::string old = read_file(path);
  size_t limits = 0;
  for (size_t limit = 0; limit < old.size(); ++limit, ++limits) {
    const FileSizeLimit full(limit);
    SCOPED_TRACE(limit);
    expect_error([&] { write_safetensors(path, tensors, {{"generation", "2"}}); },
                 "x.safetensors: File too large");
    EXPECT_EQ(read_file(path), old);
    EXPECT_EQ(entries(folder.path()), 1u);
  }
  test::report_cases("full disks", limits, 300);
  write_safetensors(path, tensors, {{"generation", "2"}});
  EXPECT_EQ(Safetensors(path).metadata().at("generation"), "2");
}

TEST(AtomicFile, EveryCallOfASaveMayFail) {
  struct Row {
    Fault fault;
    const char* message;  // null: the save succeeds
    bool replaced;        // the new file is there
  };
  const Row rows[] = {
      {{"write", 0, EIO}, "cannot write", false},
      {{"write", 0, ENOSPC}, "No space left", false},
      {{"write", 1, EIO}, "the disk may be", false},
      {{"write", 1, EDQUOT}, "free some space", false},
      {{"write", 2, EIO}, "cannot write", false},
      {{"write", 0, EINTR}, nullptr, true},
      {{"write", 2, EINTR}, nullptr, true},
      {{"write", 0, 0}, nullptr, true},
      {{"write", 2, 0}, nullptr, true},
      {{"fsync", 0, EIO}, "cannot write", false},
      {{"fsync", 0, ENOSPC}, "No space left", false},
      {{"fsync", 0, EINTR}, nullptr, true},
      {{"close", 0, EIO}, "cannot write", false},
      {{"close", 0, EINTR}, nullptr, true},
      {{"rename", 0, EACCES}, "cannot replace", false},
      {{"rename", 0, EROFS}, "Read-only", false},
      {{"fsync", 1, EIO}, "cannot flush the folder", true},
      {{"fsync", 1, EINVAL}, nullptr, true},
      {{"fsync", 2, EIO}, nullptr, true},
  };
  const TempFolder folder;
  const fs::path path = folder / "x.safetensors";
  const std::string data(256, 'd');
  const std::vector<TensorView> tensors = {{"a", {DType::kU8, {256}}, test::bytes_of(data)}};
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{} {} {}", row.fault.call, row.fault.nth, row.fault.error));
    write_safetensors(path, tensors, {{"generation", "1"}});
    const auto save = [&] {
      const Armed armed(row.fault);
      write_safetensors(path, tensors, {{"generation", "2"}});
    };
    if (row.message != nullptr)
      expect_error(save, row.message);
    else
      EXPECT_NO_THROW(save());
    EXPECT_EQ(Safetensors(path).metadata().at("generation"), row.replaced ? "2" : "1");
    EXPECT_EQ(entries(folder.path()), 1u);
  }
  test::report_cases("failing calls", std::size(rows), 19);
}

// ENOSPC itself, on a file system of our own.
TEST(AtomicFile, NamesAFullDisk) {
  const TempFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs root";
  const fs::path path = folder / "x.safetensors";
  const std::string data(1 << 20, 'd');
  const std::vector<TensorView> large = {{"a", {DType::kU8, {1 << 20}}, test::bytes_of(data)}};
  expect_error([&] { write_safetensors(path, large); },
               "x.safetensors: No space left on device; free some space and try again");
  EXPECT_EQ(entries(folder.path()), 0u);
  const std::vector<TensorView> small = {{"a", {DType::kU8, {9}}, test::bytes_of(data).first(9)}};
  EXPECT_NO_THROW(write_safetensors(path, small));
  umount(folder.path().c_str());
}

}  // namespace
}  // namespace hone::ckpt
