// A Core for tests: models that are functions of the test, or loaded ones.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "tandem/serving.hpp"
#include "tandem/tandem.hpp"

namespace testing {

using tandem::i64;

/// One version of a model.
struct Servable {
  using NamedTensors = tandem::serving::NamedTensors;
  tandem::serving::Signatures signatures;
  std::function<NamedTensors(const std::string& signature, const NamedTensors&, const tandem::CallOptions&)> run;

  static Servable of(const tandem::saved_model::Loaded& m) {
    return {m.signatures(), [m](const std::string& s, const NamedTensors& in, const tandem::CallOptions& call) {
              return m(s, in, call);
            }};
  }
};
/// A signature without a graph.
inline tandem::saved_model::Signature signature_of(const std::vector<tandem::saved_model::TensorInfo>& inputs,
                                                   const std::vector<tandem::saved_model::TensorInfo>& outputs = {}) {
  tandem::saved_model::Signature s;
  s.inputs = inputs, s.outputs = outputs;
  return s;
}

/// Serves what it has been given. Not for several threads.
class MemoryCore : public tandem::serving::Core {
 public:
  std::map<std::string, std::map<i64, Servable>> models_by_name;
  std::map<std::string, std::map<std::string, i64>> labels;
  bool ready = true;
  tandem::serving::Request last;  // the last one that came

  tandem::serving::Response predict(const tandem::serving::Request& r) override {
    last = r;
    const auto& [version, servable] = find(r.model);
    const std::string name = r.model.signature.empty() ? "serving_default" : r.model.signature;
    const auto& s = tandem::serving::impl::signature_named(servable.signatures, name);
    if (!r.method.empty() && s.method != r.method)
      refuse<tandem::errors::InvalidArgumentError>("Expected signature method " + std::string(r.method));
    auto out = servable.run(name, r.inputs, r.call);
    if (!r.outputs.empty())
      std::erase_if(out, [&](const auto& o) {
        return std::find(r.outputs.begin(), r.outputs.end(), o.first) == r.outputs.end();
      });
    return {version, out};
  }
  std::shared_ptr<const tandem::serving::Signatures> signatures(const tandem::serving::ModelSpec& m,
                                                                i64& version) override {
    const auto& found = find(m);
    version = found.first;
    return std::make_shared<tandem::serving::Signatures>(found.second.signatures);
  }
  std::vector<tandem::serving::VersionStatus> states(const tandem::serving::ModelSpec& m) override {
    if (m.version || !m.label.empty()) return {{find(m).first, tandem::serving::State::available}};
    std::vector<tandem::serving::VersionStatus> r;
    (void)find(m);
    const auto& versions = models_by_name.at(m.name);
    for (auto v = versions.rbegin(); v != versions.rend(); ++v)
      r.push_back({v->first, tandem::serving::State::available});
    return r;
  }
  std::vector<std::string> models() override {
    std::vector<std::string> r;
    for (const auto& [name, versions] : models_by_name) r.push_back(name);
    return r;
  }
  bool is_ready() override { return ready; }
  bool is_ready(const tandem::serving::ModelSpec& m) override {
    const auto at = models_by_name.find(m.name);
    return ready && at != models_by_name.end() && (!m.version || at->second.contains(*m.version));
  }
  std::string metrics() override { return "# TYPE tandem_in_flight gauge\ntandem_in_flight 0\n"; }

 private:
  template <class E>
  [[noreturn]] static void refuse(const std::string& what) {
    tandem::errors::raise<E>("serving", what);
  }
  const std::pair<const i64, Servable>& find(const tandem::serving::ModelSpec& m) const {
    const std::string named =
        m.version ? "Specific(" + m.name + ", " + std::to_string(*m.version) + ")" : "Latest(" + m.name + ")";
    const auto at = models_by_name.find(m.name);
    if (at == models_by_name.end() || at->second.empty())
      refuse<tandem::errors::NotFoundError>("Servable not found for request: " + named);
    if (m.label.empty() && !m.version) return *at->second.rbegin();
    if (!m.label.empty() && !labels.at(m.name).contains(m.label))
      refuse<tandem::errors::NotFoundError>("Unrecognized servable version label: " + m.label);
    const auto v = at->second.find(m.version ? *m.version : labels.at(m.name).at(m.label));
    if (v == at->second.end()) refuse<tandem::errors::NotFoundError>("Servable not found for request: " + named);
    return *v;
  }
};

/// x / 2 + 2 on a batch of numbers, as the input and output named x and y.
inline Servable half_plus_two() {
  using namespace tandem;
  return {{{"serving_default", signature_of({{"x", {{none}, float32}}}, {{"y", {{none}, float32}}})}},
          [](const std::string&, const Servable::NamedTensors& in, const CallOptions&) {
            return Servable::NamedTensors{{"y", in.at("x") / 2.f + 2.f}};
          }};
}
/// Returns its inputs.
inline Servable echo(const std::vector<tandem::saved_model::TensorInfo>& inputs) {
  return {{{"serving_default", signature_of(inputs, inputs)}},
          [](const std::string&, const Servable::NamedTensors& in, const tandem::CallOptions&) { return in; }};
}

}  // namespace testing
