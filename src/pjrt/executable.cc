#include "pjrt/executable.h"

#include "pjrt/types.h"

namespace hone::pjrt {
namespace {

constexpr std::string_view kExecute = "execute";

// Empties what was given away, however the call ends.
class GiveAway {
 public:
  void add(Buffer* given) {
    if (given != nullptr) given_.push_back(given);
  }
  ~GiveAway() {
    for (Buffer* b : given_) *b = Buffer();
  }

 private:
  std::vector<Buffer*> given_;
};

std::vector<Type> output_types(const ExecutableHandle& program) {
  PJRT_Executable_OutputElementTypes_Args elements{};
  elements.executable = program.get();
  program.plugin().call(&PJRT_Api::PJRT_Executable_OutputElementTypes, elements, "output types");
  PJRT_Executable_OutputDimensions_Args shapes{};
  shapes.executable = program.get();
  program.plugin().call(&PJRT_Api::PJRT_Executable_OutputDimensions, shapes, "output shapes");
  std::vector<Type> types;
  const int64_t* dims = shapes.dims;
  for (size_t i = 0; i < elements.num_output_types; ++i) {
    types.push_back(from_pjrt(number_of(elements.output_types[i]), {dims, shapes.dim_sizes[i]}));
    dims += shapes.dim_sizes[i];
  }
  return types;
}

int count_devices(const ExecutableHandle& program) {
  PJRT_Executable_NumReplicas_Args replicas{};
  replicas.executable = program.get();
  program.plugin().call(&PJRT_Api::PJRT_Executable_NumReplicas, replicas, "count replicas");
  PJRT_Executable_NumPartitions_Args partitions{};
  partitions.executable = program.get();
  program.plugin().call(&PJRT_Api::PJRT_Executable_NumPartitions, partitions, "count partitions");
  return static_cast<int>(replicas.num_replicas * partitions.num_partitions);
}

}  // namespace

Executable::Executable(LoadedExecutableHandle loaded) : loaded_(std::move(loaded)) {
  PJRT_LoadedExecutable_GetExecutable_Args args{};
  args.loaded_executable = loaded_.get();
  loaded_.plugin().call(&PJRT_Api::PJRT_LoadedExecutable_GetExecutable, args, "describe a program");
  program_ = ExecutableHandle(loaded_.parent(), args.executable);
  outputs_ = output_types(program_);
  num_devices_ = count_devices(program_);
}

std::vector<Buffer> Executable::execute(std::span<const Arg> args) const {
  return std::move(launch({&args, 1})[0]);
}

std::vector<std::vector<Buffer>> Executable::execute_on_all(
    std::span<const std::vector<Arg>> args) const {
  const std::vector<std::span<const Arg>> lists(args.begin(), args.end());
  return launch(lists);
}

std::vector<std::vector<Buffer>> Executable::launch(
    std::span<const std::span<const Arg>> args) const {
  GiveAway given;
  for (const std::span<const Arg> list : args)
    for (const Arg& a : list) given.add(a.given_);
  if (std::ssize(args) != num_devices_)
    throw Error(Code::kInvalidArgument, "{}: arguments for {} devices, the program has {}",
                kExecute, args.size(), num_devices_);

  const size_t num_args = args[0].size();
  std::vector<std::vector<PJRT_Buffer*>> in, out;
  std::vector<bool> lent(num_args);  // on some device
  for (const std::span<const Arg> list : args) {
    if (list.size() != num_args)
      throw Error(Code::kInvalidArgument, "{}: {} arguments for one device, {} for another",
                  kExecute, num_args, list.size());
    in.emplace_back();
    out.emplace_back(outputs_.size());
    for (size_t i = 0; i < num_args; ++i) {
      if (list[i].buffer_->empty())
        throw Error(Code::kFailedPrecondition,
                    "{}: argument {} is empty (moved, or given away to an earlier call)", kExecute,
                    i);
      in.back().push_back(list[i].buffer_->handle().get());
      if (list[i].given_ == nullptr) lent[i] = true;
    }
  }
  run(in, out, lent);

  std::vector<std::vector<Buffer>> outputs(args.size());
  for (size_t d = 0; d < args.size(); ++d)
    for (size_t i = 0; i < outputs_.size(); ++i)
      outputs[d].emplace_back(BufferHandle(loaded_.parent(), out[d][i]), outputs_[i]);
  return outputs;
}

void Executable::run(const std::vector<std::vector<PJRT_Buffer*>>& in,
                     std::vector<std::vector<PJRT_Buffer*>>& out,
                     const std::vector<bool>& lent) const {
  std::vector<int64_t> keep;
  for (size_t i = 0; i < lent.size(); ++i)
    if (lent[i]) keep.push_back(static_cast<int64_t>(i));
  std::vector<PJRT_Buffer* const*> in_lists;
  for (const auto& list : in) in_lists.push_back(list.data());
  std::vector<PJRT_Buffer**> out_lists;
  for (auto& list : out) out_lists.push_back(list.data());

  PJRT_ExecuteOptions options{};
  options.struct_size = sizeof options;
  options.non_donatable_input_indices = keep.data();
  options.num_non_donatable_input_indices = keep.size();
  PJRT_LoadedExecutable_Execute_Args call{};
  call.executable = loaded_.get();
  call.options = &options;
  call.argument_lists = in_lists.data();
  call.num_devices = in.size();
  call.num_args = lent.size();
  call.output_lists = out_lists.data();
  loaded_.plugin().call(&PJRT_Api::PJRT_LoadedExecutable_Execute, call, kExecute);
}

std::string Executable::serialize() const {
  PJRT_Executable_Serialize_Args args{};
  args.executable = program_.get();
  program_.plugin().call(&PJRT_Api::PJRT_Executable_Serialize, args, "serialise a program");
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

}  // namespace hone::pjrt
