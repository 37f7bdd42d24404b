// Descriptors of the protocols that the gRPC server speaks (google/protobuf/descriptor.proto), made from their texts
// (proto_texts.hpp). For the definitions of serving_grpc.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// The files, and what is declared in them.
class Descriptors {
 public:
  /// Reads proto_texts.
  Descriptors();

  struct File {
    std::string path;
    std::string descriptor;                 // a FileDescriptorProto, byte for byte what protoc writes
    std::vector<std::string> dependencies;  // the paths of what it imports
  };
  /// A file by its path; null if there is none.
  const File* file(std::string_view path) const;
  /// The file that declares a message, an enum, a service, a method or a field, "tensorflow.TensorProto"; null if there
  /// is none.
  const File* file_of(std::string_view symbol) const;
  /// The names of the services, "grpc.health.v1.Health".
  const std::vector<std::string>& services() const { return services_; }

 private:
  std::vector<File> files_;
  std::vector<std::string> services_;
  std::map<std::string, std::size_t, std::less<>> symbols_;  // to the index of their files
};

}  // namespace TANDEM_NS::serving::impl
