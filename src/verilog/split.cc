#include "verilog/split.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"
#include "verilog/kinds.h"
#include "verilog/shape.h"

namespace hone::verilog {
namespace {

// FNV-1a: each kind draws from its own stream, so that a new kind leaves the others' tasks alone.
uint64_t stream(std::string_view kind) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : kind) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash ^ kSplitSeed;
}

// Draws tasks of one kind that repeat no prompt and no module text of any task drawn before.
class Source {
 public:
  Source(const Kind* kind, std::set<std::string>* seen)
      : kind_(kind), random_(stream(kind->name)), seen_(seen) {}

  Task next() {
    constexpr int kTries = 10000;
    for (int i = 0; i < kTries; ++i) {
      Task task = kind_->make(random_);
      if (held_.contains(shape(task.module)) || seen_->contains(task.prompt) ||
          seen_->contains(task.module))
        continue;
      seen_->insert(task.prompt);
      seen_->insert(task.module);
      return task;
    }
    check(false, "kind {} has too few distinct tasks", kind_->name);
    return {};
  }
  // The task's shape will not come again.
  Task hold_out() {
    Task task = next();
    held_.insert(shape(task.module));
    return task;
  }

 private:
  const Kind* kind_;
  Random random_;
  std::set<std::string>* seen_;
  std::set<std::string> held_;
};

}  // namespace

std::span<const std::string_view> unseen_kinds() {
  static constexpr std::string_view kUnseen[] = {"down_counter", "subtractor", "maximum",
                                                 "falling_edge", "shift_left"};
  return kUnseen;
}

Split make_split() {
  Split split;
  Random random(kSplitSeed);
  std::set<std::string> seen;
  std::vector<Source> sources;
  for (const Kind* kind : kinds()) {
    if (std::ranges::find(unseen_kinds(), kind->name) == unseen_kinds().end()) {
      sources.emplace_back(kind, &seen);
      continue;
    }
    Source source(kind, &seen);
    for (int64_t i = 0; i < kUnseenPerKind; ++i) split.unseen.push_back(source.next());
  }
  random.shuffle(sources);
  check(std::ssize(sources) >= kHeldOut, "only {} trained kinds", sources.size());
  for (int64_t i = 0; i < kHeldOut; ++i)
    split.held_out.push_back(sources[static_cast<size_t>(i)].hold_out());
  for (int64_t i = 0; i < kValidation; ++i)
    split.validation.push_back(sources[static_cast<size_t>(i) % sources.size()].next());
  for (Source& source : sources)
    for (int64_t i = 0; i < kTrainingPerKind; ++i) split.training.push_back(source.next());
  random.shuffle(split.training);
  return split;
}

}  // namespace hone::verilog
