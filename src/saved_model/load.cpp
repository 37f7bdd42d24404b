#include "tandem/saved_model/load.inl"
#include "tandem/saved_model/loaded.inl"
