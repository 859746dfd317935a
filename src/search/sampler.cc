#include "search/sampler.h"

#include "base/check.h"

namespace hone::search {
namespace {

constexpr int kDraws = 100;

std::vector<double> random_values(const Space& space, std::span<const Trial>, Random& random) {
  std::vector<double> numbers;
  for (const Parameter& p : space.parameters.list) numbers.push_back(p.draw(random));
  return numbers;
}

std::vector<double> grid_values(const Space& space, std::span<const Trial> done, Random&) {
  const std::vector<Parameter>& list = space.parameters.list;
  std::vector<double> numbers(list.size());
  auto left = static_cast<int64_t>(done.size());
  for (size_t i = list.size(); i-- > 0;) {
    numbers[i] = list[i].at(left % list[i].count());
    left /= list[i].count();
  }
  return numbers;
}

// Neighbouring seeds and ids must not give overlapping streams of splitmix64.
Random generator(int64_t seed, size_t id) {
  const uint64_t hashed = Random(static_cast<uint64_t>(seed)).bits();
  return Random(Random(hashed ^ id).bits());
}

}  // namespace

const Sampler kRandom{"random", random_values};
const Sampler kGrid{"grid", grid_values};

const Sampler& sampler_of(const Space& space) {
  static const Sampler* const all[] = {&kRandom, &kGrid, &kTpe};
  const std::string name = space.halves() ? space.sampler.value_or("tpe") : space.method;
  for (const Sampler* sampler : all)
    if (sampler->name == name) return *sampler;
  check_failed("no sampler " + name, std::source_location::current());
}

Suggestion suggest(const Space& space, std::span<const Trial> done, const Refusal& refusal) {
  const Sampler& sampler = sampler_of(space);
  Random random = generator(space.seed, done.size());
  Suggestion s;
  for (int draw = 0; draw < kDraws; ++draw) {
    s.numbers = sampler.suggest(space, done, random);
    s.refused = refusal(s.numbers);
    if (s.refused.empty() || &sampler == &kGrid) break;
  }
  return s;
}

}  // namespace hone::search
