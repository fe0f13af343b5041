// For checking builds: ghosts that a task may read and not write, although its view is one for writing.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

class Here;

/// The ghosts of all that a call modifies, as they are now. They stay so until the task is done on this
/// patch: those upwind are done, those on the other sides wait for it, frozen ones are copies.
class GhostCopies {
  public:
    explicit GhostCopies(const Here& here);
    /// Throws Error with task, patch, label and index where one of them has changed.
    void compare() const;

  private:
    struct Copy {
        int use;
        Box box;
        std::vector<std::byte> values;  // [component][z][y][x]
    };
    template <class Row>
    void each_row(const Copy& copy, Row row) const;

    const Here& here_;
    std::vector<Copy> copies_;
};

}  // namespace strata::graph
