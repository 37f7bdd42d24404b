// libFuzzer target: any bytes as the manifest of a saved model give a manifest that is written and read again as the
// same, or an error that the library documents. Inputs that do not begin as one are edits of a good one, three bytes
// each: where, and what is there instead.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tandem/saved_model.hpp"
#include "tandem/saved_model/manifest.hpp"

using namespace tandem;

namespace {

const std::string good = R"({"format":1,"producer":"tandem 0.1.0","signatures":{"serving_default":
{"method":"tensorflow/serving/predict","graph":"graphs/serving_default.graph","batch":true,
"inputs":[{"name":"x","dtype":"float32","shape":[null,3]}],"outputs":[{"name":"y","dtype":"int64","shape":[null]}]},
"classify":{"method":"tensorflow/serving/classify","graph":"graphs/c","batch":false,
"inputs":[{"name":"inputs","dtype":"string","shape":[null]}],"outputs":[{"name":"scores","dtype":"float32","shape":[null,2]}],
"features":[{"name":"f","dtype":"float32","shape":[2],"default":[0.5,1]},{"name":"s","dtype":"string","shape":[]}]}},
"files":{"graphs/serving_default.graph":{"bytes":10,"crc32c":"00000000"},"graphs/c":{"bytes":0,"crc32c":"e3069283"}}})";

std::string edited(const std::uint8_t* data, std::size_t size) {
  static constexpr const char* tokens[] = {"",
                                           "null",
                                           "-1",
                                           "1e99",
                                           "\"",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           "\\u0000",
                                           "9223372036854775807",
                                           "18446744073709551615",
                                           "..",
                                           "/",
                                           "true"};
  std::string text = good;
  for (const std::uint8_t* e = data; e + 3 <= data + size && !text.empty(); e += 3) {
    const std::size_t at = (e[0] + 256u * e[1]) % text.size();
    if (e[2] < 128) text[at] = static_cast<char>(e[2]);
    else text.replace(at, e[2] % 4u, tokens[e[2] % std::size(tokens)]);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using saved_model::impl::Manifest;
  const bool is_manifest = size > 0 && data[0] == '{';
  const std::string text = is_manifest ? std::string(reinterpret_cast<const char*>(data), size) : edited(data, size);
  try {
    const std::string again = Manifest::parse(text, "model.json").json();
    if (Manifest::parse(again, "model.json").json() != again) __builtin_trap();
  } catch (const errors::DataLossError&) {
  } catch (const errors::FailedPreconditionError&) {
  } catch (const errors::InvalidArgumentError&) {  // what is read may be too long to be written
  }
  return 0;
}
