// For tests: the arrays of a golden file.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "ckpt/safetensors.h"

namespace hone::train {

inline const std::filesystem::path kGolden = "tests/golden";

// Throws FileError when it is missing.
inline const ckpt::TensorView& golden_tensor(const ckpt::Safetensors& file,
                                             const std::string& name) {
  if (const ckpt::TensorView* t = file.find(name)) return *t;
  throw FileError("{} has no {}", file.path(), name);
}

template <class T>
std::vector<T> golden_values(const ckpt::Safetensors& file, const std::string& name) {
  const ckpt::TensorView& t = golden_tensor(file, name);
  if (t.bytes.size() != static_cast<size_t>(t.type.size()) * sizeof(T))
    throw FileError("{}: {} is {}", file.path(), name, t.type.str());
  std::vector<T> v(static_cast<size_t>(t.type.size()));
  std::memcpy(v.data(), t.bytes.data(), t.bytes.size());
  return v;
}

}  // namespace hone::train
