// The layers for texts, where they are built.
#pragma once
#if TANDEM_WITH_STRINGS
#include "tandem/strings/lookup_layer.hpp"
#endif
