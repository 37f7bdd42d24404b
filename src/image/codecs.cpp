#include "tandem/image/bmp.inl"
#include "tandem/image/decode.inl"
#include "tandem/image/encode.inl"
#include "tandem/image/orientation.inl"
