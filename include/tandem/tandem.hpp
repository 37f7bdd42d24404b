// The core library: all topics. A header directly in tandem/ is public, has one topic and is complete for it; those in
// folders are not for users. Include the narrowest one that serves: in header-only mode a topic costs what it contains.
// Not here: cuda.hpp, testing.hpp (namespace `test`) and the optional components (io.hpp, train.hpp, data.hpp, ...), so
// that a program's own test(), train() and io() do not clash with these names.
#pragma once
#include "tandem/function.hpp"
#include "tandem/layers.hpp"
#include "tandem/losses.hpp"
#include "tandem/metrics.hpp"
#include "tandem/nn.hpp"
#include "tandem/optimizers.hpp"
#include "tandem/tensor.hpp"
