#include "tandem/io/tar.inl"
#include "tandem/io/text_lines.inl"
#include "tandem/io/webdataset.inl"
