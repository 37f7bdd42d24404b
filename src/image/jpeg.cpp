#include "tandem/image/jpeg.inl"
#include "tandem/image/jpeg_write.inl"
