// The metadata of a checkpoint: enough to build its model and to encode and decode its characters.
#pragma once
#include <tandem/train.hpp>

#include <string>

#include "examples/support/characters.hpp"
#include "model.hpp"

tandem::train::Metadata describe(const ModelOptions& model, const Vocabulary& vocabulary);
/// Reads what describe() wrote. throws std::runtime_error for a safetensors file that char_rnn did not write
tandem::train::Metadata description_of(const std::string& checkpoint);
ModelOptions model_of(const tandem::train::Metadata& description);
