// libFuzzer target: any path and any body is answered or refused by one of the errors that the readers declare. The
// first byte of an input says what the others are: a path; a body of predict, classify or infer (whose second byte says
// how much of it is binary); a whole request, plain or compressed. What was read and is written again reads as the
// same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tandem/io.hpp"
#include "tandem/serving.hpp"
#include "tandem/tandem.hpp"

namespace {

using namespace tandem;

template <class F>
bool attempt(const F& f) {
  try {
    f();
    return true;
  } catch (const errors::InvalidArgumentError&) {
  } catch (const errors::UnimplementedError&) {  // classification
  } catch (const errors::ResourceExhaustedError&) {
  }
  return false;
}

// Returns its inputs.
class Echo final : public serving::Core {
 public:
  serving::Signatures all;
  Echo() {
    saved_model::Signature numbers, texts, examples;
    numbers.inputs = {{"x", {{none, none}, float32}}, {"i", {{none}, int64}}};
    texts.inputs = {{"s", {{none}, tandem::string}}};
    examples.inputs = {{"inputs", {{none}, tandem::string}}};
    examples.features = {{"a", io::FixedLenFeature{{2}, float32}}, {"b", io::FixedLenFeature{{}, int64}}};
    examples.method = saved_model::classify_method;
    all = {{"serving_default", texts}, {"n", numbers}, {"c", examples}};
  }
  serving::Response predict(const serving::Request& r) override { return {1, r.inputs}; }
  std::shared_ptr<const serving::Signatures> signatures(const serving::ModelSpec&, i64& version) override {
    version = 1;
    return std::make_shared<serving::Signatures>(all);
  }
  std::vector<serving::VersionStatus> states(const serving::ModelSpec&) override { return {{1}}; }
  std::vector<std::string> models() override { return {"m"}; }
  bool is_ready() override { return true; }
  bool is_ready(const serving::ModelSpec&) override { return true; }
  std::string metrics() override { return {}; }
};
Echo& core() {
  static Echo echo;
  return echo;
}

void check_predict(const std::string& json) {
  attempt([&] {
    const serving::PredictBody b = serving::read_predict(json, core().all);
    const std::string written = serving::write_predict(b.inputs, false);
    const std::string again =
        "{\"signature_name\":\"" + b.signature + "\",\"inputs\"" + written.substr(written.find(':'));
    if (serving::write_predict(serving::read_predict(again, core().all).inputs, false) != written) __builtin_trap();
  });
}
void check_examples(const std::string& json) {
  attempt([&] {
    const serving::ExamplesBody b = serving::read_examples(json, core().all);
    for (const std::string& e : b.examples.to_vector<std::string>()) (void)train::Example::parse(e);
  });
}
void check_infer(const std::string& bytes) {
  if (bytes.empty()) return;
  const std::string body = bytes.substr(1);
  const std::size_t binary = static_cast<unsigned char>(bytes[0]);
  serving::InferBody b;
  if (!attempt([&] {
        b = serving::read_infer(body, binary > body.size() ? std::nullopt : std::optional(body.size() - binary));
      }))
    return;
  attempt([&] {
    const serving::InferAnswer a = serving::write_infer("m", 1, b.inputs, b);
    std::string again = a.body;  // is a request, too
    const std::size_t at = again.find("\"outputs\"");
    again.replace(at, 9, "\"inputs\"");
    const auto json_bytes = a.json_bytes ? std::optional(*a.json_bytes - 1) : std::nullopt;
    const serving::InferBody same = serving::read_infer(again, json_bytes);
    b.id.reset();
    if (serving::write_infer("m", 1, same.inputs, b).body != serving::write_infer("m", 1, b.inputs, b).body)
      __builtin_trap();
  });
}
void check_request(const std::string& bytes, const char* coding) {
  serving::Rest rest(core(), {.cors = true, .most_request_bytes = 1 << 16});
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const std::string target = bytes.substr(0, line), body = bytes.substr(std::min(line + 1, bytes.size()));
  const std::string shorter = target.substr(0, target.find(' '));
  serving::HttpRequest r{"POST", shorter};
  r.headers = {{"Content-Encoding", coding}, {"Accept-Encoding", target}, {"X-Request-Timeout-Ms", "1000"}};
  r.body = body;
  for (const char* method : {"POST", "GET", "OPTIONS"}) {
    r.method = method;
    const serving::HttpAnswer a = rest.handle(r);
    if (a.status < 200 || a.status > 503 || (a.status == 500 && a.body.find("internal error") == a.body.npos))
      __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  static const bool is_silent = (set_warning_handler(nullptr), true);  // of internal errors
  (void)is_silent;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] & 7) {
    case 0: attempt([&] { (void)serving::parse_rest_path(bytes); }); break;
    case 1: check_predict(bytes); break;
    case 2: check_predict("{\"signature_name\":\"n\"," + bytes); break;
    case 3: check_examples(bytes); break;
    case 4: check_infer(bytes); break;
    case 5: check_request(bytes, "gzip"); break;
    default: check_request(bytes, "");
  }
  return 0;
}
