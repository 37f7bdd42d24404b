#include "tandem/core/variable.inl"
#include "tandem/core/profile.inl"
