// Bodies from STL files, text and binary; of those that are whole some points are asked for.
#include "solvers/mpm/stl.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        const auto solid = strata::mpm::Solid::read(file.holding(text), {0.5, 0, 0}, 2);
        const auto &low = solid.low(), &high = solid.high();
        for (int k = 0; k <= 8; ++k) {
            strata::mpm::Solid::Point x{};
            for (std::size_t d = 0; d < 3; ++d) x[d] = low[d] + (high[d] - low[d]) * k / 8;
            (void)solid.contains(x);
        }
    });
    return 0;
}
