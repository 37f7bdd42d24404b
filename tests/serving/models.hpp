// The models of the tests of serving.
#pragma once
#include <string>
#include <vector>

#include "tandem/serving.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tandem/tandem.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace testing {

inline const tandem::Shape any_rows{tandem::none};

/// Saves x / 2 + two as a version, with the signature "serving_default": x -> y.
inline void save_half(const std::string& directory, float two = 2) {
  const tandem::Variable half(0.5f, {.name = "half"}), b(two, {.name = "two"});
  const auto f = tandem::function([&](const tandem::Tensor& x) { return x * half + b; });
  tandem::saved_model::save(
      directory, {{"serving_default", tandem::saved_model::predict(f, {{"x", {any_rows, tandem::float32}}}, {"y"})}});
}
/// Saves a model that takes as many turns as each row says: "x" [rows] -> "y" [rows], with sums of the turns. For
/// requests that take their time.
inline void save_slow(const std::string& directory, const std::vector<std::string>& warmup = {}) {
  const auto f = tandem::function([](const tandem::Tensor& x) {
    const tandem::Tensor most = tandem::reduce_max(x);
    const auto [i, y] = tandem::while_loop(
        [&](const tandem::Tensor& i, const tandem::Tensor&) { return i < most; },
        [&](const tandem::Tensor& i, const tandem::Tensor& y) { return std::tuple(i + 1.f, y + 1.f); },
        std::tuple(tandem::constant(0.f), tandem::zeros_like(x)));
    return tandem::minimum(y, x);
  });
  tandem::saved_model::save(
      directory, {{"serving_default", tandem::saved_model::predict(f, {{"x", {any_rows, tandem::float32}}}, {"y"})}},
      {.warmup = warmup});
}

/// A tensorflow.serving.PredictionLog with a request for x -> y.
inline std::string prediction_log(const std::string& model, const std::vector<float>& x) {
  using tandem::io::detail::append_field;
  std::string input, request, predict, log;
  append_field(input, 1, "x");
  tandem::serving::impl::append_tensor(input, 2, tandem::constant(x));
  tandem::serving::impl::append_model_spec(request, 1, {.name = model});
  append_field(request, 2, input);
  append_field(predict, 1, request);
  append_field(log, 6, predict);
  return log;
}
/// A request for x -> y.
inline tandem::serving::Request request_for(const std::string& model, const std::vector<float>& x) {
  return {.model = {.name = model}, .inputs = {{"x", tandem::constant(x)}}};
}
inline std::vector<float> ask(tandem::serving::Core& core, const std::string& model, const std::vector<float>& x) {
  return core.predict(request_for(model, x)).outputs.at("y").to_vector<float>();
}
/// The value of a line of metrics that begins with `name`; -1 if there is none.
inline double metric(tandem::serving::Core& core, const std::string& name) {
  const std::string text = "\n" + core.metrics();
  const std::size_t at = text.find("\n" + name + " ");
  return at == text.npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

// The states of a model's versions, "2 AVAILABLE, 1 END".
inline std::string states(tandem::serving::Engine& engine, const std::string& model) {
  std::string r;
  for (const tandem::serving::VersionStatus& v : engine.states({model}))
    r += (r.empty() ? "" : ", ") + std::to_string(v.version) + " " + tandem::serving::name_of(v.state);
  return r;
}
// The options of a server that looks at its folders only when it is told to, and tries everything once.
inline tandem::serving::Options options_for(const std::string& folder, tandem::serving::VersionPolicy policy = {}) {
  return {.models = {{.name = "half", .base_path = folder + "/half", .policy = policy}},
          .file_system_poll_wait_seconds = 0,
          .max_num_load_retries = 0,
          .threads = 2};
}

// The options of a server of one model, on a port that is free.
inline tandem::serving::Options server_options(const std::string& folder, const std::string& model) {
  return {.models = {{.name = model, .base_path = folder + "/" + model}},
          .rest_api_port = 0,
          .drain_seconds = 0,
          .grace_seconds = 5};
}

}  // namespace testing
