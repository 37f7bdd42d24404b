#include "tandem/summary/event_file.inl"
#include "tandem/summary/file_writer.inl"
#include "tandem/summary/live.inl"
#include "tandem/summary/recorder.inl"
