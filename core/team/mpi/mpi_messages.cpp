#include "core/team/mpi/mpi_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <thread>

#include "core/base/error.hpp"

namespace strata::team {

namespace {

constexpr int kExchangeTag = Messages::kLastTag + 1;  // every MPI allows it
/// Longer data is sent in pieces: MPI counts bytes by an int.
constexpr std::size_t kPiece = std::size_t{1} << 30U;

/// A look costs about a microsecond. A thread of a graph calls progress() every 20 us, so it looks every 160
/// us.
constexpr unsigned kCallsPerLook = 8;

int length_of(std::size_t bytes) {
    if (bytes > INT_MAX)
        throw Error("a message between nodes is too long", kFailure)
            .given(fmt::format("{} bytes", bytes))
            .allowed(fmt::format("{}", INT_MAX))
            .remedy("smaller patches, or more processes");
    return static_cast<int>(bytes);
}

}  // namespace

/// MPI often learns of a death first; the keepers name the member within a moment.
void explain_mpi(int why, const Failure& failure) {
    for (int ms = 0; ms < 3000; ++ms) {
        failure.check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(why, text, &length);
    throw Error(fmt::format("MPI failed between the nodes: {}", static_cast<const char*>(text)), kFailure);
}

Messages::Request MpiMessages::keep(MPI_Request request) {
    if (free_.empty()) {
        free_.push_back(static_cast<Request>(requests_.size()));
        requests_.push_back(MPI_REQUEST_NULL);
    }
    const Request number = free_.back();
    free_.pop_back();
    requests_[static_cast<std::size_t>(number)] = request;
    return number;
}

Messages::Request MpiMessages::send(int to, int tag, std::span<const std::byte> data) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(data.data(), length_of(data.size()), MPI_BYTE, to, tag, members_, &request));
    return sending_.emplace_back(keep(request));
}

Messages::Request MpiMessages::receive(int from, int tag, std::span<std::byte> room) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(room.data(), length_of(room.size()), MPI_BYTE, from, tag, members_, &request));
    return keep(request);
}

bool MpiMessages::tested(Request request) {
    int yes = 0;
    check(MPI_Test(&requests_[static_cast<std::size_t>(request)], &yes, MPI_STATUS_IGNORE));
    return yes != 0;
}

bool MpiMessages::done(Request& request) {
    if (request == kNone) return true;
    if (!tested(request)) return false;
    std::erase(sending_, request);
    free_.push_back(request);
    request = kNone;
    return true;
}

template <class Ready>
void MpiMessages::until(Ready ready) const {
    auto pause = std::chrono::microseconds(1);
    for (int looks = 0; !ready(); ++looks) {
        failure_.check();
        if (looks < 1000) continue;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(500));
    }
}

void MpiMessages::wait(Request& request) {
    until([&] { return done(request); });
}

void MpiMessages::progress() {
    // Any call moves all messages, also those that are expected: their senders may wait for that. The oldest
    // has mostly left first.
    if (sending_.empty() && ++calls_ % kCallsPerLook == 0) {
        int yes = 0;
        check(MPI_Iprobe(MPI_ANY_SOURCE, kExchangeTag, members_, &yes, MPI_STATUS_IGNORE));
    }
    while (!sending_.empty() && tested(sending_.front())) sending_.erase(sending_.begin());
}

void MpiMessages::finish_sending() {
    until([&] {
        progress();
        return sending_.empty();
    });
}

void MpiMessages::cancel(Request& request) {
    if (request == kNone) return;
    check(MPI_Cancel(&requests_[static_cast<std::size_t>(request)]));
    wait(request);
}

std::optional<std::size_t> MpiMessages::arriving(int from, int tag) {
    int yes = 0, bytes = 0;
    MPI_Status status;
    check(MPI_Iprobe(from, tag, members_, &yes, &status));
    if (yes == 0) return std::nullopt;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return static_cast<std::size_t>(bytes);
}

std::vector<std::vector<std::byte>> MpiMessages::exchange(const std::vector<std::vector<std::byte>>& to) {
    std::vector<std::int64_t> lengths, theirs(to.size());
    for (const auto& each : to) lengths.push_back(static_cast<std::int64_t>(each.size()));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ialltoall(lengths.data(), 1, MPI_INT64_T, theirs.data(), 1, MPI_INT64_T, members_, &request));
    Request known = keep(request);
    wait(known);
    std::vector<std::vector<std::byte>> had(to.size());
    std::vector<Request> under_way;
    const auto pieces = [](std::size_t bytes, const auto& each) {
        for (std::size_t at = 0; at < bytes; at += kPiece) each(at, std::min(kPiece, bytes - at));
    };
    for (std::size_t member = 0; member < to.size(); ++member) {
        had[member].resize(static_cast<std::size_t>(theirs[member]));
        pieces(had[member].size(), [&](std::size_t at, std::size_t n) {
            under_way.push_back(
                receive(static_cast<int>(member), kExchangeTag, std::span(had[member]).subspan(at, n)));
        });
    }
    for (std::size_t member = 0; member < to.size(); ++member)
        pieces(to[member].size(), [&](std::size_t at, std::size_t n) {
            under_way.push_back(
                send(static_cast<int>(member), kExchangeTag, std::span(to[member]).subspan(at, n)));
        });
    for (Request& each : under_way) wait(each);
    return had;
}

}  // namespace strata::team
