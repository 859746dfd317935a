// A model's weights on the device, by checkpoint name.
#pragma once

#include <map>
#include <string>

#include "engine/device.h"
#include "engine/model_files.h"
#include "nn/scope.h"

namespace hone::engine {

using Buffers = std::map<std::string, pjrt::Buffer, std::less<>>;

// How base.store holds weights: "f32" and "bf16" hold all of them so. "as-is" holds each as the
// file does, but the blocks of quantised GGUF files as f32. "int8" and "nf4" quantise the matrices
// of linear layers; the rest is held as the file has it.
nn::StoreRule store_rule(const std::string& store, const ModelFiles& files);

// Loads the frozen weights that `params` declares, each as its store holds it, on two threads or
// more; the device reads the one host copy where it can. Throws ConfigError, FileError.
Buffers load_weights(const Device& device, const ModelFiles& files, const nn::Params& params);

// A new array with one value everywhere; f32, i8 or u8.
pjrt::Buffer filled(const Device& device, const Type& type, double value);
pjrt::Buffer copied(const Device& device, const pjrt::Buffer& from);

}  // namespace hone::engine
