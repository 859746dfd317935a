#include "cli/machine.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/doctor.h"

namespace hone::cli {
namespace {

TEST(Machine, ReadsKeyedLines) {
  const std::string text =
      "flags\t: fpu avx2\nmodel name\t: A B\nPRETTY_NAME=\"Debian 12\"\nempty:\n";
  EXPECT_EQ(line_value(text, "model name"), "A B");
  EXPECT_EQ(line_value(text, "PRETTY_NAME"), "Debian 12");
  EXPECT_EQ(line_value(text, "empty"), "");
  EXPECT_EQ(line_value(text, "name"), "");
  EXPECT_EQ(line_value("", "name"), "");
}

TEST(Machine, NamesTheSimdThatMatters) {
  EXPECT_EQ(known_simd("fpu sse avx2 avx512f avx512_vnni"), "avx2 avx512f avx512_vnni");
  EXPECT_EQ(known_simd("avx2x notfma"), "none");
}

TEST(Machine, KnowsItself) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_GT(memory_total(), memory_free());
  EXPECT_GT(memory_free(), 0u);
  EXPECT_FALSE(os_name().empty());
}

TEST(Doctor, FindingsAreWordThenAdvice) {
  EXPECT_EQ(finding_text({Finding::kOk, "fine"}, false), "ok    fine\n");
  EXPECT_EQ(finding_text({Finding::kFail, "bad", "do this"}, false), "fail  bad\n      do this\n");
  EXPECT_EQ(finding_text({Finding::kWarn, "so", "do"}, true),
            "\x1b[33mwarn \x1b[0m so\n      do\n");
}

TEST(Doctor, LooksOnThePath) {
  EXPECT_TRUE(on_path("sh"));
  EXPECT_FALSE(on_path("no-such-program"));
}

}  // namespace
}  // namespace hone::cli
