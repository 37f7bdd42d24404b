// AfterWait: errors that the CUDA runtime does not know, raised by the next wait for a device.
#pragma once

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// Makes a device current for the calling thread.
void use_device(int device);

/// An object that each wait for a device asks for errors at its end.
class AfterWait {
 public:
  virtual ~AfterWait() = default;
  /// Raises what has gone wrong. Called by any thread, and not for long.
  virtual void raise_errors() = 0;
};
/// Both may be called by any thread; the second returns when no wait asks the object any more.
void add_after_wait(int device, AfterWait& asked);
void remove_after_wait(int device, AfterWait& asked);

}  // namespace TANDEM_NS::cuda
