#include "ckpt/gguf.h"
#include "ckpt/test_files.h"
#include "fuzz/fuzz.h"

namespace hone {
namespace {

using ckpt::test::GgufBuilder;
using ckpt::test::le;

void look_at_everything(const ckpt::Gguf& gguf) {
  for (const std::string_view key : gguf.keys()) {
    fuzz::accepts([&] { gguf.text(key); });
    fuzz::accepts([&] { gguf.integer(key); });
    fuzz::accepts([&] { gguf.real(key); });
    fuzz::accepts([&] { gguf.flag(key); });
    fuzz::accepts([&] { gguf.texts(key); });
    fuzz::accepts([&] { gguf.integers(key); });
    fuzz::accepts([&] { gguf.reals(key); });
  }
  for (const ckpt::GgufTensor& t : gguf.tensors()) {
    if (gguf.find(t.name) != &t) std::abort();
    std::vector<float> values(static_cast<size_t>(Type{DType::kF32, t.dims}.size()));
    dequantise(t.type, t.bytes, values);
  }
}

std::vector<std::string> seeds() {
  GgufBuilder values;
  values.text("general.architecture", "llama")
      .u32("general.alignment", 32)
      .flag("f", true)
      .f32("r", 1);
  values.raw("a", 0, "x").raw("b", 3, "xx").raw("c", 10, le<uint64_t>(7)).raw("d", 12, le(0.5));
  values.texts("tokenizer.ggml.tokens", {"<s>", "a", "bc"}).numbers<float>("scores", 6, {1, 2});
  values.numbers<int32_t>("types", 5, {1, 3}).numbers<uint8_t>("flags", 7, {0, 1});
  GgufBuilder tensors;
  tensors.text("k", "v");
  for (const ckpt::GgmlFormat& f : ckpt::ggml_formats())
    tensors.tensor({std::string(f.name),
                    {static_cast<uint64_t>(f.block_elements), 2},
                    static_cast<uint32_t>(f.type),
                    std::string(2 * f.block_bytes, '\x12')});
  GgufBuilder small;
  small.alignment = 8;
  small.u32("general.alignment", 8);
  small.tensor({"a", {}, 0, le(1.0f)}).tensor({"b", {2, 1, 3, 1}, 1, std::string(12, 'b')});
  return {values.build(), tensors.build(), small.build(), GgufBuilder().build()};
}

}  // namespace

const fuzz::Format& fuzz::format() {
  static const Format format{seeds(), {"GGUF", "general.alignment", "general.architecture"}};
  return format;
}

bool fuzz::run(std::span<const std::byte> bytes) {
  return accepts([&] { look_at_everything(ckpt::Gguf(bytes, "x.gguf")); });
}

}  // namespace hone
