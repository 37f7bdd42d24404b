#include "tandem/plot/images.inl"
#include "tandem/plot/png.inl"
#include "tandem/plot/raster.inl"
