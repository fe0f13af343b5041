// Reading back a run's ranks on nodes other than the launcher's: a second step of the same job of Slurm's has
// a reader on each node, which writes down at its end what it saw.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/placement.hpp"
#include "core/launch/readback.hpp"

namespace strata::launch {

/// What was read back of the ranks of one node.
struct NodeReading {
    std::string node;
    size_t processes = 0;
    std::vector<ThreadReading> threads;
    std::optional<bool> threads_agree;
    std::optional<bool> agrees;  // threads and pages
    std::string pages;           // the verdict
    std::optional<std::string> disagreement;
};

/// A reader: reads the ranks of this node whose STRATA_RUN is `mark` until they have ended, or SIGTERM comes,
/// and writes a line of JSON to standard output. `place`: the placement of so many ranks, as this node's
/// ranks make it. Returns the exit status.
int read_this_node(const std::string& mark, const std::string& launcher,
                   const std::function<Placement(int ranks)>& place);

/// The supervisor's side.
class NodeReaders {
  public:
    /// `reader`: the command of a reader, to which the mark is added; empty: there are none.
    NodeReaders(std::vector<std::string> reader, std::string mark);
    ~NodeReaders();
    NodeReaders(const NodeReaders&) = delete;
    NodeReaders& operator=(const NodeReaders&) = delete;

    /// Starts the readers' step as soon as Slurm has a job for the run; costs nothing once it has been
    /// started.
    void start_when_possible();
    /// Waits a little for the readers to end, and returns what they wrote, but for this node, by name.
    std::vector<NodeReading> finish();

  private:
    [[nodiscard]] bool ended() const;

    std::vector<std::string> reader_;
    std::string mark_;
    int pid_ = 0;      // of srun
    int output_ = -1;  // a file in memory
    int tries_ = 0;
};

}  // namespace strata::launch
