#include "tandem/image/convert.inl"
#include "tandem/image/crop.inl"
#include "tandem/image/flip.inl"
#include "tandem/image/shapes.inl"
