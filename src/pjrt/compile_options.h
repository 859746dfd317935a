// What a module is compiled for, and its protobuf bytes.
//
// Written by hand: a dozen fields do not justify a protobuf dependency.
// Field numbers: xla/pjrt/proto/compile_options.proto.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace hone::pjrt {

using XlaFlag = std::variant<std::string, bool, int64_t, double>;

struct CompileOptions {
  int replicas = 1;
  int partitions = 1;       // above 1: SPMD partitioning by Shardy's annotations (sdy.sharding)
  int device_ordinal = -1;  // -1: the plugin's default device
  // XLA's debug options by name, such as {"xla_cpu_enable_fast_math", false}.
  std::map<std::string, XlaFlag> xla_flags;
};

// CompileOptionsProto; the same options give the same bytes.
std::string serialize(const CompileOptions& options);

}  // namespace hone::pjrt
