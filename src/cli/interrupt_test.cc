#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::cli {
namespace {

TEST(Interrupt, FirstSignalIsRemembered) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptGuard guard;
    EXPECT_FALSE(interrupted());
    std::raise(signal);
    EXPECT_TRUE(interrupted());
    EXPECT_EQ(interrupted_by(), signal);
  }
}

TEST(Interrupt, GuardPutsTheFormerActionBack) {
  std::signal(SIGTERM, SIG_IGN);
  {
    const InterruptGuard guard;
  }
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_IGN);
}

TEST(Interrupt, SecondSignalKills) {
  for (const auto& [first, second] : {std::pair{SIGINT, SIGINT}, std::pair{SIGINT, SIGTERM}}) {
    const pid_t child = fork();
    if (child == 0) {
      const InterruptGuard guard;
      std::raise(first);
      std::raise(second);
      _exit(interrupted() ? 0 : 1);  // not reached
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), second);
  }
}

}  // namespace
}  // namespace hone::cli
