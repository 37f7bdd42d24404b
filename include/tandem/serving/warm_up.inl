// Definitions of serving/warm_up.hpp.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "tandem/base/serial_ops.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/io/tfrecord.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/mixing_node.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/rows.hpp"
#include "tandem/serving/warm_up.hpp"

namespace TANDEM_NS::serving::impl {

inline constexpr const char* warm_up_file = "assets.extra/tf_serving_warmup_requests";
inline constexpr std::size_t most_warm_up_requests = 1000;

TANDEM_INLINE std::vector<Request> warm_up_requests(const saved_model::Loaded& model) {
  std::vector<Request> r;
  std::string path;
  try {
    path = model.file(warm_up_file);
  } catch (const errors::NotFoundError&) {
    return r;  // most models have none
  }
  io::TFRecordReader records(path, {.max_record_bytes = 64 << 20});
  std::string record;
  while (r.size() < most_warm_up_requests && records.next(record))
    for (Request& request : parse_prediction_log(record)) r.push_back(std::move(request));
  return r;
}
inline const char* signature_of(const Request& r) {
  return r.model.signature.empty() ? "serving_default" : r.model.signature.c_str();
}
TANDEM_INLINE void warm_up(const saved_model::Loaded& model) {
  for (const Request& r : warm_up_requests(model)) model(signature_of(r), r.inputs);
}

// Three rows for an input of which all sizes but the first are known: numbers in [-1, 1], integers 0 and 1.
TANDEM_INLINE Tensor invented_rows(const Spec& spec) {
  Shape shape = spec.shape;
  shape.set(0, 3);
  const Tensor t = Tensor::allocate({shape, DType::float32, Device()});
  std::uint32_t state = 12345;
  for (i64 i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = static_cast<float>(state >> 8) * 0x1p-24f;
    static_cast<float*>(t.raw())[i] =
        is_floating(spec.dtype) || is_complex(spec.dtype) ? 2 * unit - 1 : std::floor(2 * unit);
  }
  return cast(t, spec.dtype);
}
TANDEM_INLINE NamedTensors invented_inputs(const saved_model::Signature& s) {
  NamedTensors r;
  for (const TensorInfo& in : s.inputs) {
    Shape rest = in.spec.shape;
    rest.erase(0);
    if (!rest.is_fully_defined() || in.spec.dtype == DType::string) return {};
    r.emplace(in.name, invented_rows(in.spec));
  }
  return r;
}
TANDEM_INLINE bool agree(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == DType::string) {
    for (i64 i = 0; i < a.size(); ++i)
      if (!(static_cast<const Bytes*>(a.raw())[i] == static_cast<const Bytes*>(b.raw())[i])) return false;
    return true;
  }
  const Tensor x = cast(a.cpu(), is_complex(a.dtype()) ? DType::complex128 : DType::float64),
               y = cast(b.cpu(), x.dtype());
  const i64 n = x.size() * (is_complex(x.dtype()) ? 2 : 1);
  const double tolerance = a.dtype() == DType::float16 || a.dtype() == DType::bfloat16 ? 0.02 : 1e-4;
  const auto *const p = static_cast<const double*>(x.raw()), *const q = static_cast<const double*>(y.raw());
  for (i64 i = 0; i < n; ++i)
    if (!(std::abs(p[i] - q[i]) <= tolerance * (1 + std::abs(p[i]))) && !(p[i] == q[i]) &&
        !(p[i] != p[i] && q[i] != q[i]))
      return false;
  return true;
}

// Rows to try a signature with, of which two differ at least: of the first request that has such rows, or invented
// ones; empty if there are none.
TANDEM_INLINE NamedTensors trial_rows(const std::string& name, const saved_model::Signature& s,
                                      const std::vector<Request>& saved) {
  const auto differ = [](const NamedTensors& x) {
    return std::any_of(x.begin(), x.end(), [](const auto& in) {
      return in.second.rank() > 0 && in.second.shape().dim(0) > 1 &&
             !agree(in.second(Slice(0, 1)), in.second(Slice(1, 2)));
    });
  };
  for (const Request& r : saved) {
    if (signature_of(r) != name) continue;
    NamedTensors x = r.inputs;
    for (auto& [input, t] : x)  // of one row of numbers others are made
      if (t.rank() > 0 && t.shape().dim(0) == 1)
        t = is_floating(t.dtype()) ? concat({t, t * 0.5, t * -1}, 0) : concat({t, t, t}, 0);
    if (differ(x)) return x;
  }
  NamedTensors x = invented_inputs(s);
  return differ(x) ? x : NamedTensors();
}
// Empty if the rows of a signature do not touch each other; or why it is not batched.
TANDEM_INLINE std::string why_not_batched(const saved_model::Loaded& model, const std::string& name,
                                          const saved_model::Signature& s, const std::vector<Request>& saved) {
  const NamedTensors inputs = trial_rows(name, s, saved);
  if (inputs.empty())
    return "it has no warm-up request with different rows, and none can be made for inputs of unknown sizes or texts";
  constexpr i64 most = 8;  // each runs alone
  const i64 rows = std::min(most, inputs.begin()->second.shape().dim(0));
  const NamedTensors some = rows_of(inputs, 0, rows);
  const auto first_of = [](const std::string& node) { return node.empty() ? node : ", first in " + node; };
  try {
    const NamedTensors together = model(name, some);
    for (i64 i = 0; i < rows; ++i) {
      const NamedTensors alone = model(name, rows_of(inputs, i, i + 1));
      for (const auto& [output, t] : alone)
        if (together.at(output).shape().dim(0) != rows || !agree(t, together.at(output)(Slice(i, i + 1))))
          return "row " + std::to_string(i) + " of its output '" + output + "' depends on the other rows of a batch" +
                 first_of(mixing_node(model, name, some, i));
    }
  } catch (const errors::CancelledError&) {
    throw;  // the server ends
  } catch (const std::exception& e) {
    return std::string("it raises for rows made to try it: ") + e.what();
  }
  return {};
}
// So many rows, which repeat those of a trial.
TANDEM_INLINE NamedTensors repeated_rows(const NamedTensors& trial, i64 rows) {
  NamedTensors r;
  for (const auto& [name, t] : trial) {
    const i64 times = (rows + t.shape().dim(0) - 1) / t.shape().dim(0);
    r.emplace(name, concat(std::vector<Tensor>(static_cast<std::size_t>(times), t), 0)(Slice(0, rows)));
  }
  return r;
}
// Whether a run on one core takes longer than so many seconds. It ends before the node that follows them.
TANDEM_INLINE bool takes_longer_on_one_core(const saved_model::Loaded& model, const std::string& name,
                                            const NamedTensors& inputs, double seconds) {
  const tandem::detail::SerialOps serial;
  double took = 0;
  try {
    timed(took, [&] { (void)model(name, inputs, {.deadline = Deadline::after(seconds)}); });
  } catch (const errors::DeadlineExceededError&) {
    return true;
  }
  return took > seconds;
}
// How long runs of 1, 2, 4 ... rows take, and from how many rows on they use all cores well.
TANDEM_INLINE void time_batches(const saved_model::Loaded& model, const std::string& name, const NamedTensors& trial,
                                i64 most, BatchFacts& facts) {
  constexpr double longest = 0.5;
  const double worth = 0.5 * (1 + std::thread::hardware_concurrency());
  const auto begin = std::chrono::steady_clock::now();
  try {
    for (i64 rows = 1;; rows = std::min(2 * rows, most)) {
      const NamedTensors x = repeated_rows(trial, rows);
      (void)model(name, x);  // makes its plan
      double seconds = 0;
      timed(seconds, [&] { (void)model(name, x); });
      facts.seconds.emplace_back(rows, seconds);
      const bool fills_cores = worth > 1 && takes_longer_on_one_core(model, name, x, worth * seconds);
      facts.fills_cores_from = !fills_cores ? INT64_MAX : std::min(facts.fills_cores_from, rows);
      if (rows == most || seconds_since(begin) > longest) break;
    }
  } catch (const errors::CancelledError&) {
    throw;  // the server ends
  } catch (const std::exception& e) {
    detail::warn(("serving: batches of the signature '" + name + "' are not timed any more: " + e.what()).c_str());
  }
}
TANDEM_INLINE Batched batchable_signatures(const std::string& model, const saved_model::Loaded& loaded,
                                           const Batching& how) {
  Batched r;
  const std::vector<Request> saved = warm_up_requests(loaded);
  for (const auto& [name, s] : loaded.signatures()) {
    const auto warn = [&, signature = name](const std::string& what, const std::string& why) {
      detail::warn(("serving: the signature '" + signature + "' of " + model + " is not " + what + ": " + why).c_str());
    };
    const std::string why = s.batch() ? why_not_batched(loaded, name, s, saved)
                                      : "not all of its inputs and outputs begin with an unknown dimension";
    if (!why.empty()) {
      warn("batched", why);
      continue;
    }
    std::string why_not_padded;
    const NamedTensors trial = trial_rows(name, s, saved);
    BatchFacts& facts = r[name];
    if (how.pad_variable_length_inputs) facts.padding = find_padding(loaded, name, s, trial, why_not_padded);
    time_batches(loaded, name, trial, how.max_batch_size, facts);
    if (!why_not_padded.empty()) warn("batched with padding", why_not_padded);
  }
  return r;
}

}  // namespace TANDEM_NS::serving::impl
