// The paths of the REST interface. Part of the component tandem::serving. Not here: what they answer (rest.hpp).
#pragma once
#include <string_view>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving {

/// What a path means.
struct RestPath {
  enum Kind {
    unknown,      ///< nothing: 404
    malformed,    ///< begins as TensorFlow Serving's paths, and is none: 400
    nameless,     ///< /v1/models
    predict,      ///< /v1/models/NAME[/versions/N|/labels/L]:predict
    classify,     ///< ...:classify
    regress,      ///< ...:regress
    status,       ///< /v1/models/NAME[/versions/N|/labels/L]
    metadata,     ///< .../metadata
    server,       ///< /v2
    live,         ///< /v2/health/live
    ready,        ///< /v2/health/ready
    infer_model,  ///< /v2/models/NAME[/versions/N]
    infer_ready,  ///< .../ready
    infer,        ///< .../infer
    openapi,      ///< /openapi.json
    metrics       ///< /metrics, /monitoring/prometheus/metrics
  };
  Kind kind = unknown;
  ModelSpec model = {};

  /// Whether it is asked by POST; all others by GET.
  bool is_post() const { return kind == predict || kind == classify || kind == regress || kind == infer; }
};

/// Reads the target of a request. All but names of models and labels are matched without case, as TensorFlow Serving
/// does; names may have %-escapes; a query is passed over.
///   throws  errors::InvalidArgumentError for a version that is not a number below 2^63
TANDEM_API RestPath parse_rest_path(std::string_view target);

}  // namespace TANDEM_NS::serving
