// A process that stays when a supervisor is killed by SIGKILL, and ends and removes what that one left.
#pragma once

namespace strata::launch {

/// A second process beside a supervisor, asleep on a line to it. When the line ends without a word, because
/// the supervisor was killed, it ends all processes that carry the dead run's mark and removes the run's
/// folders and control groups. The direct children die with their supervisor anyway; this is for those that
/// they started.
class Guardian {
  public:
    /// To be made before anything that is inherited and must not be held open by another process (the lock of
    /// a scratch folder). Where no process can be started there is none, and the next start sweeps instead.
    Guardian();
    /// Says that all is well, and waits until it has gone.
    ~Guardian();
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

    /// A child of this process, which is spared when all others are ended; 0 or less for none.
    [[nodiscard]] int pid() const { return pid_; }

  private:
    int line_ = -1, pid_ = 0;
};

}  // namespace strata::launch
