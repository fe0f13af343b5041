// Windows of messages from one process to another, for many pairs at once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/common/buffer.hpp"
#include "benchmarks/osu/pairs.hpp"

namespace strata::bench::osu {

/// This process's end of its pair.
class Windows {
  public:
    Windows(int rank, End end, int window, std::size_t largest, Break fault);

    /// Seconds of `count` windows, one after the other, each answered before the next. Every message carries
    /// its number, and its receiver looks at it; every answer carries that of its window.
    double run(std::size_t bytes, long count);

    /// Outside of all timing: one window of which every byte is looked at.
    void whole_contents(std::size_t bytes);

    [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }

  private:
    [[nodiscard]] std::span<std::byte> outgoing(std::size_t bytes, int message) const {
        return {out_.data() + static_cast<std::size_t>(message) * send_stride(bytes), bytes};
    }
    [[nodiscard]] std::span<std::byte> incoming(std::size_t bytes, int slot) const {
        return {in_.data() + static_cast<std::size_t>(slot) * receive_stride(bytes), bytes};
    }
    void send_window(std::size_t bytes);
    template <class F>
    void receive_window(std::size_t bytes, F&& look);
    void answer(std::uint64_t number);
    void hear(std::uint64_t number);

    int rank_;
    End end_;
    int window_;
    Break fault_;
    Array<std::byte> out_, in_;
    std::vector<MPI_Request> requests_;
    std::uint64_t number_ = 1, mismatches_ = 0;
};

}  // namespace strata::bench::osu
