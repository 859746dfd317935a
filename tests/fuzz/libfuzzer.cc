// Under libFuzzer half of the inputs come from its own mutations and half from ours.
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hone::fuzz::run(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  const hone::fuzz::Format& format = hone::fuzz::format();
  hone::Random random(seed);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const int64_t choice = random.below(64);
  if (choice == 0 || size < 2) bytes = random.pick(format.seeds);
  if (choice < 32) {
    hone::fuzz::Mutator(format).change(bytes, random);
  } else {
    bytes.resize(most);
    bytes.resize(
        LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), std::min(size, most), most));
    if (format.repair != nullptr && choice < 60) format.repair(bytes, random);
  }
  size = std::min(bytes.size(), most);
  std::copy_n(bytes.begin(), size, data);
  return size;
}
