// Tensors from the command line: --inputs NAME=FILE.npy or NAME=JSON.
#pragma once
#include <string>
#include <utility>

#include <tandem/tensor.hpp>

/// The name and the text of "NAME=TEXT".
///   throws  std::invalid_argument for another form
std::pair<std::string, std::string> split_input(const std::string& text);

/// The tensor of a text: the file of that name, if it ends in .npy, else JSON: numbers, true, false, strings, and lists
/// of them of equal length; {"b64": "..."} is a string of any bytes.
///   spec    what the model takes: the values become its dtype, which must have them (no 1.9 for int32, no 300 for
///   int8) throws  std::invalid_argument for another text
tandem::Tensor tensor_of(const std::string& text, const tandem::Spec& spec);
