#include "ops/kernel_call.h"

#include <fmt/ranges.h>

#include "ir/text.h"

namespace hone {
namespace {

std::string backend_config(const Node& n) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : n.attrs) {
    if (const auto* real = std::get_if<double>(&value))
      entries.push_back(fmt::format("{} = {} : f32", key, number(DType::kF32, *real)));
    if (const auto* integer = std::get_if<int64_t>(&value))
      entries.push_back(fmt::format("{} = {} : i64", key, *integer));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

}  // namespace

std::vector<std::string> emit_kernel_or_body(const Node& n, std::string_view kernel, Args args,
                                             Emitter& e) {
  if (!e.has_kernel(kernel)) return e.statements(*n.body->graph, args, n.body->outs);
  return {e.statement(
      fmt::format("stablehlo.custom_call @{}({}) {{api_version = 4 : i32, backend_config = {}}}{}",
                  kernel, fmt::join(args, ", "), backend_config(n), signature(n)))};
}

}  // namespace hone
