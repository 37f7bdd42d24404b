#include "tandem/train/checkpoint_manager.inl"
#include "tandem/train/checkpoint_index.inl"
