#include "pjrt/executable_cache.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "pjrt/custom_calls.h"
#include "pjrt/engine_for_test.h"
#include "xla/ffi/api/ffi.h"

namespace hone::pjrt {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kDouble = R"(
  module @m {
    func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
  })";

class Cache : public OnEngine {
 protected:
  // Compiles kDouble through a cache in `folder`, and runs it.
  Compiled compile(const fs::path& folder, const CompileOptions& options = {}) const {
    const Client c = client();
    Compiled made = ExecutableCache(folder).compile(c, kDouble, options);
    const Buffer x = c.to_device<float>({2}, std::vector<float>{1, 2});
    EXPECT_THAT(to_host<float>(made.executable.execute({x})[0]), ElementsAre(2, 4));
    EXPECT_GT(made.seconds, 0);
    return made;
  }
  std::vector<fs::path> entries(const fs::path& cache) const {
    return {fs::directory_iterator(cache / "executables"), {}};
  }
};
INSTANTIATE_TEST_SUITE_P(Cpu, Cache, testing::ValuesIn(kEngines), engine_name);

void overwrite(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_P(Cache, ASecondCompileComesFromIt) {
  const ScopedFolder folder;
  const fs::path cache = folder.path() / "a/b";
  const Compiled cold = compile(cache);
  EXPECT_FALSE(cold.from_cache);
  EXPECT_EQ(cold.note, "");
  const Compiled warm = compile(cache);
  EXPECT_TRUE(warm.from_cache);
  EXPECT_EQ(warm.note, "");
  EXPECT_THAT(warm.executable.outputs(), ElementsAre(Type{DType::kF32, {2}}));
  EXPECT_THAT(entries(cache), SizeIs(1));
  for (const fs::path& made : {cache.parent_path(), cache, cache / "executables"})
    EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all) << made;
}

TEST_P(Cache, OtherOptionsAreOtherPrograms) {
  const ScopedFolder folder;
  compile(folder.path());
  EXPECT_FALSE(
      compile(folder.path(), {.xla_flags = {{"xla_cpu_enable_fast_math", false}}}).from_cache);
  {
    const ScopedEnv flags("XLA_FLAGS", "");
    EXPECT_TRUE(compile(folder.path()).from_cache);
  }
  EXPECT_THAT(entries(folder.path()), SizeIs(2));
}

TEST_P(Cache, ADamagedEntryIsMadeAgain) {
  const ScopedFolder folder;
  compile(folder.path());
  const fs::path entry = entries(folder.path()).at(0);
  const std::string good = contents(entry);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 1;
  std::string other_key = good;
  other_key[20] = other_key[20] == '0' ? '1' : '0';
  for (const std::string& bad :
       {std::string(), good.substr(0, 10), good.substr(0, 30), good.substr(0, good.size() - 1),
        good + "x", flipped, other_key, std::string(1000, 'x')}) {
    overwrite(entry, bad);
    const Compiled again = compile(folder.path());
    EXPECT_FALSE(again.from_cache);
    EXPECT_EQ(again.note, "");
    EXPECT_NE(contents(entry), bad);
    EXPECT_TRUE(compile(folder.path()).from_cache);
  }
}

TEST_P(Cache, AnEntryThatIsNoFileIsIgnored) {
  const ScopedFolder folder;
  compile(folder.path());
  const fs::path entry = entries(folder.path()).at(0);
  fs::remove(entry);
  ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
  EXPECT_FALSE(compile(folder.path()).from_cache);
  EXPECT_TRUE(compile(folder.path()).from_cache);
}

TEST_P(Cache, AFolderThatOthersMayChangeIsNotUsed) {
  const ScopedFolder folder;
  compile(folder.path());
  for (const char* part : {"", "executables", "plugins"}) {
    for (const fs::perms extra : {fs::perms::group_write, fs::perms::others_write}) {
      const fs::path open = folder.path() / part;
      fs::permissions(open, extra, fs::perm_options::add);
      const Compiled again = compile(folder.path());
      EXPECT_FALSE(again.from_cache);
      EXPECT_THAT(again.note, HasSubstr("others may write"));
      fs::permissions(open, extra, fs::perm_options::remove);
    }
  }
  EXPECT_TRUE(compile(folder.path()).from_cache);
}

TEST_P(Cache, AFolderOfAnotherUserIsNotUsed) {
  const ScopedFolder folder;
  const bool root = geteuid() == 0;
  const fs::path theirs = root ? folder.path() : "/usr";
  if (root) {
    compile(theirs);
    ASSERT_EQ(chown(theirs.c_str(), 65534, 65534), 0);
  }
  const Compiled again = compile(theirs);
  EXPECT_FALSE(again.from_cache);
  EXPECT_THAT(again.note, HasSubstr("another user"));
}

TEST_P(Cache, WithoutAFolderEverythingStillCompiles) {
  const ScopedFolder folder;
  overwrite(folder.path() / "file", "");
  const std::pair<fs::path, const char*> cases[] = {
      {"", "not set"},
      {folder.path() / "file", "cannot open"},
      {folder.path() / "file/below", "cannot make"},
      {"/proc/hone", "cannot make"},
  };
  for (const auto& [cache, reason] : cases) {
    const Compiled made = compile(cache);
    EXPECT_FALSE(made.from_cache);
    EXPECT_THAT(made.note, HasSubstr(reason));
  }
}

TEST_P(Cache, AFullDiskLeavesNothingBehind) {
  const ScopedFolder folder;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tiny{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const Client c = client();
  const Compiled made = ExecutableCache(folder.path()).compile(c, kDouble);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(made.from_cache);
  EXPECT_THAT(made.note, HasSubstr("cannot write"));
  EXPECT_THAT(entries(folder.path()), SizeIs(0));
}

TEST_P(Cache, AReadOnlyFolderStillServes) {
  const ScopedFolder folder;
  compile(folder.path());
  const bool root = geteuid() == 0;  // for whom modes mean nothing
  if (root) {
    for (const auto& e : fs::recursive_directory_iterator(folder.path()))
      ASSERT_EQ(chown(e.path().c_str(), 65534, 65534), 0);
    ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
  }
  fs::permissions(folder.path() / "executables", fs::perms::owner_read | fs::perms::owner_exec);
  const Client c = client();
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const ExecutableCache cache(folder.path());
  const Compiled warm = cache.compile(c, kDouble);
  const Compiled cold = cache.compile(c, std::string(kDouble) + "\n");
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  fs::permissions(folder.path() / "executables", fs::perms::owner_all);
  EXPECT_TRUE(warm.from_cache);
  EXPECT_FALSE(cold.from_cache);
  EXPECT_THAT(cold.note, HasSubstr("cannot write"));
}

TEST(CacheFolders, FollowTheEnvironment) {
  const ScopedEnv home("HOME", "/home/someone");
  const ScopedEnv xdg("XDG_CACHE_HOME", std::nullopt);
  const ScopedEnv ours("HONE_CACHE", std::nullopt);
  EXPECT_EQ(ExecutableCache::default_folder(), "/home/someone/.cache/hone");
  {
    const ScopedEnv set("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(ExecutableCache::default_folder(), "/x/hone");
    const ScopedEnv also("HONE_CACHE", "/c");
    EXPECT_EQ(ExecutableCache::default_folder(), "/c");
  }
  const ScopedEnv nowhere("HOME", std::nullopt);
  EXPECT_EQ(ExecutableCache::default_folder(), "");
}

// A program that calls a kernel of ours must find it again in another process.

XLA_FFI_Error* triple(XLA_FFI_CallFrame* frame) {
  namespace ffi = xla::ffi;
  static const auto kBound =
      ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>().To(
          [](ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
            y->typed_data()[0] = 3 * x.typed_data()[0];
            return ffi::Error::Success();
          });
  return kBound->Call(frame);
}

bool triple_through_cache(const fs::path& cache, const fs::path& engine) {
  const Client c = Client::create(Plugin::load(engine));
  register_custom_call(c.plugin(), "hone_test_triple", triple);
  const Compiled made = ExecutableCache(cache).compile(c, R"(
    module @m {
      func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {
        %0 = stablehlo.custom_call @hone_test_triple(%x) {api_version = 4 : i32}
            : (tensor<1xf32>) -> tensor<1xf32>
        return %0 : tensor<1xf32>
      }
    })");
  EXPECT_EQ(made.note, "");
  const Buffer x = c.to_device<float>({1}, std::vector<float>{7});
  EXPECT_THAT(to_host<float>(made.executable.execute({x})[0]), ElementsAre(21));
  return made.from_cache;
}

TEST_P(Cache, CustomCallsWorkFromItInAnotherProcess) {
  const ScopedFolder folder;
  EXPECT_FALSE(triple_through_cache(folder.path(), plugin_->path()));
  const ScopedEnv cache("HONE_TEST_CACHE", folder.path().string());
  const ScopedEnv engine("HONE_TEST_ENGINE", plugin_->path().string());
  const std::string self = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(std::system((self + " --gtest_filter=CacheChild.* > /dev/null").c_str()), 0);
  EXPECT_EQ(contents(folder.path() / "child"), "from cache: true");
}

TEST(CacheChild, TakesTheProgramOfItsParent) {
  const char* cache = std::getenv("HONE_TEST_CACHE");
  if (cache == nullptr) GTEST_SKIP() << "run by Cache.CustomCallsWorkFromItInAnotherProcess";
  const bool from_cache = triple_through_cache(cache, std::getenv("HONE_TEST_ENGINE"));
  overwrite(fs::path(cache) / "child", fmt::format("from cache: {}", from_cache));
}

}  // namespace
}  // namespace hone::pjrt
