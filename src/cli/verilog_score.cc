#include "cli/verilog_score.h"

#include <algorithm>
#include <thread>

#include "verilog/extract.h"

namespace hone::cli {

std::vector<text::Message> verilog_question(const verilog::Task& task) {
  return {{"system", "Answer with one Verilog module."}, {"user", task.prompt}};
}

data::Example verilog_example(const verilog::Task& task) {
  data::Example example{verilog_question(task)};
  example.messages.push_back({"assistant", verilog::answer(task.module)});
  return example;
}

std::vector<Answer> answer_tasks(engine::Generator& generator, const engine::Language& language,
                                 std::span<const verilog::Task> tasks, int64_t max_tokens,
                                 const std::function<void(int64_t step)>& on_step) {
  std::vector<std::vector<int32_t>> prompts;
  for (const verilog::Task& t : tasks)
    prompts.push_back(
        text::tokenize_prompt(language.tokenizer, language.chat_template(), verilog_question(t)));
  std::vector<int64_t> made(tasks.size(), 0);
  const auto ids = generator.run(
      prompts, {.max_new_tokens = max_tokens, .sampling = {}, .stop_tokens = language.stop_tokens},
      [&](size_t row, int32_t) {
        const int64_t before = *std::ranges::max_element(made);
        if (++made[row] > before) on_step(made[row]);
        return true;
      });

  std::vector<Answer> answers;
  std::vector<std::string> modules;
  for (const auto& row : ids) {
    answers.push_back({language.tokenizer.decode(row, /*skip_special=*/true), {}});
    modules.push_back(verilog::extract_module(answers.back().text));
  }
  std::vector<verilog::Job> jobs;
  for (size_t i = 0; i < tasks.size(); ++i) jobs.push_back({modules[i], tasks[i].testbench});
  const auto threads = std::max(1U, std::thread::hardware_concurrency());
  const auto outcomes = verilog::simulate_all(jobs, static_cast<int>(threads));
  for (size_t i = 0; i < answers.size(); ++i) answers[i].outcome = outcomes[i];
  return answers;
}

int64_t passes(std::span<const Answer> answers) {
  return std::ranges::count_if(
      answers, [](const Answer& a) { return a.outcome.verdict == verilog::Verdict::kPass; });
}

}  // namespace hone::cli
