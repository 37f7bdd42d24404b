// layers::StringLookup, where the component tandem::strings is built.
#pragma once
#if TANDEM_WITH_STRINGS
#include "tandem/strings/lookup_layer.hpp"
#include "tandem/strings/text_vectorization.hpp"
#endif
