#include "benchmarks/osu/windows.hpp"

#include <algorithm>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/hpcc/exchange.hpp"

namespace strata::bench::osu {
namespace {

constexpr int kMessage = 1, kAnswer = 2;  // tags

/// What all messages of up to `largest` bytes need in a layout that is a function of their size.
template <class F>
std::size_t most(std::size_t largest, F&& need) {
    std::size_t bytes = need(largest);
    for (std::size_t size = 1; size < largest; size *= 2)
        bytes = std::max({bytes, need(size), need(2 * size - 1)});
    return bytes;
}

std::size_t to_send(std::size_t largest, int window) {
    return most(largest, [&](std::size_t bytes) {
        return static_cast<std::size_t>(window) * send_stride(bytes) + bytes;
    });
}

std::size_t to_receive(std::size_t largest, int window) {
    return most(largest, [&](std::size_t bytes) {
        return static_cast<std::size_t>(open_receives(bytes, window)) * receive_stride(bytes);
    });
}

}  // namespace

Windows::Windows(int rank, End end, int window, std::size_t largest, Break fault)
    : rank_(rank),
      end_(end),
      window_(window),
      fault_(fault),
      out_(to_send(largest, window), Pages::small),
      in_(to_receive(largest, window), Pages::small),
      requests_(static_cast<std::size_t>(window)) {}

void Windows::send_window(std::size_t bytes) {
    if (fault_ == Break::skip) return;
    for (int m = 0; m < window_; ++m)
        MPI_Isend(outgoing(bytes, m).data(), static_cast<int>(bytes), MPI_BYTE, end_.peer, kMessage,
                  MPI_COMM_WORLD, &requests_[static_cast<std::size_t>(m)]);
    MPI_Waitall(window_, requests_.data(), MPI_STATUSES_IGNORE);
}

/// look(message of the window, its bytes), once each.
template <class F>
void Windows::receive_window(std::size_t bytes, F&& look) {
    const int open = open_receives(bytes, window_);
    for (int first = 0; first < window_; first += open) {
        const int count = std::min(open, window_ - first);
        if (fault_ != Break::skip) {
            for (int slot = 0; slot < count; ++slot)
                MPI_Irecv(incoming(bytes, slot).data(), static_cast<int>(bytes), MPI_BYTE, end_.peer,
                          kMessage, MPI_COMM_WORLD, &requests_[static_cast<std::size_t>(slot)]);
            MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
        }
        if (fault_ == Break::perturb) in_[0] ^= std::byte{1};
        for (int slot = 0; slot < count; ++slot) look(first + slot, incoming(bytes, slot));
    }
}

void Windows::answer(std::uint64_t number) {
    if (fault_ != Break::skip) MPI_Send(&number, sizeof number, MPI_BYTE, end_.peer, kAnswer, MPI_COMM_WORLD);
}

void Windows::hear(std::uint64_t number) {
    std::uint64_t heard = 0;
    if (fault_ != Break::skip)
        MPI_Recv(&heard, sizeof heard, MPI_BYTE, end_.peer, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mismatches_ += heard != number;
}

double Windows::run(std::size_t bytes, long count) {
    const double start = now();
    for (long i = 0; i < count; ++i) {
        const std::uint64_t first = number_;
        number_ += static_cast<std::uint64_t>(window_);
        if (end_.sends) {
            for (int m = 0; m < window_; ++m)
                hpcc::stamp(outgoing(bytes, m), first + static_cast<std::uint64_t>(m));
            send_window(bytes);
            hear(first);
        } else {
            receive_window(bytes, [&](int m, std::span<const std::byte> message) {
                mismatches_ += !hpcc::stamped(message, first + static_cast<std::uint64_t>(m));
            });
            answer(first);
        }
    }
    return now() - start;
}

void Windows::whole_contents(std::size_t bytes) {
    const int sender = end_.sends ? rank_ : end_.peer;
    const std::uint64_t seed = hpcc::mixed(bytes) + static_cast<std::uint64_t>(sender);
    if (end_.sends) {
        // The contents follow from where a byte lies, so that messages which overlap are known, too.
        const std::size_t all = static_cast<std::size_t>(window_ - 1) * send_stride(bytes) + bytes;
        hpcc::fill({out_.data(), all}, seed);
        send_window(bytes);
    } else {
        receive_window(bytes, [&](int m, std::span<const std::byte> message) {
            const std::size_t at = static_cast<std::size_t>(m) * send_stride(bytes);
            mismatches_ += hpcc::differences(message, seed + at);
        });
    }
}

}  // namespace strata::bench::osu
