// What the plugin's compiler says of a program.
#include "pjrt/executable.h"
#include "pjrt/types.h"

namespace hone::pjrt {
namespace {

// False when the plugin cannot answer this question.
template <class Args>
bool ask(const ExecutableHandle& program, PJRT_Error* (*PJRT_Api::*entry)(Args*), Args& args,
         std::string_view what) {
  args.executable = program.get();
  try {
    program.plugin().call(entry, args, what);
  } catch (const Error& e) {
    if (e.code != Code::kUnimplemented) throw;
    return false;
  }
  return true;
}

}  // namespace

std::optional<MemoryStats> Executable::memory_stats() const {
  PJRT_Executable_GetCompiledMemoryStats_Args args{};
  if (!ask(program_, &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats, args,
           "memory of a program"))
    return std::nullopt;
  return MemoryStats{.arguments = args.argument_size_in_bytes,
                     .outputs = args.output_size_in_bytes,
                     .aliased = args.alias_size_in_bytes,
                     .temporaries = args.temp_size_in_bytes,
                     .code = args.generated_code_size_in_bytes};
}

std::vector<std::pair<std::string, double>> Executable::cost_analysis() const {
  PJRT_Executable_GetCostAnalysis_Args args{};
  if (!ask(program_, &PJRT_Api::PJRT_Executable_GetCostAnalysis, args, "cost of a program"))
    return {};
  std::vector<std::pair<std::string, double>> cost;
  for (size_t i = 0; i < args.num_properties; ++i) {
    const PJRT_NamedValue& v = args.properties[i];
    const std::string name(v.name, v.name_size);
    const int type = number_of(v.type);
    if (type == PJRT_NamedValue_kFloat) cost.emplace_back(name, v.float_value);
    if (type == PJRT_NamedValue_kInt64) cost.emplace_back(name, static_cast<double>(v.int64_value));
  }
  return cost;
}

}  // namespace hone::pjrt
