// Definitions of summary/file_writer.hpp: hyperparameters. The messages: tensorboard/plugins/hparams/api.proto and
// plugin_data.proto; TensorBoard reads them from the metadata of three tags.
#pragma once
#include <ctime>

#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/hparams.hpp"
#include "tandem/summary/values.hpp"
#include "tandem/summary/wire.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::summary {

namespace impl {

TANDEM_INLINE void append_text(std::string& to, std::uint32_t field, const std::string& text) {
  if (!tandem::detail::is_utf8(text))
    detail::refuse("hparams", tandem::detail::escaped_text(text) + " is not UTF-8, which TensorBoard could not read");
  if (!text.empty()) detail::append_field(to, field, text);
}
// google.protobuf.Value: number_value 2, string_value 3, bool_value 4.
TANDEM_INLINE void append_value(std::string& to, const HParamValue& v) {
  if (const auto* const text = std::get_if<std::string>(&v.value)) {
    append_text(to, 3, *text);
    if (text->empty()) detail::append_field(to, 3, "");  // the field says which kind it is
  } else if (const auto* const truth = std::get_if<bool>(&v.value)) {
    detail::append_integer(to, 4, *truth);
  } else {
    detail::append_fixed(to, 2, std::get<double>(v.value));
  }
}
// HParamInfo.type, as the values have it.
TANDEM_INLINE i64 type_of(const HParam& p) {
  constexpr i64 types[] = {3, 1, 2};  // FLOAT64, STRING, BOOL
  for (const HParamValue& v : p.values)
    if (v.value.index() != p.values[0].value.index())
      detail::refuse("hparams_config", "the values of '" + p.name + "' are not all of one kind");
  return p.values.empty() ? 0 : types[p.values[0].value.index()];
}
TANDEM_INLINE void append_info(std::string& to, const HParam& p) {
  detail::append_message(to, 4, [&] {
    append_text(to, 1, p.name);
    append_text(to, 3, p.description);
    const i64 type = type_of(p);
    if (!type) return;
    detail::append_integer(to, 4, type);
    detail::append_message(to, 5, [&] {
      for (const HParamValue& v : p.values) detail::append_message(to, 1, [&] { append_value(to, v); });
    });
  });
}
TANDEM_INLINE void append_metric(std::string& to, const HParamMetric& m) {
  detail::append_message(to, 5, [&] {
    detail::append_message(to, 1, [&] {
      append_text(to, 1, m.group);
      append_text(to, 2, m.tag);
    });
    append_text(to, 3, m.display_name);
  });
}
// HParamsPluginData {field: body} as the metadata of a tag whose value is empty.
TANDEM_INLINE void add_hparams(detail::Recorder& r, const char* op, std::string_view tag, const std::string& content) {
  r.add(op, tag, {.name = "hparams", .data_class = 2, .content = content}, detail::tensor_value(float32, {0}, ""), 0, 0,
        "");
}
TANDEM_INLINE double given_or_now(double seconds) {
  return seconds != 0 ? seconds : static_cast<double>(std::time(nullptr));
}

}  // namespace impl

TANDEM_INLINE HParams to_hparams(const train::HParams& parameters) {
  HParams r;
  for (const train::HParam& p : parameters.parameters())
    r.emplace(p.name, std::visit(
                          []<class T>(const T& x) -> HParamValue {
                            if constexpr (std::is_constructible_v<HParamValue, T>) return x;
                            else return to_string(train::HParamValue(x));
                          },
                          p.value.value));
  return r;
}
TANDEM_INLINE void FileWriter::hparams(const HParams& hparams, HParamsOptions o) {
  detail::check_not_traced("hparams");
  std::string to;
  detail::append_message(to, 3, [&] {
    for (const auto& entry : hparams)
      detail::append_message(to, 1, [&] {
        impl::append_text(to, 1, entry.first);
        detail::append_message(to, 2, [&] { impl::append_value(to, entry.second); });
      });
    impl::append_text(to, 4, o.trial);
    detail::append_fixed(to, 5, impl::given_or_now(o.start_seconds));
  });
  impl::add_hparams(*recorder_, "hparams", "_hparams_/session_start_info", to);
}
TANDEM_INLINE void FileWriter::hparams_config(const std::vector<HParam>& hparams,
                                              const std::vector<HParamMetric>& metrics) {
  detail::check_not_traced("hparams_config");
  std::string to;
  detail::append_message(to, 2, [&] {
    for (const HParam& p : hparams) impl::append_info(to, p);
    for (const HParamMetric& m : metrics) impl::append_metric(to, m);
  });
  impl::add_hparams(*recorder_, "hparams_config", "_hparams_/experiment", to);
}
TANDEM_INLINE void FileWriter::hparams_end(Status status) {
  detail::check_not_traced("hparams_end");
  std::string to;
  detail::append_message(to, 4, [&] {
    detail::append_integer(to, 1, static_cast<i64>(status));
    detail::append_fixed(to, 2, impl::given_or_now(0));
  });
  impl::add_hparams(*recorder_, "hparams_end", "_hparams_/session_end_info", to);
}

}  // namespace TANDEM_NS::summary
