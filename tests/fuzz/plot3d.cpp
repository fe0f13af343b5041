// PLOT3D files. The first byte says as what the rest is read: grid, Q or function.
#include "methods/curvilinear/plot3d.hpp"

#include <algorithm>

#include "tests/fuzz/fuzz.hpp"

using namespace strata::flow;

namespace {

/// All numbers of a file, plane by plane.
void read_all(const Plot3dFile& file, Plot3dContent content) {
    std::vector<double> values;
    std::vector<std::int32_t> blanks;
    for (int z = 0; z < static_cast<int>(std::min<std::size_t>(file.zones().size(), 20)); ++z) {
        const Plot3dZone& zone = file.zones()[static_cast<std::size_t>(z)];
        strata::graph::Box line{{0, 0, 0}, zone.points};
        line.hi[1] = line.hi[2] = 1;
        line.hi[0] = std::min(line.hi[0], 100'000);
        values.resize(static_cast<std::size_t>(line.volume()));
        blanks.resize(values.size());
        const int components = content == Plot3dContent::grid ? file.form().dimensions
                               : content == Plot3dContent::q  ? file.form().dimensions + 2
                                                              : zone.variables;
        for (int c = 0; c < std::min(components, 20); ++c) file.values(z, c, line, values.data());
        line.lo[1] = zone.points[1] - 1, line.hi[1] = zone.points[1];
        line.lo[2] = zone.points[2] - 1, line.hi[2] = zone.points[2];
        file.values(z, components - 1, line, values.data());
        if (file.form().blanks) file.blanks(z, line, blanks.data());
        if (content == Plot3dContent::q) (void)file.conditions(z);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const strata::fuzz::InputFile file;
    const auto content = static_cast<Plot3dContent>(data[0] % 3);
    strata::fuzz::reads(data + 1, size - 1, [&](std::string_view text) {
        const Plot3dFile found(file.holding(text), content);
        (void)text_of(found.form());
        read_all(found, content);
    });
    return 0;
}
