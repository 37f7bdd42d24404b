// Readers of the component tandem::strings: any bytes give a result or an error that the library documents.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tandem/ops/create/constant.hpp"
#include "tandem/strings.hpp"

using namespace tandem;

namespace {
template <class F>
void attempt(const F& f) {
  try {
    f();
  } catch (const errors::InvalidArgumentError&) {
  } catch (const errors::DataLossError&) {
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const Tensor x = constant(bytes);
  // What can be parsed is written back as the same bytes, but for bool_, whose bytes may be any.
  attempt([&] {
    const auto dtype = static_cast<DType>(size > 5 ? data[5] % dtype_count : 0);
    const Tensor t = io::parse_tensor(x, dtype);
    if (dtype != bool_ && io::serialize_tensor(t).item<std::string>() != bytes) __builtin_trap();
  });
  attempt([&] { io::decode_csv(x, {constant(1), constant(""), constant(2.5f)}); });
  attempt([&] { io::decode_csv(x, {constant("")}, {.use_quote_delim = false, .select_cols = {1}}); });
  attempt([&] {
    const Tensor decoded = io::decode_base64(x);
    if (io::decode_base64(io::encode_base64(decoded)).item<std::string>() != decoded.item<std::string>())
      __builtin_trap();
  });
  for (const auto from : {strings::utf8, strings::utf16_be, strings::utf32_be}) {
    const Tensor once = strings::unicode_transcode(x, from, strings::utf8);
    if (strings::unicode_transcode(once, strings::utf8, strings::utf8).item<std::string>() != once.item<std::string>())
      __builtin_trap();
  }
  attempt([&] { strings::to_number(x, float64); });
  attempt([&] { strings::to_number(x, int32); });
  attempt([&] { strings::substr(x, 1, 3, {.unit = strings::utf8_char}); });
  strings::split(x);
  strings::split(x, ",");
  return 0;
}
