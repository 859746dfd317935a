#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <fstream>

#include "pjrt/engine_for_test.h"

namespace hone::pjrt {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

template <class E = FileError, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    EXPECT_THAT(e.what(), Not(HasSubstr("\n")));
    return e.what();
  }
  ADD_FAILURE() << "nothing thrown";
  return "";
}

void touch(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "not an engine";
}

TEST(FindPlugin, TakesTheNamedOneFirst) {
  const ScopedEnv named("HONE_PJRT_PLUGIN", "/somewhere/else.so");
  EXPECT_EQ(find_plugin(), "/somewhere/else.so");
}

TEST(FindPlugin, AnEmptyNameIsNone) {
  const ScopedEnv named("HONE_PJRT_PLUGIN", "");
  EXPECT_THAT(find_plugin().string(), HasSubstr(".deps/pjrt-cpu"));
}

TEST(FindPlugin, LooksUpwardAndPrefersTheEngineToItsFallBack) {
  const ScopedFolder root;
  const fs::path engine = root.path() / ".deps/pjrt-cpu/pjrt_c_api_cpu_plugin.so";
  const fs::path fallback = root.path() / ".deps/pjrt-cpu-fallback/libpjrt_cpu.so";
  const std::array starts{root.path() / "build/src/cli"};
  fs::create_directories(starts[0]);
  EXPECT_THAT(message_of([&] { find_plugin(starts); }), HasSubstr("HONE_PJRT_PLUGIN"));
  touch(fallback);
  EXPECT_EQ(find_plugin(starts), fallback);
  touch(engine);
  EXPECT_EQ(find_plugin(starts), engine);
}

TEST(Plugin, SaysWhyAFileIsNoPlugin) {
  const ScopedFolder folder;
  const fs::path text = folder.path() / "text.so";
  touch(text);
  Dl_info libc{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::getenv), &libc), 0);
  const std::pair<fs::path, const char*> cases[] = {
      {folder.path() / "none.so", "does not exist"},
      {text, "cannot be loaded"},
      {libc.dli_fname, "no GetPjrtApi"},
  };
  for (const auto& [path, reason] : cases) {
    const std::string message = message_of([&] { Plugin::load(path); });
    EXPECT_THAT(message, HasSubstr(reason));
    EXPECT_THAT(message, HasSubstr(path.string()));
  }
}

TEST(Plugin, RefusesAnotherVersionOfTheApi) {
  const auto real = Plugin::load(find_plugin());
  for (const auto& [major, minor] : {std::pair{0, 56}, {1, 200}}) {
    PJRT_Api table = *real->api();
    table.pjrt_api_version.major_version = major;
    table.pjrt_api_version.minor_version = minor;
    EXPECT_THAT(message_of([&] { Plugin::adopt(&table, "other.so"); }),
                HasSubstr(fmt::format("speaks C API {}.{}", major, minor)));
  }
}

TEST(Plugin, RefusesCallsThatThePluginDoesNotHave) {
  const auto real = Plugin::load(find_plugin());
  PJRT_Api short_table = *real->api();
  short_table.struct_size = offsetof(PJRT_Api, PJRT_Compile);
  PJRT_Api hollow_table = *real->api();
  hollow_table.PJRT_Compile = nullptr;
  for (const PJRT_Api* table : {&short_table, &hollow_table}) {
    const auto plugin = Plugin::adopt(table, "older.so");
    PJRT_Compile_Args args{};
    EXPECT_EQ(message_of<Error>([&] { plugin->call(&PJRT_Api::PJRT_Compile, args, "compile"); }),
              "compile: this plugin cannot do it");
  }
}

TEST(Plugin, GivesTheReasonAndTheCodeOfAnError) {
  const auto plugin = Plugin::load(find_plugin());
  PJRT_NamedValue option{};
  option.struct_size = sizeof option;
  option.name = "no_such_option";
  option.name_size = 14;
  option.type = PJRT_NamedValue_kBool;
  PJRT_Client_Create_Args args{};
  args.create_options = &option;
  args.num_options = 1;
  try {
    plugin->call(&PJRT_Api::PJRT_Client_Create, args, "create a client");
    FAIL() << "an unknown option was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code, Code::kInvalidArgument);
    EXPECT_THAT(e.what(), HasSubstr("create a client: "));
  }
}

}  // namespace
}  // namespace hone::pjrt
