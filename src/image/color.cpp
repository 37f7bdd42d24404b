#include "tandem/image/color.inl"
#include "tandem/image/adjust.inl"
