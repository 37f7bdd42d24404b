// libFuzzer target: any text given to the parsers of the model server's configuration files is read or refused by an
// InvalidArgumentError, and what a --monitoring_config_file says and is written again reads as the same. Inputs are
// texts as users write them; fuzz/corpus/serving_config has some.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/base/warning.hpp"
#include "tandem/serving/config_file.hpp"

namespace {

using namespace tandem;

// As a quoted text in which every byte is an escape of three octal digits.
std::string quoted(const std::string& bytes) {
  std::string r = "\"";
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    for (const int shift : {6, 3, 0}) {
      if (shift == 6) r += '\\';
      r += static_cast<char>('0' + (b >> shift & 7));
    }
  }
  return r + '"';
}
bool are_equal(const serving::Monitoring& a, const serving::Monitoring& b) {
  return a.enable == b.enable && a.path == b.path;
}
void check_monitoring(std::string_view text) {
  const serving::Monitoring m = serving::parse_monitoring(text, "fuzz");
  if (m.path.empty()) __builtin_trap();
  const std::string enable = m.enable ? "true" : "false", path = quoted(m.path);
  const std::string proto = "prometheus_config { enable: " + enable + " path: " + path + " }";
  if (!are_equal(serving::parse_monitoring(proto, "again"), m)) __builtin_trap();
  const std::string json = R"({"prometheusConfig": {"enable": )" + enable + R"(, "path": )" + path + "}}";
  if (!are_equal(serving::parse_monitoring(json, "again"), m)) __builtin_trap();
}
template <class F>
void attempt(const F& parse) {
  try {
    parse();
  } catch (const errors::InvalidArgumentError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool is_silent = (set_warning_handler(nullptr), true);  // of fields that have no meaning
  (void)is_silent;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { check_monitoring(text); });
  attempt([&] { (void)serving::parse_model_config(text, "fuzz"); });
  attempt([&] { (void)serving::parse_batching(text, "fuzz"); });
  attempt([&] { (void)serving::parse_ssl_config(text, "fuzz"); });
  return 0;
}
