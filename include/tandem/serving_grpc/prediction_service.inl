// Definitions of serving_grpc/methods.hpp: tensorflow.serving.PredictionService.
#pragma once
#include <algorithm>
#include <optional>

#include "tandem/serving/examples_proto.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tandem/serving_grpc/methods.hpp"

namespace TANDEM_NS::serving::impl {

using io::detail::append_field;
using io::detail::append_integer;
using io::detail::append_message;
using io::detail::WireReader;
using io::detail::WireType;

TANDEM_INLINE std::string Methods::predict(std::string_view message, const CallInfo& call) const {
  Request r = parse_predict_request(message, most_bytes_);
  r.call = call.call, r.protocol = "grpc";
  return predict_response(r.model, ask(r));
}

TANDEM_INLINE Response run_examples(Core& core, const ModelSpec& model, const Tensor& examples, const char* method,
                                    const CallInfo& call) {
  Request r{.model = model, .inputs = {}, .method = method, .call = call.call, .protocol = "grpc"};
  r.inputs.emplace("inputs", examples);
  return core.predict(r);
}
[[noreturn]] TANDEM_INLINE void raise_examples(const char* method) {
  errors::raise<errors::InternalError>("serving",
                                       std::string("the outputs are not those of a ") + method + " signature");
}
TANDEM_INLINE Tensor output_named(const NamedTensors& outputs, const char* name) {
  const auto at = outputs.find(name);
  return at == outputs.end() ? Tensor() : at->second.cpu();
}

// Appends a field that is a ClassificationResult.
TANDEM_INLINE void append_classification(std::string& to, std::uint32_t field, const NamedTensors& outputs) {
  const Tensor classes = output_named(outputs, "classes"), scores = output_named(outputs, "scores");
  const Tensor& any = classes.is_set() ? classes : scores;
  if (!any.is_set() || any.rank() != 2 || (classes.is_set() && classes.dtype() != DType::string) ||
      (scores.is_set() && (scores.dtype() != float32 || !(scores.shape() == any.shape()))))
    raise_examples("classify");
  const i64 rows = any.shape().dim(0), n = any.shape().dim(1);
  append_message(to, field, [&] {
    for (i64 row = 0; row < rows; ++row)
      append_message(to, 1, [&] {
        for (i64 i = row * n; i < (row + 1) * n; ++i)
          append_message(to, 1, [&] {
            if (classes.is_set()) append_field(to, 1, static_cast<const Bytes*>(classes.raw())[i].view());
            if (scores.is_set()) io::detail::append_fixed(to, 2, static_cast<const float*>(scores.raw())[i]);
          });
      });
  });
}
// A RegressionResult.
TANDEM_INLINE void append_regression(std::string& to, std::uint32_t field, const NamedTensors& outputs) {
  const Tensor t = output_named(outputs, "outputs");
  if (!t.is_set() || t.dtype() != float32 || !(t.rank() == 1 || (t.rank() == 2 && t.shape().dim(1) == 1)))
    raise_examples("regress");
  append_message(to, field, [&] {
    for (i64 i = 0; i < t.size(); ++i)
      append_message(to, 1, [&] { io::detail::append_fixed(to, 1, static_cast<const float*>(t.raw())[i]); });
  });
}
TANDEM_INLINE ModelSpec answered(ModelSpec model, i64 version) {
  model.version = version, model.label.clear();
  if (model.signature.empty()) model.signature = "serving_default";
  return model;
}

TANDEM_INLINE std::string Methods::classify(std::string_view message, const CallInfo& call) const {
  const ExamplesRequest r = parse_examples_request(message, "ClassificationRequest");
  const Response response =
      run_examples(core_, r.model, parse_examples(r.input, most_bytes_), saved_model::classify_method, call);
  std::string to;
  append_classification(to, 1, response.outputs);
  append_model_spec(to, 2, answered(r.model, response.version));
  return to;
}
TANDEM_INLINE std::string Methods::regress(std::string_view message, const CallInfo& call) const {
  const ExamplesRequest r = parse_examples_request(message, "RegressionRequest");
  const Response response =
      run_examples(core_, r.model, parse_examples(r.input, most_bytes_), saved_model::regress_method, call);
  std::string to;
  append_regression(to, 1, response.outputs);
  append_model_spec(to, 2, answered(r.model, response.version));
  return to;
}

struct InferenceTask {
  ModelSpec model;
  std::string method;
};
TANDEM_INLINE InferenceTask parse_inference_task(std::string_view message) {
  InferenceTask task;
  WireReader in(message);
  while (in.next()) {
    if (in.is(1, WireType::bytes)) task.model = parse_model_spec(in.bytes());
    else if (in.is(2, WireType::bytes)) task.method = in.bytes();
  }
  if (!in.ok()) refuse_message("InferenceTask");
  if (task.method != saved_model::classify_method && task.method != saved_model::regress_method)
    errors::raise<errors::UnimplementedError>("serving",
                                              "Unsupported signature method_name: " + task.method.substr(0, 255));
  return task;
}
// The answer to all tasks. Nothing if the version that has answered the first one is unloaded before another that means
// it; then the tasks must begin again, unless this is the last try.
TANDEM_INLINE std::optional<std::string> run_tasks(Core& core, const std::vector<InferenceTask>& tasks,
                                                   const Tensor& examples, const CallInfo& call, bool is_last_try) {
  std::string to;
  std::optional<i64> version;  // of the first task: the answer does not mix two
  for (const InferenceTask& task : tasks) {
    ModelSpec model = task.model;
    const bool is_bound = version && !model.version && model.label.empty();
    if (is_bound) model.version = version;
    const bool is_classify = task.method == saved_model::classify_method;
    const char* const method = is_classify ? saved_model::classify_method : saved_model::regress_method;
    Response r;
    try {
      r = run_examples(core, model, examples, method, call);
    } catch (const errors::NotFoundError&) {
      if (!is_bound || is_last_try) throw;
      return {};
    }
    if (!version) version = r.version;
    append_message(to, 1, [&] {
      append_model_spec(to, 1, answered(task.model, r.version));
      if (is_classify) append_classification(to, 2, r.outputs);
      else append_regression(to, 3, r.outputs);
    });
  }
  return to;
}
TANDEM_INLINE std::string Methods::multi_inference(std::string_view message, const CallInfo& call) const {
  std::vector<InferenceTask> tasks;
  std::string_view input;
  WireReader in(message);
  constexpr std::size_t most_tasks = 64;  // each one runs a model on all examples
  while (in.next()) {
    if (in.is(2, WireType::bytes)) input = in.bytes();
    if (!in.is(1, WireType::bytes)) continue;
    if (tasks.size() == most_tasks)
      errors::raise<errors::InvalidArgumentError>("serving", "a MultiInferenceRequest has at most 64 tasks");
    tasks.push_back(parse_inference_task(in.bytes()));
  }
  if (!in.ok()) refuse_message("MultiInferenceRequest");
  const auto is_other = [&](const InferenceTask& t) { return t.model.name != tasks[0].model.name; };
  if (std::any_of(tasks.begin(), tasks.end(), is_other))
    errors::raise<errors::InvalidArgumentError>(
        "serving", "All ModelSpecs in a MultiInferenceRequest must access the same model name.");
  const Tensor examples = parse_examples(input, most_bytes_);
  constexpr int most_tries = 3;
  for (int i = 1;; ++i)
    if (std::optional<std::string> answer = run_tasks(core_, tasks, examples, call, i == most_tries))
      return std::move(*answer);
}

}  // namespace TANDEM_NS::serving::impl
