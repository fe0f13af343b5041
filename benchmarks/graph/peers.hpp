// The same chain of tasks by other means.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace strata::bench::graph_layer {

/// How many steps some peers have in one graph.
inline constexpr int kStepsAtOnce = 10;

/// A runtime with its threads started and its graph made.
class Peer {
  public:
    Peer() = default;
    virtual ~Peer() = default;
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    /// So many steps, a multiple of kStepsAtOnce; each task calls work(work_steps), or does nothing.
    virtual void run(int steps, std::int64_t work_steps) = 0;
};

struct PeerKind {
    std::string name;
    std::function<std::unique_ptr<Peer>(const std::vector<int>& pus)> make;
};

/// Those that this program was built with. Their threads are bound to the PUs, one each.
[[nodiscard]] std::vector<PeerKind> peers();

}  // namespace strata::bench::graph_layer
