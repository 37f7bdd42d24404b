#include "tandem/io/npz.inl"
