#include "core/team/mpi/mpi_nodes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/team/mpi/exact_sum_mpi.hpp"
#include "core/team/mpi/lines.hpp"
#include "core/team/waiting.hpp"

namespace strata::team {
namespace {

constexpr int kBytesBits = 32, kRootBits = 24;

}  // namespace

std::string MpiNodes::name(int node) const {
    const auto at = static_cast<std::size_t>(node);
    const int first = first_ranks_[at], last = first_ranks_[at + 1] - 1;
    return last > first ? fmt::format("node {} (members {} to {})", node, first, last)
                        : fmt::format("node {} (member {})", node, first);
}

/// MPI makes progress only while it is called. So it is tested without pause for as long as members spin on a
/// word (waiting.hpp), then more and more rarely.
void MpiNodes::wait(MPI_Request request, int why) {
    constexpr auto longest = std::chrono::microseconds(500);
    const std::int64_t until = detail::now_ns() + (crowded_ ? 0 : Patience{}.spin_ns);
    auto pause = std::chrono::microseconds(20);
    int yields = 64;
    for (bool spinning = true;; spinning = detail::now_ns() < until) {
        const int looks = spinning ? 32 : 1;
        for (int look = 0; look < looks; ++look) {
            int done = 0;
            if (why == MPI_SUCCESS) why = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (why != MPI_SUCCESS) explain_mpi(why, failure_);
            if (done != 0) return;
        }
        failure_.check();
        if (spinning) continue;
        if (yields > 0) {
            --yields;
            sched_yield();
            continue;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, longest);
    }
}

void MpiNodes::agree(What what, std::int64_t bytes, std::int64_t root) {
    const std::int64_t mine =
        (static_cast<std::int64_t>(what) << (kBytesBits + kRootBits)) | (root << kBytesBits) | bytes;
    offer_[0] = mine;
    offer_[1] = -mine;
    MPI_Request request = MPI_REQUEST_NULL;
    const int why = MPI_Iallreduce(offer_, agreed_, 2, MPI_INT64_T, MPI_MIN, leaders_, &request);
    wait(request, why);
    ++meetings_;
    if (agreed_[0] != -agreed_[1]) name_who_differs(mine);
}

void MpiNodes::name_who_differs(std::int64_t mine) {
    all_offers_.resize(first_ranks_.size() - 1);
    MPI_Request request = MPI_REQUEST_NULL;
    const int why =
        MPI_Iallgather(offer_, 1, MPI_INT64_T, all_offers_.data(), 1, MPI_INT64_T, leaders_, &request);
    wait(request, why);
    const auto left = static_cast<std::int64_t>(What::farewell);
    for (int node = 0; node < static_cast<int>(all_offers_.size()); ++node)
        if (all_offers_[static_cast<std::size_t>(node)] >> (kBytesBits + kRootBits) == left)
            throw MemberLost(first_ranks_[static_cast<std::size_t>(node)],
                             fmt::format("{} left the team after {} exchanges between nodes, while others "
                                         "still meet",
                                         name(node), meetings_ - 1));
    for (int node = 0; node < static_cast<int>(all_offers_.size()); ++node)
        if (all_offers_[static_cast<std::size_t>(node)] != mine)
            throw Error("members do not make the same calls in the same order", kFailure)
                .given(fmt::format("exchange {}: {} differs from {}", meetings_, name(node), name(node_)))
                .allowed(
                    "the same call of barrier(), broadcast(), reduce() or sum(), with as many bytes and the "
                    "same root, by all members");
    throw Error("the nodes have not agreed, and none differs", kFailure);
}

void MpiNodes::barrier() { agree(What::barrier); }

void MpiNodes::broadcast(std::span<std::byte> data, int root) {
    agree(What::broadcast, static_cast<std::int64_t>(data.size()), root);
    MPI_Request request = MPI_REQUEST_NULL;
    const int why =
        MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, leaders_, &request);
    wait(request, why);
}

void MpiNodes::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
    agree(What::gather, static_cast<std::int64_t>(mine.size()));
    const auto bytes = static_cast<int>(mine.size());
    MPI_Request request = MPI_REQUEST_NULL;
    const int why =
        MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, leaders_, &request);
    wait(request, why);
}

void MpiNodes::add_up(ExactSum& sum) {
    agree(What::sum);
    sum_ = sum;
    MPI_Request request = MPI_REQUEST_NULL;
    const int why =
        MPI_Iallreduce(&sum_, &total_, 1, exact_sum_type(), exact_sum_operation(), leaders_, &request);
    wait(request, why);
    sum = total_;
}

void MpiNodes::farewell() { agree(What::farewell); }

/// MPICH over UCX (before 4.2) flushes its connections in MPI_Finalize and then waits for all ranks without
/// progress (mpich pull request 6596). Over TCP the other end must answer a flush. It answers out of any call
/// of MPI, so a rank that others still answer out of earlier calls can be through before they have flushed,
/// and then never answers them: they hang. So all ranks make their last call first, and know it of each other
/// without MPI: from then on a rank answers only when its own flushes are on their way.
void MpiNodes::await_finish() {
    send_message(keeper_, Message{.kind = Message::Kind::ready});
    constexpr int look_ms = 100;
    for (pollfd line{keeper_, POLLIN, 0};; poll(&line, 1, look_ms)) {
        const Received received = receive_message(keeper_);
        if (received.closed || (received.message && received.message->kind == Message::Kind::finish)) return;
        failure_.check();
    }
}

void MpiNodes::finish() {
    int over = 0;
    MPI_Finalized(&over);
    if (over != 0) return;  // the program has ended MPI itself
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
    MPI_Comm_free(&members_);
    await_finish();
    MPI_Finalize();
}

MpiNodes::~MpiNodes() { close(keeper_); }

}  // namespace strata::team
