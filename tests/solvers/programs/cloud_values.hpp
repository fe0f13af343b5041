// What the fields beside the cloud's particles are.
#pragma once

#include <cstdint>

namespace strata::tests {

/// x and y are periodic over 12 and 8 cells: the last nodes are the first ones.
inline float node_value(int i, int j, int k, int c) {
    return static_cast<float>(i % 12 + 20 * (j % 8) + 400 * k) + 0.25F * static_cast<float>(c);
}
/// 255 beyond the walls, which no file shows.
inline std::uint8_t cell_value(int i, int j, int k) {
    return static_cast<std::uint8_t>(k < 0 || k > 5 ? 255 : (i + 12 * j + 96 * k) % 251);
}

}  // namespace strata::tests
