#include "search/trial.h"

#include <algorithm>
#include <numeric>

namespace hone::search {
namespace {

bool precedes(const Space& space, const Trial& a, const Trial& b) {
  const State a_state = a.value ? a.state : State::kFailed;
  const State b_state = b.value ? b.state : State::kFailed;
  if (a_state != b_state) return a_state < b_state;
  if (a_state == State::kFailed) return false;
  if (a_state == State::kStopped && a.steps != b.steps) return a.steps > b.steps;
  return space.better(*a.value, *b.value);
}

}  // namespace

std::vector<size_t> ranking(const Space& space, std::span<const Trial> trials) {
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return precedes(space, trials[a], trials[b]); });
  return order;
}

const Trial* best_of(const Space& space, std::span<const Trial> trials) {
  const std::vector<size_t> order = ranking(space, trials);
  if (order.empty() || !trials[order[0]].value) return nullptr;
  return &trials[order[0]];
}

}  // namespace hone::search
