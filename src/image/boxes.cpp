#include "tandem/image/boxes.inl"
#include "tandem/image/glimpse.inl"
#include "tandem/image/mix.inl"
#include "tandem/image/text.inl"
