// plot_model: the layers of a model as boxes.
#pragma once
#include <string>

#include "tandem/module/module.hpp"
#include "tandem/plot/figure.hpp"

namespace TANDEM_NS::plot {

struct PlotModelOptions {
  std::string title = {};
  std::string description = {};  ///< for screen readers; by default the numbers of layers and parameters
};

/// Draws what Module::summary() lists: a box for each layer with its name, class, number of parameters and, once the
/// model has been called, the shape of its result; layers inside of a layer lie in its box. Arrows lead through a
/// Sequential; the order of other modules' children is that of their declaration, which says nothing of calls.
TANDEM_API Figure plot_model(const Module& model, const PlotModelOptions& options = {});

}  // namespace TANDEM_NS::plot
