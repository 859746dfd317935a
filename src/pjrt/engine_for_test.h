// What the tests of src/pjrt share: the engines to run on, and a check for leaks.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "pjrt/client.h"

namespace hone::pjrt {

// Sets an environment variable, or removes it, until the end of the scope.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~ScopedEnv() { set(before_); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) setenv(name_, value->c_str(), 1);
    if (!value) unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

// An empty folder of one's own, removed at the end of the scope.
class ScopedFolder {
 public:
  ScopedFolder() {
    std::string name = std::filesystem::temp_directory_path() / "hone_test_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw FileError("cannot make {}", name);
    path_ = name;
  }
  ~ScopedFolder() { std::filesystem::remove_all(path_); }
  ScopedFolder(const ScopedFolder&) = delete;
  ScopedFolder& operator=(const ScopedFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs each test on the CPU engine and on its fall-back ($HONE_TEST_FALLBACK_PLUGIN).
class OnEngine : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* fallback = std::getenv("HONE_TEST_FALLBACK_PLUGIN");
    if (GetParam() == std::string("fallback") && fallback == nullptr)
      GTEST_SKIP() << "HONE_TEST_FALLBACK_PLUGIN names no second engine";
    plugin_ = Plugin::load(GetParam() == std::string("fallback") ? fallback : find_plugin());
  }
  void TearDown() override { EXPECT_EQ(live_handles(), 0); }

  Client client(int devices = 1) const {
    return Client::create(plugin_, {.cpu_device_count = devices});
  }

  std::shared_ptr<const Plugin> plugin_;
};

inline constexpr const char* kEngines[] = {"primary", "fallback"};
inline std::string engine_name(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

}  // namespace hone::pjrt
