// Messages by non-blocking MPI.
#pragma once

#include <mpi.h>

#include <vector>

#include "core/team/failure.hpp"
#include "core/team/messages.hpp"

namespace strata::team {

/// To be called after a failure of MPI: throws MemberLost when a member is found to be gone within a moment,
/// else Error.
[[noreturn]] void explain_mpi(int why, const Failure& failure);

class MpiMessages final : public Messages {
  public:
    /// `members`: a communicator of its own, with the team's ranks, which returns errors.
    MpiMessages(MPI_Comm members, const Failure& failure) : members_(members), failure_(failure) {}

    [[nodiscard]] Request send(int to, int tag, std::span<const std::byte> data) override;
    [[nodiscard]] Request receive(int from, int tag, std::span<std::byte> room) override;
    [[nodiscard]] bool done(Request& request) override;
    void wait(Request& request) override;
    void progress() override;
    void finish_sending() override;
    void cancel(Request& request) override;
    [[nodiscard]] std::optional<std::size_t> arriving(int from, int tag) override;
    [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
        const std::vector<std::vector<std::byte>>& to) override;

  private:
    void check(int why) const {
        if (why != MPI_SUCCESS) explain_mpi(why, failure_);
    }
    [[nodiscard]] Request keep(MPI_Request request);
    [[nodiscard]] bool tested(Request request);
    /// Calls ready() until it is true; pauses where that takes long.
    template <class Ready>
    void until(Ready ready) const;

    MPI_Comm members_;
    const Failure& failure_;
    std::vector<MPI_Request> requests_;    // [Request]
    std::vector<Request> free_, sending_;  // sending_: not known to have left
    unsigned calls_ = 0;                   // of progress() without any
};

}  // namespace strata::team
