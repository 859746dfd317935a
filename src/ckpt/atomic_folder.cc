#include "ckpt/atomic_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/mmap.h"
#include "base/sha256.h"
#include "ckpt/atomic_file.h"

namespace hone::ckpt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHidden = ".tmp-", kOld = "old-";
constexpr size_t kDigits = 64;

fs::path hidden(const fs::path& path, std::string_view what) {
  return path.parent_path() / fmt::format("{}{}{}", kHidden, what, path.filename().string());
}

[[noreturn]] void fail(std::string_view what, const fs::path& path, int error) {
  throw FileError("cannot {} {}: {}", what, path.string(), std::strerror(error));
}

void move(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail("replace", to, errno);
}

std::string digest_of(const fs::path& file) {
  const Mmap map(file);
  return sha256({reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()});
}

std::string digests_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}  {}\n", digest_of(folder / name), name);
  return text;
}

// The name of the file of a line of the list.
std::string verify_line(const fs::path& folder, const std::string& line) {
  if (line.size() <= kDigits + 2 || line.substr(kDigits, 2) != "  " || line.contains('/'))
    throw FileError("{} is damaged", (folder / kDigestFile).string());
  const std::string name = line.substr(kDigits + 2);
  if (digest_of(folder / name) != line.substr(0, kDigits))
    throw FileError("{} is damaged: it has not the digest in {}", (folder / name).string(),
                    kDigestFile);
  return name;
}

}  // namespace

AtomicFolder::AtomicFolder(const fs::path& path) : path_(path), staging_(hidden(path, "")) {
  std::error_code ignored;  // mkdir says what is wrong
  fs::remove_all(staging_, ignored);
  if (mkdir(staging_.c_str(), 0777) != 0) fail("make", staging_, errno);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staging_, ignored);
}

void AtomicFolder::commit() {
  write_atomically(staging_ / kDigestFile, digests_of(staging_));
  if (fs::exists(path_)) remove_folder(path_);
  move(staging_, path_);
  try {
    flush_folder(path_.parent_path());
  } catch (const FileError&) {
    move(path_, staging_);
    throw;
  }
  committed_ = true;
}

std::vector<std::string> verify_folder(const fs::path& folder) {
  std::ifstream list(folder / kDigestFile);
  if (!list) throw FileError("{} has no {}", folder.string(), kDigestFile);
  std::vector<std::string> names;
  for (std::string line; std::getline(list, line);) names.push_back(verify_line(folder, line));
  return names;
}

void remove_folder(const fs::path& folder) {
  const fs::path old = hidden(folder, kOld);
  std::error_code failed;
  fs::remove_all(old, failed);
  move(folder, old);
  fs::remove_all(old, failed);
  if (failed) throw FileError("cannot remove {}: {}", old.string(), failed.message());
}

void remove_staged(const fs::path& parent, std::span<const std::string_view> names) {
  const auto is_staged = [&](const std::string& file) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return file.starts_with(fmt::format("{}{}", kHidden, name)) ||
             file.starts_with(fmt::format("{}{}{}", kHidden, kOld, name));
    });
  };
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(parent))
    if (is_staged(entry.path().filename().string())) left.push_back(entry.path());
  std::error_code ignored;  // they are hidden, and tried again next time
  for (const fs::path& path : left) fs::remove_all(path, ignored);
}

}  // namespace hone::ckpt
