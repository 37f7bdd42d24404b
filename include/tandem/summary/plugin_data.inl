// Definitions of summary/plugin_data.hpp.
#pragma once
#include <bit>

#include "tandem/io/wire.hpp"
#include "tandem/summary/plugin_data.hpp"

namespace TANDEM_NS::summary {

namespace impl {
using io::detail::WireReader;
using io::detail::WireType;

/// Calls f for each field of a message; false if it, or f for one of them, finds it damaged.
template <class F>
bool each_field(std::string_view message, const F& f) {
  WireReader r(message);
  while (r.next())
    if (!f(r)) return false;
  return r.ok();
}
// TensorShapeProto {dim 2 {size 1}, unknown_rank 3}.
TANDEM_INLINE bool append_shape(std::string_view bytes, std::string& to) {
  std::string sizes;
  bool known = true;
  const auto size_of = [&](std::string_view dim, i64& size) {
    return each_field(dim, [&](const WireReader& d) {
      if (d.is(1, WireType::varint)) size = static_cast<i64>(d.number());
      return true;
    });
  };
  const bool ok = each_field(bytes, [&](const WireReader& r) {
    if (r.is(3, WireType::varint)) known = r.number() == 0;
    if (!r.is(2, WireType::bytes)) return true;
    i64 size = 0;
    if (!size_of(r.bytes(), size)) return false;
    sizes += (sizes.empty() ? "" : ",") + (size < 0 ? std::string("?") : std::to_string(size));
    return true;
  });
  to += (to.empty() ? "" : ", ") + (known ? "[" + sizes + "]" : std::string("?"));
  return ok;
}
// NodeDef.attr, an entry of a map {key 1, value 2 {list 1 {shape 7}}}: "_output_shapes".
TANDEM_INLINE bool parse_attribute(std::string_view bytes, GraphOp& to) {
  std::string_view key, value;
  const bool ok = each_field(bytes, [&](const WireReader& r) {
    if (r.is(1, WireType::bytes)) key = r.bytes();
    if (r.is(2, WireType::bytes)) value = r.bytes();
    return true;
  });
  if (!ok || key != "_output_shapes") return ok;
  return each_field(value, [&](const WireReader& v) {
    return !v.is(1, WireType::bytes) || each_field(v.bytes(), [&](const WireReader& list) {
      return !list.is(7, WireType::bytes) || append_shape(list.bytes(), to.outputs);
    });
  });
}
// NodeDef {name 1, op 2, input 3, attr 5}.
TANDEM_INLINE bool parse_node(std::string_view bytes, GraphOp& to) {
  return each_field(bytes, [&](const WireReader& r) {
    if (r.is(1, WireType::bytes)) to.name = r.bytes();
    if (r.is(2, WireType::bytes)) to.op = r.bytes();
    if (r.is(3, WireType::bytes)) to.inputs.emplace_back(r.bytes());
    return !r.is(5, WireType::bytes) || parse_attribute(r.bytes(), to);
  });
}

// google.protobuf.Value {number 2, string 3, bool 4}; what is of another kind is an empty text.
TANDEM_INLINE bool parse_hparam_value(std::string_view bytes, HParamValue& to) {
  return each_field(bytes, [&](const WireReader& r) {
    if (r.is(2, WireType::fixed64)) to = std::bit_cast<double>(r.number());
    if (r.is(3, WireType::bytes)) to = std::string(r.bytes());
    if (r.is(4, WireType::varint)) to = r.number() != 0;
    return true;
  });
}
// An entry of SessionStartInfo.hparams {key 1, value 2}.
TANDEM_INLINE bool parse_hparam(std::string_view bytes, HParams& to) {
  std::string name;
  HParamValue value = "";
  const bool ok = each_field(bytes, [&](const WireReader& r) {
    if (r.is(1, WireType::bytes)) name = r.bytes();
    return !r.is(2, WireType::bytes) || parse_hparam_value(r.bytes(), value);
  });
  to.insert_or_assign(std::move(name), std::move(value));
  return ok;
}
// MetricInfo {name 1 {group 1, tag 2}, display_name 3}.
TANDEM_INLINE bool parse_metric(std::string_view bytes, HParamMetric& to) {
  return each_field(bytes, [&](const WireReader& r) {
    if (r.is(3, WireType::bytes)) to.display_name = r.bytes();
    return !r.is(1, WireType::bytes) || each_field(r.bytes(), [&](const WireReader& name) {
      if (name.is(1, WireType::bytes)) to.group = name.bytes();
      if (name.is(2, WireType::bytes)) to.tag = name.bytes();
      return true;
    });
  });
}

}  // namespace impl

// GraphDef {node 1}.
TANDEM_INLINE bool parse_graph(std::string_view bytes, std::vector<GraphOp>& to) {
  to.clear();
  return impl::each_field(bytes, [&](const impl::WireReader& r) {
    return !r.is(1, impl::WireType::bytes) || impl::parse_node(r.bytes(), to.emplace_back());
  });
}
// HParamsPluginData {experiment 2 {metric_infos 5}, session_start_info 3 {hparams 1}, session_end_info 4 {status 1}}.
TANDEM_INLINE bool parse_hparams(std::string_view bytes, HParamsRecord& to) {
  to = {};
  using impl::WireReader, impl::WireType;
  return impl::each_field(bytes, [&](const WireReader& r) {
    if (r.is(2, WireType::bytes))
      return impl::each_field(r.bytes(), [&](const WireReader& experiment) {
        return !experiment.is(5, WireType::bytes) || impl::parse_metric(experiment.bytes(), to.metrics.emplace_back());
      });
    if (r.is(4, WireType::bytes))
      return impl::each_field(r.bytes(), [&](const WireReader& end) {
        for (const Status status : {Status::success, Status::failure})  // others say nothing of an end
          if (end.is(1, WireType::varint) && end.number() == static_cast<u64>(status)) to.status = status;
        return true;
      });
    return !r.is(3, WireType::bytes) || impl::each_field(r.bytes(), [&](const WireReader& start) {
      return !start.is(1, WireType::bytes) || impl::parse_hparam(start.bytes(), to.hparams);
    });
  });
}

}  // namespace TANDEM_NS::summary
