// The protocols that the gRPC server speaks, as .proto files: the packages, names and numbers of TensorFlow Serving,
// the Open Inference Protocol, and gRPC's health and reflection services. Fields that are not used are left out. Server
// reflection sends these files (descriptors.hpp); the table of methods is checked against them
// (tests/serving_grpc/reflection_test.cpp).
#pragma once
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

struct ProtoText {
  std::string_view path, text;
};

/// Each file comes after those that it imports.
inline constexpr ProtoText proto_texts[] = {{"google/protobuf/any.proto", R"(syntax = "proto3";
package google.protobuf;
message Any { string type_url = 1; bytes value = 2; }
)"},
                                            {"google/protobuf/wrappers.proto", R"(syntax = "proto3";
package google.protobuf;
message Int64Value { int64 value = 1; }
)"},
                                            {"tandem/tensorflow.proto", R"(syntax = "proto3";
package tensorflow;
enum DataType {
  DT_INVALID = 0; DT_FLOAT = 1; DT_DOUBLE = 2; DT_INT32 = 3; DT_UINT8 = 4; DT_INT16 = 5; DT_INT8 = 6; DT_STRING = 7;
  DT_COMPLEX64 = 8; DT_INT64 = 9; DT_BOOL = 10; DT_QINT8 = 11; DT_QUINT8 = 12; DT_QINT32 = 13; DT_BFLOAT16 = 14;
  DT_UINT16 = 17; DT_COMPLEX128 = 18; DT_HALF = 19; DT_UINT32 = 22; DT_UINT64 = 23;
}
message TensorShapeProto {
  message Dim { int64 size = 1; string name = 2; }
  repeated Dim dim = 2;
  bool unknown_rank = 3;
}
message TensorProto {
  DataType dtype = 1;
  TensorShapeProto tensor_shape = 2;
  bytes tensor_content = 4;
  repeated float float_val = 5;
  repeated double double_val = 6;
  repeated int32 int_val = 7;
  repeated bytes string_val = 8;
  repeated float scomplex_val = 9;
  repeated int64 int64_val = 10;
  repeated bool bool_val = 11;
  repeated double dcomplex_val = 12;
  repeated int32 half_val = 13;
  repeated uint32 uint32_val = 16;
  repeated uint64 uint64_val = 17;
}
message TensorInfo { string name = 1; DataType dtype = 2; TensorShapeProto tensor_shape = 3; }
message SignatureDef { map<string, TensorInfo> inputs = 1; map<string, TensorInfo> outputs = 2; string method_name = 3; }
message BytesList { repeated bytes value = 1; }
message FloatList { repeated float value = 1; }
message Int64List { repeated int64 value = 1; }
message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
message Features { map<string, Feature> feature = 1; }
message Example { Features features = 1; }
)"},
                                            {"tandem/tensorflow_serving.proto", R"(syntax = "proto3";
package tensorflow.serving;
import "google/protobuf/any.proto";
import "google/protobuf/wrappers.proto";
import "tandem/tensorflow.proto";
message ModelSpec {
  string name = 1;
  oneof version_choice { google.protobuf.Int64Value version = 2; string version_label = 4; }
  string signature_name = 3;
}
message PredictRequest {
  ModelSpec model_spec = 1;
  map<string, TensorProto> inputs = 2;
  repeated string output_filter = 3;
}
message PredictResponse { map<string, TensorProto> outputs = 1; ModelSpec model_spec = 2; }
message ExampleList { repeated Example examples = 1; }
message ExampleListWithContext { repeated Example examples = 1; Example context = 2; }
message Input { oneof kind { ExampleList example_list = 1; ExampleListWithContext example_list_with_context = 2; } }
message Class { string label = 1; float score = 2; }
message Classifications { repeated Class classes = 1; }
message ClassificationResult { repeated Classifications classifications = 1; }
message ClassificationRequest { ModelSpec model_spec = 1; Input input = 2; }
message ClassificationResponse { ClassificationResult result = 1; ModelSpec model_spec = 2; }
message Regression { float value = 1; }
message RegressionResult { repeated Regression regressions = 1; }
message RegressionRequest { ModelSpec model_spec = 1; Input input = 2; }
message RegressionResponse { RegressionResult result = 1; ModelSpec model_spec = 2; }
message InferenceTask { ModelSpec model_spec = 1; string method_name = 2; }
message InferenceResult {
  ModelSpec model_spec = 1;
  oneof result { ClassificationResult classification_result = 2; RegressionResult regression_result = 3; }
}
message MultiInferenceRequest { repeated InferenceTask tasks = 1; Input input = 2; }
message MultiInferenceResponse { repeated InferenceResult results = 1; }
message SignatureDefMap { map<string, SignatureDef> signature_def = 1; }
message GetModelMetadataRequest { ModelSpec model_spec = 1; repeated string metadata_field = 2; }
message GetModelMetadataResponse { ModelSpec model_spec = 1; map<string, google.protobuf.Any> metadata = 2; }
message StatusProto { int32 error_code = 1; string error_message = 2; }
message ModelVersionStatus {
  enum State { UNKNOWN = 0; START = 10; LOADING = 20; AVAILABLE = 30; UNLOADING = 40; END = 50; }
  int64 version = 1;
  State state = 2;
  StatusProto status = 3;
}
message GetModelStatusRequest { ModelSpec model_spec = 1; }
message GetModelStatusResponse { repeated ModelVersionStatus model_version_status = 1; }
message FileSystemStoragePathSourceConfig {
  message ServableVersionPolicy {
    message Latest { uint32 num_versions = 1; }
    message All { }
    message Specific { repeated int64 versions = 1; }
    oneof policy_choice { Latest latest = 100; All all = 101; Specific specific = 102; }
  }
}
message ModelConfig {
  string name = 1;
  string base_path = 2;
  string model_platform = 4;
  FileSystemStoragePathSourceConfig.ServableVersionPolicy model_version_policy = 7;
  map<string, int64> version_labels = 8;
}
message ModelConfigList { repeated ModelConfig config = 1; }
message ModelServerConfig { oneof config { ModelConfigList model_config_list = 1; } }
message ReloadConfigRequest { ModelServerConfig config = 1; }
message ReloadConfigResponse { StatusProto status = 1; }
service PredictionService {
  rpc Classify(ClassificationRequest) returns (ClassificationResponse);
  rpc Regress(RegressionRequest) returns (RegressionResponse);
  rpc Predict(PredictRequest) returns (PredictResponse);
  rpc MultiInference(MultiInferenceRequest) returns (MultiInferenceResponse);
  rpc GetModelMetadata(GetModelMetadataRequest) returns (GetModelMetadataResponse);
}
service ModelService {
  rpc GetModelStatus(GetModelStatusRequest) returns (GetModelStatusResponse);
  rpc HandleReloadConfigRequest(ReloadConfigRequest) returns (ReloadConfigResponse);
}
)"},
                                            {"tandem/inference.proto", R"(syntax = "proto3";
package inference;
message ServerLiveRequest { }
message ServerLiveResponse { bool live = 1; }
message ServerReadyRequest { }
message ServerReadyResponse { bool ready = 1; }
message ModelReadyRequest { string name = 1; string version = 2; }
message ModelReadyResponse { bool ready = 1; }
message ServerMetadataRequest { }
message ServerMetadataResponse { string name = 1; string version = 2; repeated string extensions = 3; }
message ModelMetadataRequest { string name = 1; string version = 2; }
message ModelMetadataResponse {
  message TensorMetadata { string name = 1; string datatype = 2; repeated int64 shape = 3; }
  string name = 1;
  repeated string versions = 2;
  string platform = 3;
  repeated TensorMetadata inputs = 4;
  repeated TensorMetadata outputs = 5;
}
message InferParameter { oneof parameter_choice { bool bool_param = 1; int64 int64_param = 2; string string_param = 3; } }
message InferTensorContents {
  repeated bool bool_contents = 1;
  repeated int32 int_contents = 2;
  repeated int64 int64_contents = 3;
  repeated uint32 uint_contents = 4;
  repeated uint64 uint64_contents = 5;
  repeated float fp32_contents = 6;
  repeated double fp64_contents = 7;
  repeated bytes bytes_contents = 8;
}
message ModelInferRequest {
  message InferInputTensor {
    string name = 1;
    string datatype = 2;
    repeated int64 shape = 3;
    map<string, InferParameter> parameters = 4;
    InferTensorContents contents = 5;
  }
  message InferRequestedOutputTensor { string name = 1; map<string, InferParameter> parameters = 2; }
  string model_name = 1;
  string model_version = 2;
  string id = 3;
  map<string, InferParameter> parameters = 4;
  repeated InferInputTensor inputs = 5;
  repeated InferRequestedOutputTensor outputs = 6;
  repeated bytes raw_input_contents = 7;
}
message ModelInferResponse {
  message InferOutputTensor { string name = 1; string datatype = 2; repeated int64 shape = 3; }
  string model_name = 1;
  string model_version = 2;
  string id = 3;
  repeated InferOutputTensor outputs = 5;
  repeated bytes raw_output_contents = 6;
}
service GRPCInferenceService {
  rpc ServerLive(ServerLiveRequest) returns (ServerLiveResponse);
  rpc ServerReady(ServerReadyRequest) returns (ServerReadyResponse);
  rpc ModelReady(ModelReadyRequest) returns (ModelReadyResponse);
  rpc ServerMetadata(ServerMetadataRequest) returns (ServerMetadataResponse);
  rpc ModelMetadata(ModelMetadataRequest) returns (ModelMetadataResponse);
  rpc ModelInfer(ModelInferRequest) returns (ModelInferResponse);
}
)"},
                                            {"tandem/health.proto", R"(syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}
)"},
                                            {"tandem/reflection.proto", R"(syntax = "proto3";
package grpc.reflection.v1alpha;
message ExtensionRequest { string containing_type = 1; int32 extension_number = 2; }
message ServerReflectionRequest {
  string host = 1;
  oneof message_request {
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    ExtensionRequest file_containing_extension = 5;
    string all_extension_numbers_of_type = 6;
    string list_services = 7;
  }
}
message FileDescriptorResponse { repeated bytes file_descriptor_proto = 1; }
message ExtensionNumberResponse { string base_type_name = 1; repeated int32 extension_number = 2; }
message ServiceResponse { string name = 1; }
message ListServiceResponse { repeated ServiceResponse service = 1; }
message ErrorResponse { int32 error_code = 1; string error_message = 2; }
message ServerReflectionResponse {
  string valid_host = 1;
  ServerReflectionRequest original_request = 2;
  oneof message_response {
    FileDescriptorResponse file_descriptor_response = 4;
    ExtensionNumberResponse all_extension_numbers_response = 5;
    ListServiceResponse list_services_response = 6;
    ErrorResponse error_response = 7;
  }
}
service ServerReflection {
  rpc ServerReflectionInfo(stream ServerReflectionRequest) returns (stream ServerReflectionResponse);
}
)"}};

}  // namespace TANDEM_NS::serving::impl
