// What differs between two saved models.
#pragma once
#include <string>
#include <vector>

#include <tandem/saved_model.hpp>

/// A line for each difference: "- ..." of what only the first has, "+ ..." of what only the second has, else a
/// sentence. None if the models' manifests, which have the checksums of all files, are equal.
std::vector<std::string> differences(const tandem::saved_model::Loaded& a, const tandem::saved_model::Loaded& b);
