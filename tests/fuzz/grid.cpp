// A grid as a case names it: a PLOT3D file and, behind two bytes 0xFE, maybe a map file. The first byte says
// of how many dimensions the case speaks.
#include "methods/curvilinear/read.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace strata::flow;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const strata::fuzz::InputFile grid, map;
    constexpr int dimensions[] = {0, 2, 3};
    strata::fuzz::reads(data + 1, size - 1, [&](std::string_view text) {
        const std::size_t end = text.find("\xFE\xFE");
        GridFiles files;
        files.grid = grid.holding(text.substr(0, end));
        if (end != std::string_view::npos) files.map = map.holding(text.substr(end + 2));
        files.dimensions = dimensions[data[0] % 3];
        const GridSystem system = read_grid(files);
        for (std::size_t z = 0; z < system.source->zones().size() && z < 20; ++z) {
            const auto nodes = system.source->node_box(static_cast<int>(z));
            std::vector<double> x(static_cast<std::size_t>(nodes.volume()) * 3);
            std::vector<std::int32_t> blanks(static_cast<std::size_t>(nodes.volume()));
            system.source->nodes(static_cast<int>(z), nodes, x.data());
            system.source->blanks(static_cast<int>(z), nodes, blanks.data());
        }
    });
    return 0;
}
