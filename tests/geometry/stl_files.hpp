// Boxes as triangles, and in STL files, for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "methods/geometry/facet.hpp"

namespace strata::tests {

using Triangles = std::vector<geometry::Facet>;
using graph::Real3;

/// A box as 12 triangles.
inline Triangles box(const Real3& low, const Real3& high) {
    Triangles found;
    const auto corner = [&](int i) {
        return Real3{(i & 1) != 0 ? high[0] : low[0], (i & 2) != 0 ? high[1] : low[1],
                     (i & 4) != 0 ? high[2] : low[2]};
    };
    const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                             {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (const auto& f : faces) {
        found.push_back({corner(f[0]), corner(f[1]), corner(f[2])});
        found.push_back({corner(f[0]), corner(f[2]), corner(f[3])});
    }
    return found;
}

struct StlFile {
    std::filesystem::path path;
    explicit StlFile(const std::string& bytes)
        : path(std::filesystem::temp_directory_path() / ("strata-stl-" + std::to_string(getpid()) + ".stl")) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    ~StlFile() { std::filesystem::remove(path); }
};

inline std::string binary(const Triangles& triangles) {
    std::string bytes(80, ' ');
    bytes.replace(0, 5, "solid");  // as some programs begin binary files
    const auto count = static_cast<std::uint32_t>(triangles.size());
    bytes.append(reinterpret_cast<const char*>(&count), 4);
    for (const auto& t : triangles) {
        float numbers[12] = {};
        for (std::size_t p = 0; p < 3; ++p)
            for (std::size_t d = 0; d < 3; ++d) numbers[3 + 3 * p + d] = static_cast<float>(t[p][d]);
        bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
        bytes.append(2, '\0');
    }
    return bytes;
}

}  // namespace strata::tests
