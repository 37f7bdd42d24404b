// Protoc: the compiler of protocol buffers as an independent reader and writer of messages. Tests skip without it.
#pragma once
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace testing {

class Protoc {
 public:
  ///   definitions  the text of a .proto file
  explicit Protoc(const std::string& definitions) { folder_.file("messages.proto", definitions); }

  static bool found() { return std::system("protoc --version > /dev/null 2>&1") == 0; }
  /// The output of protoc for an input: option is --decode=package.Message or --encode=package.Message.
  std::string run(const std::string& option, const std::string& input) const {
    folder_.file("in", input);
    const std::string command = "protoc --proto_path=" + folder_.path + " " + option + " messages.proto < " +
                                (folder_ / "in") + " > " + (folder_ / "out");
    if (std::system(command.c_str()) != 0) return "protoc failed";
    std::ifstream output(folder_ / "out", std::ios::binary);
    return {std::istreambuf_iterator<char>(output), {}};
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace testing
