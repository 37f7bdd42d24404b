#include "tandem/cpu/reduce/scan.inl"
