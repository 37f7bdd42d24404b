#include "tandem/image_webp/webp.inl"
