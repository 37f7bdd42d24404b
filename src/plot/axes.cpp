#include "tandem/plot/frame.inl"
#include "tandem/plot/scale.inl"
#include "tandem/plot/svg.inl"
