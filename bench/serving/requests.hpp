// The requests of the benchmarks of serving, and what half plus two answers to them.
#pragma once
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "tandem/io/wire.hpp"
#include "tandem/saved_model.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tandem/tandem.hpp"

namespace bench {

inline constexpr const char* predict_path = "/tensorflow.serving.PredictionService/Predict";
inline constexpr const char* infer_answer =
    R"({"model_name":"half","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[3],"data":[2.5,3.0,4.5]}]})";

/// A PredictRequest with the input x.
inline std::string predict_request(const std::string& model, const tandem::Tensor& x) {
  std::string input, r;
  tandem::io::detail::append_field(input, 1, "x");
  tandem::serving::impl::append_tensor(input, 2, x);
  tandem::serving::impl::append_model_spec(r, 1, {.name = model, .signature = ""});
  tandem::io::detail::append_field(r, 2, input);
  return r;
}
/// The ModelInferRequest of the Open Inference Protocol, and its method.
inline constexpr const char* model_infer_path = "/inference.GRPCInferenceService/ModelInfer";
inline std::string model_infer_request() {
  using namespace tandem::io::detail;
  constexpr float x[] = {1, 2, 5};
  std::string r;
  append_field(r, 1, "half");
  append_message(r, 5, [&] {
    append_field(r, 1, "x");
    append_field(r, 2, "FP32");
    append_field(r, 3, "\x03");
  });
  append_field(r, 7, std::string_view(reinterpret_cast<const char*>(x), sizeof x));
  return r;
}
inline std::string post_request(const std::string& path, const std::string& body) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", path,
      body.size(), body);
}
inline std::string infer_request() {
  return post_request("/v2/models/half/infer",
                      R"({"inputs":[{"name":"x","shape":[3],"datatype":"FP32","data":[1.0,2.0,5.0]}]})");
}
/// Saves x / 2 + 2.
inline void save_half(const std::string& directory) {
  const tandem::Variable a(0.5f), b(2.f);
  const auto f = tandem::function([&](const tandem::Tensor& x) { return a * x + b; });
  tandem::saved_model::save(
      directory,
      {{"serving_default", tandem::saved_model::predict(f, {{"x", {{tandem::none}, tandem::float32}}}, {"y"})}});
}

}  // namespace bench
