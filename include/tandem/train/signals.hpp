// Interrupt: signals that end a training loop after the step that it is in.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::train {

/// As long as it lives, Ctrl-C (SIGINT) and SIGTERM are requests that a loop looks at; a second one ends the process at
/// once, as if there were no Interrupt. SIGUSR1 asks for a checkpoint. Signals that the process ignored before, as
/// under nohup, stay ignored. System calls that a signal interrupts go on.
///
///   train::Interrupt interrupt;
///   while (step < 1000 && !interrupt.requested()) {
///     train_step(step++);
///     if (interrupt.save_requested()) manager.save(step);
///   }
///   manager.save(step);
///   return interrupt.exit_status();
///
/// The destructor restores the handlers. Several at a time share what was received; any thread may ask.
class TANDEM_API Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// Whether SIGINT or SIGTERM was received.
  bool requested() const;
  /// Whether SIGUSR1 was received since the last call.
  bool save_requested();
  /// For the end of main(), as shells report a signal: 130 after SIGINT, 143 after SIGTERM, otherwise 0.
  int exit_status() const;
};

}  // namespace TANDEM_NS::train
