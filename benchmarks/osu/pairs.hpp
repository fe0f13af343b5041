// Who sends to whom, and how the messages of a window lie in memory.
#pragma once

#include <cstddef>

namespace strata::bench::osu {

inline constexpr std::size_t kLine = 64;  // bytes of a cache line
inline constexpr int kMostWindow = 128;   // so that no head of a long message is the tail of another

/// The other process of a pair, and whether this one sends.
struct End {
    int peer = 0;
    bool sends = false;
};
/// Of processes 2i and 2i + 1 the first sends; with `far` of i and i + size / 2.
[[nodiscard]] constexpr End end_of(int rank, int size, bool far) {
    if (far) {
        const int pairs = size / 2;
        return rank < pairs ? End{rank + pairs, true} : End{rank - pairs, false};
    }
    return rank % 2 == 0 ? End{rank + 1, true} : End{rank - 1, false};
}

/// How the messages of a window lie in memory: message m starts at m * stride. Short ones lie apart. Long
/// ones overlap but for one cache line each where they are only read, so that what is sent stays as small as
/// one message; the head and the tail of each still are its own.
[[nodiscard]] constexpr std::size_t send_stride(std::size_t bytes) {
    constexpr std::size_t kApart = 8192;
    return bytes > kApart ? kLine : (bytes + kLine - 1) / kLine * kLine;
}
/// What is received lies apart.
[[nodiscard]] constexpr std::size_t receive_stride(std::size_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
}
/// How many receives are open at once. MPI forbids that they overlap, and a whole window of long messages
/// would be received into more memory than any cache holds.
[[nodiscard]] constexpr int open_receives(std::size_t bytes, int window) {
    constexpr std::size_t kOpen = std::size_t{4} << 20;
    const std::size_t fit = kOpen / bytes;
    return fit < 1 ? 1 : fit < static_cast<std::size_t>(window) ? static_cast<int>(fit) : window;
}

}  // namespace strata::bench::osu
