// Layers of tandem::image against Keras 3 at inference, where the random ones return the images themselves. What they
// draw in training is tested in tests/image; RandomCrop differs from Keras, as its documentation says.
#include "tandem/image.hpp"
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"

namespace keras_image_golden_test {

using namespace ::golden;

TEST_CASE("Keras 3: layers for images") {
  check("keras_image", {GOLDEN_OP("layer.CenterCrop", layers::CenterCrop(3, 4)(x[0])),
                        GOLDEN_OP("layer.RandomRotation", layers::RandomRotation(.2)(x[0])),
                        GOLDEN_OP("layer.RandomTranslation", layers::RandomTranslation(.2, .2)(x[0])),
                        GOLDEN_OP("layer.RandomZoom", layers::RandomZoom(.2)(x[0])),
                        GOLDEN_OP("layer.RandomContrast", layers::RandomContrast(.2)(x[0])),
                        GOLDEN_OP("layer.RandomBrightness", layers::RandomBrightness(.2)(x[0]))});
}

}  // namespace keras_image_golden_test
