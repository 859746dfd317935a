// hone demo: fine-tunes a small model on Verilog that this program makes, and measures what it
// learned by compiling and simulating its answers.
#include <cstdio>
#include <thread>

#include "base/error.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_training.h"
#include "cli/terminal.h"
#include "cli/verilog_score.h"
#include "data/jsonl.h"
#include "verilog/split.h"

namespace hone::cli {
namespace {

constexpr int64_t kAnswerTokens = 208;  // the longest right answer is shorter
constexpr size_t kShown = 3;

struct Options {
  std::vector<std::string> overrides;

  void fields(auto& v) { v.argument("key=value", overrides, "changes to the demo's recipe"); }
};

// Every module passes its own test bench, or the set is not used.
void check_tasks(const verilog::Split& split) {
  std::vector<verilog::Job> jobs;
  for (const auto* part : {&split.training, &split.validation, &split.held_out, &split.unseen})
    for (const verilog::Task& t : *part) jobs.push_back({t.module, t.testbench});
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto outcomes = verilog::simulate_all(jobs, threads);
  for (size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].verdict != verilog::Verdict::kPass)
      throw Error("task {} fails its own test bench ({}: {}): is this iverilog too old?", i,
                  verilog::name(outcomes[i].verdict), outcomes[i].error);
  say(fmt::format("{} modules pass their test benches", jobs.size()));
}

void write_examples(const std::string& path, const std::vector<verilog::Task>& tasks) {
  std::vector<data::Example> examples;
  for (const verilog::Task& t : tasks) examples.push_back(verilog_example(t));
  std::error_code failed;  // write_jsonl says it
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  data::write_jsonl(path, examples);
}

struct Score {
  std::vector<Answer> answers;  // held out, then unseen
  int64_t held_out, unseen;
};

Score score(engine::Model& m, const engine::Language& language, const verilog::Split& split) {
  std::vector<verilog::Task> tasks = split.held_out;
  tasks.insert(tasks.end(), split.unseen.begin(), split.unseen.end());
  engine::Generator generator(m);
  say(fmt::format("answering {} prompts, held out of training", tasks.size()));
  Progress bar(kAnswerTokens);
  Score s{answer_tasks(generator, language, tasks, kAnswerTokens,
                       [&](int64_t step) { bar.update(step); }),
          0, 0};
  bar.finish();
  const std::span all(s.answers);
  s.held_out = passes(all.first(split.held_out.size()));
  s.unseen = passes(all.subspan(split.held_out.size()));
  return s;
}

std::string verdict(const Answer& a) {
  const std::string_view name = verilog::name(a.outcome.verdict);
  return a.outcome.error.empty() ? std::string(name) : fmt::format("{}: {}", name, a.outcome.error);
}

void show(const verilog::Split& split, const Score& before, const Score& after) {
  for (size_t i = 0; i < kShown; ++i)
    std::printf(
        "\n--- held-out prompt %zu ---\n%s\n--- before (%s) ---\n%s\n--- after (%s) ---\n%s\n",
        i + 1, split.held_out[i].prompt.c_str(), verdict(before.answers[i]).c_str(),
        before.answers[i].text.c_str(), verdict(after.answers[i]).c_str(),
        after.answers[i].text.c_str());
}

// The demo's recipe, with the data that the demo makes itself in the run's folder.
train::Recipe demo_recipe(const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides)
    if (text.starts_with("data.train") || text.starts_with("data.eval"))
      throw UsageError("the demo makes its own data; to train on yours: hone train RECIPE {}",
                       text);
  train::Recipe recipe = train::load_recipe("smollm2_135m_lora_cpu", overrides);
  const std::filesystem::path folder = recipe.save.dir;
  recipe.data.train = {{.path = (folder / "train.jsonl").string()}};
  recipe.data.eval = {{.path = (folder / "validation.jsonl").string()}};
  return recipe;
}

// Was what the folder holds made by a demo? Its recipe names the data that a demo makes there.
bool holds_demo(const train::Recipe& recipe) try {
  train::Recipe there;
  read_fields(read_yaml(std::filesystem::path(recipe.save.dir) / "recipe.yaml"), there);
  return there.data.train == recipe.data.train;
} catch (const Error&) {
  return false;
}

int run(const Options& o) {
  const train::Recipe recipe = demo_recipe(o.overrides);
  if (recipe.resume == "never" && holds_demo(recipe)) train::clear_run(recipe.save.dir);
  static_cast<void>(train::RunFolder(recipe));  // says at once when it is not to be had
  const verilog::Split split = verilog::make_split();
  check_tasks(split);
  write_examples(recipe.data.train.front().path, split.training);
  write_examples(recipe.data.eval.front().path, split.validation);

  engine::Model model = open_for_training(recipe);
  const engine::Language language = engine::Language::of(model.files);
  const Score before = score(model, language, split);
  const train::Report report = run_training(model, load_training_data(language, recipe), recipe);
  nlohmann::ordered_json json = report_json(report);
  json["pass_before"] = before.held_out;
  json["pass_unseen_before"] = before.unseen;
  write_report(recipe, json);
  if (report.stopped) return end_stopped(report);
  const Score after = score(model, language, split);
  json["pass_after"] = after.held_out;
  json["pass_unseen_after"] = after.unseen;
  write_report(recipe, json);

  show(split, before, after);
  std::printf("\n%-34s %8s %8s\n", "", "before", "after");
  std::printf("%-34s %8.4f %8.4f\n", "validation loss", report.val_loss_before.value_or(0),
              report.val_loss_after.value_or(0));
  const auto row = [](const char* what, size_t of, int64_t first, int64_t last) {
    std::printf("%-34s %5lld/%zu %5lld/%zu\n", what, static_cast<long long>(first), of,
                static_cast<long long>(last), of);
  };
  row("pass, unseen prompts, trained kinds", split.held_out.size(), before.held_out,
      after.held_out);
  row("pass, kinds never trained", split.unseen.size(), before.unseen, after.unseen);
  std::printf("\n%lld steps at %.0f tokens/s; adapter: %s\n", static_cast<long long>(report.steps),
              report.tokens_per_second, report.adapter_dir.c_str());
  return 0;
}

}  // namespace

extern const Command kDemo =
    command<run>("demo", "fine-tune a small model on Verilog and measure it",
                 {"hone demo", "hone demo length.steps=20 save.dir=runs/short"});

}  // namespace hone::cli
