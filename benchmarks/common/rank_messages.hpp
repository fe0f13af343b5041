// Messages between MPI's ranks.
#pragma once

#include <mpi.h>

#include <vector>

#include "benchmarks/common/messages.hpp"

namespace strata::bench {

class RankMessages : public Messages {
  public:
    [[nodiscard]] Message begin_send(int to, std::span<const double> data) override;
    [[nodiscard]] Message begin_receive(int from, std::span<double> data) override;
    [[nodiscard]] bool done(const Message& message) override;
    void finish(const Message& message) override;

  private:
    [[nodiscard]] std::uint32_t place();
    std::vector<MPI_Request> requests_;
    std::vector<std::uint32_t> free_;
};

}  // namespace strata::bench
