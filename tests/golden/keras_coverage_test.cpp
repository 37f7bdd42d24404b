// Every public name of Keras 3 (keras_coverage.txt: activations, constraints, initializers, layers, losses, metrics,
// optimizers, schedules, regularizers) has a case among the golden values, or a reason here why it has none.
#include <fstream>
#include <set>
#include <sstream>

#include "tests/golden/golden.hpp"
#include "tests/support/source_folder.hpp"

namespace keras_coverage_test {

using namespace ::golden;

namespace {

const char* const of_python = "an object of Python";
const char* const base = "a base class";
const char* const formula = "not offered: a formula of a few ops";
const char* const augmentation = "not offered: an augmentation of images";

const std::map<std::string, std::string> reasons{
    {"activations.celu", formula},
    {"activations.deserialize", of_python},
    {"activations.get", of_python},
    {"activations.glu", formula},
    {"activations.hard_shrink", formula},
    {"activations.hard_silu", formula},
    {"activations.hard_tanh", formula},
    {"activations.serialize", of_python},
    {"activations.soft_shrink", formula},
    {"activations.sparse_plus", formula},
    {"activations.sparse_sigmoid", formula},
    {"activations.sparsemax", "not offered: needs a sort"},
    {"activations.squareplus", "not offered: the example of CONTRIBUTING"},
    {"activations.tanh_shrink", formula},
    {"activations.threshold", formula},
    {"constraints.Constraint", base},
    {"initializers.Initializer", base},
    {"initializers.STFT", "the weights with which STFTSpectrogram begins"},
    {"layers.AugMix", augmentation},
    {"layers.AutoContrast", augmentation},
    {"layers.ContrastLimitedAdaptiveHistogramEqualization", augmentation},
    {"layers.CutMix", "another name: image::cutmix"},
    {"layers.Equalization", augmentation},
    {"layers.FlaxLayer", of_python},
    {"layers.Identity", "another name: Activation::linear"},
    {"layers.InputLayer", "part of the functional API"},
    {"layers.InputSpec", "part of the functional API"},
    {"layers.JaxLayer", of_python},
    {"layers.Lambda", "holds a C++ function"},
    {"layers.Layer", base},
    {"layers.MaxNumBoundingBoxes", augmentation},
    {"layers.MixUp", "another name: image::mixup"},
    {"layers.Pipeline", "another name: Sequential"},
    {"layers.RandAugment", augmentation},
    {"layers.RandomColorDegeneration", augmentation},
    {"layers.RandomColorJitter", augmentation},
    {"layers.RandomCrop", "differs, as its documentation says; tests/image"},
    {"layers.RandomElasticTransform", augmentation},
    {"layers.RandomErasing", augmentation},
    {"layers.RandomGaussianBlur", augmentation},
    {"layers.RandomGrayscale", augmentation},
    {"layers.RandomHue", augmentation},
    {"layers.RandomInvert", augmentation},
    {"layers.RandomPerspective", augmentation},
    {"layers.RandomPosterization", augmentation},
    {"layers.RandomSaturation", augmentation},
    {"layers.RandomSharpness", augmentation},
    {"layers.RandomShear", augmentation},
    {"layers.Solarization", augmentation},
    {"layers.StringLookup", "strings have no arrays; tests/strings has the examples of Keras"},
    {"layers.TFSMLayer", of_python},
    {"layers.TorchModuleWrapper", of_python},
    {"layers.Wrapper", base},
    {"losses.Loss", base},
    {"metrics.Metric", base},
    {"optimizers.LossScaleOptimizer", "another name: train::LossScale"},
    {"optimizers.MultiOptimizer", "an optimizer per list of Variables: apply_gradients of each"},
    {"optimizers.Optimizer", base},
    {"optimizers.OptimizerMap", "part of MultiOptimizer"},
    {"optimizers.schedules.LearningRateSchedule", base},
    {"regularizers.Regularizer", base},
};
const std::map<std::string, std::string> prefixes{{"activations", "activation."},
                                                  {"constraints", "constraint."},
                                                  {"initializers", "initializer."},
                                                  {"layers", "layer."},
                                                  {"losses", "loss."},
                                                  {"metrics", "metric."},
                                                  {"optimizers", "optimizer."},
                                                  {"regularizers", "regularizer."},
                                                  {"optimizers.schedules", "schedule."}};

std::set<std::string> names_of_cases() {
  std::set<std::string> names;
  for (const char* family : {"keras", "keras_image", "keras_strings", "keras_signal"})
    for (const auto& [name, c] : ::golden::detail::load(family)) names.insert(name.substr(0, name.find(':')));
  return names;
}
/// The names of the file that are not other names of another one.
std::set<std::string> names_of_keras() {
  std::set<std::string> names;
  std::ifstream file(testing::source_folder() + "/tests/golden/keras_coverage.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, same;
    words >> name >> same;
    if (name != "#" && same.empty()) names.insert(name);
  }
  return names;
}

}  // namespace

TEST_CASE("Keras 3: every name is compared, or has a reason") {
  const std::set<std::string> cases = names_of_cases(), keras = names_of_keras();
  REQUIRE(keras.size() > 250);
  std::size_t compared = 0;
  for (const std::string& name : keras) {
    const std::size_t dot = name.rfind('.');
    const bool has_case = cases.count(prefixes.at(name.substr(0, dot)) + name.substr(dot + 1)) > 0;
    INFO(name);
    if (has_case) CHECK(reasons.count(name) == 0);
    else if (reasons.count(name) == 0) FAIL_CHECK("neither a case of make_keras.py nor a reason");
    compared += has_case;
  }
  CHECK(compared > 180);
  for (const auto& [name, reason] : reasons) {
    INFO(name);
    CHECK(keras.count(name) == 1);
    CHECK(!reason.empty());
  }
}

}  // namespace keras_coverage_test
