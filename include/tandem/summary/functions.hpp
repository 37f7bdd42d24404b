// Summaries of the scope's writer, as in tf.summary: they write to the FileWriter that as_default() has made this
// thread's. Without one they do nothing and return false, so that a library can call them in any program. Part of the
// component tandem::summary. What each of them takes and throws: the method of FileWriter with its name.
#pragma once
#include <concepts>
#include <type_traits>

#include "tandem/core/scope.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/train/any_function.hpp"

namespace TANDEM_NS::summary {

/// Sets the step of this thread's summaries that are not given one.
inline void set_step(std::optional<i64> step) { detail::default_step() = step; }
inline std::optional<i64> get_step() { return detail::default_step(); }
/// Whether this thread has a default writer.
inline bool has_default_writer() { return detail::default_writer() != nullptr; }

/// The scope of record_if.
class TANDEM_API RecordIf {
 public:
  explicit RecordIf(train::AnyFunction<bool()> condition);
  RecordIf(const RecordIf&) = delete;
  RecordIf& operator=(const RecordIf&) = delete;
  ~RecordIf();
  bool holds() const { return condition_(); }

 private:
  const train::AnyFunction<bool()> condition_;
  const RecordIf* const outer_;
};
/// Makes this thread's summaries of values depend on a condition, until the end of the returned object's scope: bool,
/// or a function that is asked at each summary. Of several, the innermost counts. Graphs, hyperparameters and
/// embeddings are written all the same.
///
///   const auto every_100 = summary::record_if([&] { return step % 100 == 0; });
template <class C>
  requires std::same_as<C, bool> || std::is_invocable_r_v<bool, C&>
[[nodiscard]] RecordIf record_if(C condition) {
  if constexpr (std::same_as<C, bool>) return RecordIf([condition] { return condition; });
  else return RecordIf(condition);
}
/// Whether summaries of values on this thread are written: there is a default writer, and the condition of record_if
/// holds.
TANDEM_API bool should_record_summaries();

namespace detail {
// The tag has the name scopes in front, as in TensorFlow.
template <class F>
bool with_default_writer(std::string_view tag, const F& write) {
  if (!should_record_summaries()) return false;
  FileWriter* const writer = default_writer();
  if (context.scope) write(*writer, std::string_view(scoped_name(std::string(tag))));
  else write(*writer, tag);
  return true;
}
}  // namespace detail

///   returns  whether it was written; so do those below
inline bool scalar(std::string_view tag, Scalar value, const SummaryOptions& options = {}) {
  return detail::with_default_writer(tag, [&](FileWriter& w, std::string_view t) { w.scalar(t, value, options); });
}
inline bool scalar(std::string_view tag, const Tensor& value, const SummaryOptions& options = {}) {
  return detail::with_default_writer(tag, [&](FileWriter& w, std::string_view t) { w.scalar(t, value, options); });
}
inline bool histogram(std::string_view tag, const Tensor& values, const HistogramOptions& options = {}) {
  return detail::with_default_writer(tag, [&](FileWriter& w, std::string_view t) { w.histogram(t, values, options); });
}
inline bool image(std::string_view tag, const Tensor& images, const ImageOptions& options = {}) {
  return detail::with_default_writer(tag, [&](FileWriter& w, std::string_view t) { w.image(t, images, options); });
}
inline bool text(std::string_view tag, std::string_view value, const SummaryOptions& options = {}) {
  return detail::with_default_writer(tag, [&](FileWriter& w, std::string_view t) { w.text(t, value, options); });
}
inline bool text(std::string_view tag, const Tensor& texts, const SummaryOptions& options = {}) {
  return detail::with_default_writer(tag, [&](FileWriter& w, std::string_view t) { w.text(t, texts, options); });
}
inline bool audio(std::string_view tag, const Tensor& waves, i64 sample_rate, const AudioOptions& options = {}) {
  return detail::with_default_writer(
      tag, [&](FileWriter& w, std::string_view t) { w.audio(t, waves, sample_rate, options); });
}
inline bool pr_curve(std::string_view tag, const Tensor& labels, const Tensor& predictions,
                     const PrCurveOptions& options = {}) {
  return detail::with_default_writer(
      tag, [&](FileWriter& w, std::string_view t) { w.pr_curve(t, labels, predictions, options); });
}
/// The following have no tag, and no step.
inline bool graph(const ConcreteFunction& function) {
  FileWriter* const writer = detail::default_writer();
  if (writer) writer->graph(function);
  return writer != nullptr;
}
inline bool hparams(const HParams& values, const HParamsOptions& options = {}) {
  FileWriter* const writer = detail::default_writer();
  if (writer) writer->hparams(values, options);
  return writer != nullptr;
}
inline bool hparams_config(const std::vector<HParam>& values, const std::vector<HParamMetric>& metrics) {
  FileWriter* const writer = detail::default_writer();
  if (writer) writer->hparams_config(values, metrics);
  return writer != nullptr;
}
inline bool embedding(std::string_view name, const Tensor& embeddings, const EmbeddingOptions& options = {}) {
  FileWriter* const writer = detail::default_writer();
  if (writer) writer->embedding(name, embeddings, options);
  return writer != nullptr;
}

}  // namespace TANDEM_NS::summary
