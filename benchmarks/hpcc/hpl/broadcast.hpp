// A panel on its way along a row of processes.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/common/messages.hpp"
#include "benchmarks/hpcc/hpl/cyclic.hpp"

namespace strata::bench::hpcc::linpack {

/// Round the ring of a row of the grid, from neighbour to neighbour, while all compute: the owner's
/// neighbour, who factors the next panel, gets it first and passes nothing on; the one behind it gets it from
/// the owner too and begins the ring (HPL's "increasing ring, modified"). Two panels may be on their way, one
/// in each slot.
class PanelBroadcast {
  public:
    PanelBroadcast(const Grid& grid, Messages& messages) : grid_(grid), messages_(messages) {}

    /// Begins with a message that column `owner` has. The slot must be free.
    void begin(int slot, std::span<double> message, int owner);
    /// Passes on what has come, without waiting.
    void poll();
    /// Waits until the message that was begun last is here.
    void arrive();
    /// Waits until what was sent from this slot has gone, so that its memory may change.
    void free(int slot);

  private:
    void send_on();
    [[nodiscard]] int rank(int steps_from_owner) const {
        return grid_.rank(grid_.row, (owner_ + steps_from_owner) % grid_.columns);
    }

    Grid grid_;
    Messages& messages_;
    int slot_ = 0, owner_ = 0,
        steps_ = 0;  // of the message that was begun last; this process's from its owner
    std::span<double> message_;
    std::optional<Message> coming_;
    std::array<std::vector<Message>, 2> going_;
};

}  // namespace strata::bench::hpcc::linpack
