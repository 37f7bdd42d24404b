// WebP images: image::decode_webp and encode_webp. The component tandem::image_webp.
#pragma once
#include "tandem/image.hpp"
#include "tandem/image_webp/webp.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/image_webp/webp.inl"
#include "tandem/tandem.hpp"
#endif
