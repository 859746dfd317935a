#include "ckpt/atomic_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "ckpt/atomic_file.h"
#include "ckpt/expect_error.h"
#include "ckpt/test_files.h"

namespace hone::ckpt {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::read_file;
using test::TempFolder;
using test::write_file;

void save(const fs::path& path, std::string_view content) {
  AtomicFolder folder(path);
  write_atomically(folder.staging() / "a", content);
  write_atomically(folder.staging() / "b", std::string(1000, 'b'));
  folder.commit();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(AtomicFolder, AppearsOnlyWhenCommitted) {
  const TempFolder parent;
  {
    AtomicFolder folder(parent / "x");
    write_atomically(folder.staging() / "a", "text");
    EXPECT_FALSE(fs::exists(parent / "x"));
    folder.commit();
  }
  EXPECT_EQ(names_in(parent / "x"), (std::vector<std::string>{kDigestFile, "a"}));
  {
    AtomicFolder abandoned(parent / "y");
  }
  EXPECT_EQ(names_in(parent.path()), std::vector<std::string>{"x"});
  EXPECT_EQ(verify_folder(parent / "x"), std::vector<std::string>{"a"});
}

TEST(AtomicFolder, TakesThePlaceOfAnOlderOne) {
  const TempFolder parent;
  save(parent / "x", "first");
  save(parent / "x", "second");
  EXPECT_EQ(read_file(parent / "x" / "a"), "second");
  EXPECT_EQ(names_in(parent.path()), std::vector<std::string>{"x"});
}

TEST(AtomicFolder, WhatAKilledSaveLeftIsRemoved) {
  const TempFolder parent;
  save(parent / "x", "whole");
  fs::create_directory(parent / ".tmp-y");
  write_file(parent / ".tmp-y" / "a", "half");
  fs::create_directory(parent / ".tmp-old-z");
  save(parent / "y", "again");  // over what is left of itself
  fs::create_directory(parent / ".tmp-mine");
  const std::string_view names[] = {"y", "z"};
  remove_staged(parent.path(), names);
  EXPECT_EQ(names_in(parent.path()), (std::vector<std::string>{".tmp-mine", "x", "y"}));
  fs::remove(parent / ".tmp-mine");
  EXPECT_EQ(read_file(parent / "y" / "a"), "again");
  remove_folder(parent / "x");
  EXPECT_EQ(names_in(parent.path()), std::vector<std::string>{"y"});
}

TEST(AtomicFolder, SaysWhatIsMissing) {
  const TempFolder parent;
  expect_error([&] { AtomicFolder(parent / "absent" / "x"); }, "No such file");
  expect_error([&] { verify_folder(parent / "absent"); }, "absent has no SHA256SUMS");
  save(parent / "x", "text");
  const std::string up = std::string(64, '0') + "  ../x";
  write_file(parent / "x" / kDigestFile, up);
  expect_error([&] { verify_folder(parent / "x"); }, "SHA256SUMS is damaged");
}

bool is_whole(const fs::path& folder, size_t files) try {
  return verify_folder(folder).size() == files;
} catch (const FileError&) {
  return false;
}

// Every bit of every file, and every cut, is found; but for the list's last line break.
TEST(AtomicFolder, FindsEveryDamage) {
  const TempFolder parent;
  const fs::path folder = parent / "x";
  {
    AtomicFolder writer(folder);
    write_atomically(writer.staging() / "state.json", "{\"step\": 20}\n");
    write_atomically(writer.staging() / "arrays", std::string("\x01\x02\xff\x00 floats", 11));
    writer.commit();
  }
  size_t cases = 0;
  for (const std::string& name : names_in(folder)) {
    const std::string whole = read_file(folder / name);
    const size_t size = whole.size() - (name == kDigestFile ? 1 : 0);
    auto expect_damage = [&](const std::string& bytes) {
      fs::remove(folder / name);  // a file that is emptied and written again is flushed by ext4
      write_file(folder / name, bytes);
      EXPECT_FALSE(is_whole(folder, 2)) << name << ", case " << cases;
      ++cases;
    };
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      expect_damage(bytes);
    }
    for (size_t cut = 0; cut < size; ++cut) expect_damage(whole.substr(0, cut));
    fs::remove(folder / name);
    EXPECT_FALSE(is_whole(folder, 2));
    write_file(folder / name, whole);
    EXPECT_TRUE(is_whole(folder, 2));
  }
  test::report_cases("damages", cases, 1500);
}

}  // namespace
}  // namespace hone::ckpt
