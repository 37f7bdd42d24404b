#include "tandem/image/png.inl"
#include "tandem/image/png_write.inl"
