// A model server: requests by TensorFlow Serving's REST interface and the Open Inference Protocol. The component
// tandem::serving.
#pragma once
#include "tandem/saved_model.hpp"
#include "tandem/serving/core.hpp"
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/json_predict.hpp"
#include "tandem/serving/request.hpp"
#include "tandem/serving/rest.hpp"
#include "tandem/serving/rest_path.hpp"
#include "tandem/serving/status.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/serving/http_coding.inl"
#include "tandem/serving/json_examples.inl"
#include "tandem/serving/json_infer.inl"
#include "tandem/serving/json_predict.inl"
#include "tandem/serving/json_reader.inl"
#include "tandem/serving/json_tensor.inl"
#include "tandem/serving/json_write.inl"
#include "tandem/serving/rest.inl"
#include "tandem/serving/rest_json.inl"
#include "tandem/serving/rest_path.inl"
#include "tandem/serving/status.inl"
#endif
