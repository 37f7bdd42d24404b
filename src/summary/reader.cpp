#include "tandem/summary/reader.inl"
#include "tandem/summary/event.inl"
#include "tandem/summary/tensor_view.inl"
