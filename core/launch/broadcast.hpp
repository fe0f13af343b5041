// A program on the nodes' own disks: sent there with its libraries by Slurm's sbcast before the ranks start,
// and removed when the run has ended, however it did, by a step of the job that holds it there meanwhile.
#pragma once

#include <string>
#include <vector>

#include "core/launch/environment.hpp"

namespace strata::launch {

/// Throws Error where there is no job of Slurm's to send within, no sbcast, or `folder` is not absolute.
void need_broadcast(const std::string& folder);

class Broadcast {
  public:
    /// Sends `program` into `folder` on each node of the job that this process is in, under a name of the
    /// run's own, with the libraries that are not the system's. `scratch`: the run's folder (Scratch), where
    /// the step that holds the copies is noted. Throws Error with the words of sbcast or srun.
    Broadcast(const std::string& program, const std::string& folder, const std::string& scratch);
    ~Broadcast();
    Broadcast(const Broadcast&) = delete;
    Broadcast& operator=(const Broadcast&) = delete;

    /// The program's file on the nodes.
    [[nodiscard]] const std::string& copy() const { return copy_; }
    /// By which it finds its libraries there.
    [[nodiscard]] Setting libraries() const;

  private:
    void hold();
    void send(const std::string& program);
    void end();

    std::string copy_, scratch_;
    int output_;  // a file in memory, with what Slurm's commands say
};

/// Has removed from the nodes what the run of this scratch folder, whose supervisor is dead, has sent, if
/// anything.
void remove_broadcast(const std::string& scratch);

}  // namespace strata::launch
