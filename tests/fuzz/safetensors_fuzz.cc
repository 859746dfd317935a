#include "ckpt/safetensors.h"
#include "ckpt/test_files.h"
#include "fuzz/fuzz.h"

namespace hone {
namespace {

using ckpt::test::le;
using ckpt::test::safetensors;

// What an accepted file promises, checked again from outside.
void look_at_everything(const ckpt::Safetensors& file) {
  unsigned sum = 0;
  for (const ckpt::TensorView& t : file.tensors()) {
    if (file.find(t.name) != &t || t.bytes.size() != t.type.bytes()) std::abort();
    for (const std::byte b : t.bytes) sum += static_cast<unsigned>(b);
  }
  [[maybe_unused]] volatile unsigned seen = sum;
}

std::vector<std::string> seeds() {
  return {
      safetensors(
          R"({"__metadata__":{"format":"pt","a":"b"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
          R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]}}  )",
          std::string(22, 'x')),
      safetensors(
          R"({"e":{"dtype":"I64","shape":[0,4],"data_offsets":[0,0]},"s":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
          "x"),
      safetensors("{}"),
  };
}

// The header's length says again what the header is: up to the last brace and the spaces after it.
void repair(std::string& input, Random& random) {
  if (input.size() < 8) return;
  const size_t brace = input.rfind('}');
  if (brace == std::string::npos || brace < 8) return;
  const size_t end = std::min(input.find_first_not_of(' ', brace + 1), input.size());
  const uint64_t length = end - 8 + (random.below(32) == 0 ? 1 : 0);
  std::memcpy(input.data(), &length, sizeof length);
}

}  // namespace

const fuzz::Format& fuzz::format() {
  static const Format format{seeds(),
                             {"__metadata__",
                              "\"dtype\":",
                              "\"shape\":",
                              "\"data_offsets\":",
                              "\"F32\"",
                              "\"BOOL\"",
                              "\"F4\"",
                              "[",
                              "]",
                              "{",
                              "}",
                              ",",
                              ":",
                              "\"",
                              "\\u0000",
                              "\\ud800",
                              "null",
                              "true",
                              "[0,0]",
                              "\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"},
                             repair};
  return format;
}

bool fuzz::run(std::span<const std::byte> bytes) {
  return accepts([&] { look_at_everything(ckpt::Safetensors(bytes, "x.safetensors")); });
}

}  // namespace hone
