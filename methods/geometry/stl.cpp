#include "methods/geometry/stl.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"

namespace strata::geometry {

namespace {

constexpr std::size_t kHead = 84, kFacet = 50;  // bytes of a binary file: head and count, each triangle

std::vector<Facet> read_binary(const std::string& bytes, const std::string& file) {
    std::uint32_t count = 0;
    std::memcpy(&count, bytes.data() + kHead - 4, 4);
    if (bytes.size() < kHead + count * kFacet)
        throw Error(fmt::format("the STL file ends in triangle {}", (bytes.size() - kHead) / kFacet + 1))
            .at(file)
            .given(fmt::format("{} bytes for {} triangles", bytes.size(), count))
            .allowed(fmt::format("{} bytes", kHead + count * kFacet));
    std::vector<Facet> found(count);
    for (std::size_t t = 0; t < count; ++t)
        for (std::size_t p = 0; p < 3; ++p)
            for (std::size_t d = 0; d < 3; ++d) {
                float x = 0;  // after the normal, which follows from the points
                std::memcpy(&x, bytes.data() + kHead + t * kFacet + 12 + 12 * p + 4 * d, 4);
                found[t][p][d] = x;
            }
    return found;
}

std::vector<Facet> read_ascii(const std::string& text, const std::string& file) {
    std::istringstream lines(text);
    std::vector<Facet> found;
    std::vector<Real3> points;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word)) continue;
        const auto at = fmt::format("{}:{} (triangle {})", file, number, found.size() + 1);
        if (word == "vertex") {
            Real3 x{};
            std::string more;
            if (!(words >> x[0] >> x[1] >> x[2]) || (words >> more) || points.size() == 3)
                throw Error("no corner of a triangle")
                    .at(at)
                    .given(line)
                    .allowed("vertex X Y Z, three times");
            points.push_back(x);
        } else if (word == "endfacet") {
            if (points.size() != 3)
                throw Error("a triangle needs three corners").at(at).given(fmt::format("{}", points.size()));
            found.push_back({points[0], points[1], points[2]});
            points.clear();
        } else if (word != "facet" && word != "outer" && word != "endloop" && word != "solid" &&
                   word != "endsolid") {
            throw Error("the text is no STL")
                .at(at)
                .given(line)
                .allowed("facet, outer loop, vertex, endloop, endfacet");
        }
    }
    if (!points.empty())
        throw Error(fmt::format("the STL file ends in triangle {}", found.size() + 1)).at(file);
    return found;
}

}  // namespace

std::vector<Facet> read_stl(const std::filesystem::path& path, const Real3& place, double scale) {
    const std::string file = path.string();
    const std::string bytes = read_named(path, "the STL file");
    std::uint32_t count = 0;
    if (bytes.size() >= kHead) std::memcpy(&count, bytes.data() + kHead - 4, 4);
    const bool exact = bytes.size() >= kHead && bytes.size() == kHead + count * kFacet;
    const bool text = !exact && bytes.compare(0, 5, "solid") == 0 && bytes.find('\0') == std::string::npos;
    if (!text && bytes.size() < kHead)
        throw Error("the file is no STL: neither text that begins with \"solid\" nor a binary head")
            .at(file)
            .given(fmt::format("{} bytes", bytes.size()));
    std::vector<Facet> triangles = text ? read_ascii(bytes, file) : read_binary(bytes, file);
    for (Facet& t : triangles)
        for (Real3& x : t)
            for (std::size_t d = 0; d < 3; ++d) x[d] = place[d] + scale * x[d];
    return triangles;
}

}  // namespace strata::geometry
