// libFuzzer target: any bytes given to the .npz reader are read or refused by one of the errors that it declares.
#include <cstddef>
#include <cstdint>

#include "tandem/io/npz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  try {
    for (const auto& t : io::parse_npz(reinterpret_cast<const char*>(data), size, "fuzz")) (void)to_string(t.tensor);
  } catch (const errors::DataLossError&) {
  } catch (const errors::InvalidArgumentError&) {  // a dtype that a tensor cannot have
  } catch (const errors::UnimplementedError&) {    // encryption, another method
  }
  return 0;
}
