// The page of digits_web: a field to draw in, and a bar for each digit.
#pragma once
#include <tandem/serving.hpp>

#include <vector>

/// Its files. They load nothing from elsewhere.
std::vector<tandem::serving::WebFile> page();
