// libFuzzer target: any bytes given to the checkpoint reader are read or refused with a DataLossError, nothing else.
#include <cstddef>
#include <cstdint>

#include "tandem/io/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = tandem::io::parse_safetensors(reinterpret_cast<const char*>(data), size, "fuzz");
    for (const auto& t : file.tensors) (void)to_string(t.tensor);
  } catch (const tandem::errors::DataLossError&) {
  }
  return 0;
}
