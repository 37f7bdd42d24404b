// What a checkpoint says of its model beside the values: enough to build it and to read and write its characters.
#pragma once
#include <tandem/train.hpp>

#include <string>

#include "model.hpp"
#include "text.hpp"

tandem::train::Metadata describe(const ModelOptions& model, const Vocabulary& vocabulary);
/// What describe() wrote. throws std::runtime_error for a safetensors file of anybody else
tandem::train::Metadata description_of(const std::string& checkpoint);
ModelOptions model_of(const tandem::train::Metadata& description);
