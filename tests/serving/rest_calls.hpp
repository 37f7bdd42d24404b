// Calls of serving::Rest, and a model server to call.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tests/serving/memory_core.hpp"

namespace testing {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Refers to its arguments: for one call of handle().
inline tandem::serving::HttpRequest request(const std::string& method, const std::string& target,
                                            const Headers& headers = {}, const std::string& body = {}) {
  tandem::serving::HttpRequest r{method, target};
  for (const auto& [name, value] : headers) r.headers.emplace_back(name, value);
  r.body = body;
  return r;
}
inline std::string header(const tandem::serving::HttpAnswer& a, const std::string& name) {
  for (const auto& [key, value] : a.headers)
    if (key == name) return value;
  return "";
}
// Two versions of x / 2 + 2.
struct Half {
  MemoryCore core;
  tandem::serving::Rest rest;
  explicit Half(const tandem::serving::RestOptions& options = {}) : rest(core, options) {
    core.models_by_name["half"] = {{1, half_plus_two()}, {3, half_plus_two()}};
    core.labels["half"] = {{"stable", 1}};
  }
  tandem::serving::HttpAnswer get(const std::string& target, const Headers& headers = {}) {
    return rest.handle(request("GET", target, headers));
  }
  tandem::serving::HttpAnswer post(const std::string& target, const std::string& body, const Headers& headers = {}) {
    return rest.handle(request("POST", target, headers, body));
  }
  // Makes the model raise.
  template <class F>
  void raise(F f) {
    for (auto& [version, servable] : core.models_by_name["half"])
      servable.run = [f](const std::string&, const Servable::NamedTensors& in, const tandem::CallOptions& call) {
        f(call);
        return in;
      };
  }
};
inline constexpr const char* predict_path = "/v1/models/half:predict";
inline constexpr const char* three_rows = R"({"instances": [1.0, 2.0, 5.0]})";

}  // namespace testing
