// The table that every operation is tested by: what goes in, how the result is built, and, where
// that is simple, what it must be. Test code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace hone {

using Numbers = std::vector<double>;

enum class Domain {
  kNormal,    // standard normal
  kPositive,  // 0.5 to 2.5
  kRows,      // integers 0, 1, 2
  kBits,      // integers 0 to 200
};

struct OpCase {
  std::string op, name;
  std::vector<Type> inputs;  // f64 inputs are differentiated, others are held
  std::function<Value(Graph&, const Values&)> build;
  Domain domain = Domain::kNormal;  // of the first inputs; integer inputs are kRows unless kBits
  std::function<Numbers(const std::vector<Numbers>&)> expected = nullptr;
};

std::vector<OpCase> op_cases();  // all of them; the parts, a file each:
void elementwise_cases(std::vector<OpCase>& all);
void conversion_cases(std::vector<OpCase>& all);
void checkpoint_cases(std::vector<OpCase>& all);
void scan_cases(std::vector<OpCase>& all);
void grouped_cases(std::vector<OpCase>& all);

inline Type f64(Dims d) { return {DType::kF64, std::move(d)}; }
inline Type s32(Dims d) { return {DType::kS32, std::move(d)}; }
inline Type u32(Dims d) { return {DType::kU32, std::move(d)}; }

}  // namespace hone
