// hone report: a run's folder as one page.
#include <cstdio>
#include <filesystem>

#include "ckpt/atomic_file.h"
#include "cli/command.h"
#include "watch/report_page.h"

namespace hone::cli {
namespace {

struct Options {
  std::string run, out;

  void fields(auto& v) {
    v.argument("run", run, "a run's folder; of one in progress, what there is so far");
    v("out", out, "where to write the page; RUN/report.html when not given");
  }
};

int run(const Options& o) {
  const std::filesystem::path out =
      o.out.empty() ? std::filesystem::path(o.run) / "report.html" : std::filesystem::path(o.out);
  ckpt::write_atomically(out, watch::report_html(watch::read_run(o.run)));
  std::printf("%s\n", out.c_str());
  return 0;
}

}  // namespace

extern const Command kReport =
    command<run>("report", "write a run's page: curves, recipe, samples",
                 {"hone report runs/demo", "hone report runs/demo --out a.html"});

}  // namespace hone::cli
