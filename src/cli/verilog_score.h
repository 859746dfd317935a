// How many design tasks a model's answers solve: decoded as one batch, compiled and simulated.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/example.h"
#include "engine/generator.h"
#include "engine/language.h"
#include "verilog/simulate.h"
#include "verilog/task.h"

namespace hone::cli {

// The conversation that asks for a task, and with the answer the example to train on.
std::vector<text::Message> verilog_question(const verilog::Task& task);
data::Example verilog_example(const verilog::Task& task);

struct Answer {
  std::string text;
  verilog::Outcome outcome;
};

// One greedy answer a task. on_step is told how many tokens each answer may have so far.
std::vector<Answer> answer_tasks(engine::Generator& generator, const engine::Language& language,
                                 std::span<const verilog::Task> tasks, int64_t max_tokens,
                                 const std::function<void(int64_t step)>& on_step);

int64_t passes(std::span<const Answer> answers);

}  // namespace hone::cli
