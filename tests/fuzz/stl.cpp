// Bodies from STL files, text and binary; of those that are whole some points are asked for.
#include "methods/geometry/stl.hpp"

#include "methods/geometry/solid.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        const auto path = file.holding(text);
        const strata::geometry::Solid solid(strata::geometry::read_stl(path, {0.5, 0, 0}, 2), path);
        const auto& [low, high] = solid.bounds();
        for (int k = 0; k <= 8; ++k) {
            strata::geometry::Real3 x{};
            for (std::size_t d = 0; d < 3; ++d) x[d] = low[d] + (high[d] - low[d]) * k / 8;
            (void)solid.contains(x);
        }
    });
    return 0;
}
