#include "tandem/core/module.inl"
#include "tandem/core/module_separate.inl"
