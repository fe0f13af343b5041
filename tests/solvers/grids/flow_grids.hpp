// What tests of flow grids share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/base/error.hpp"
#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/zones.hpp"
#include "methods/curvilinear/generate.hpp"
#include "methods/curvilinear/grid.hpp"
#include "methods/curvilinear/metrics.hpp"
#include "methods/curvilinear/piece.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/curvilinear/read.hpp"

namespace strata::flow::tests {

inline Box cells_of(const GridSystem& system, int zone) {
    return {{0, 0, 0}, system.source->zones()[static_cast<std::size_t>(zone)].cells};
}

inline int zones_of(const GridSystem& system) { return static_cast<int>(system.source->zones().size()); }

/// Throws where a cell of the system is bad, a join does not match, or the zones cannot be those of a graph.
inline void check_all(const GridSystem& system) {
    for (int z = 0; z < zones_of(system); ++z) check_cells(*system.source, z, cells_of(system, z));
    check_joins(system);
    graph::ZoneList list("grid");
    for (int z = 0; z < zones_of(system); ++z) list.zone(cells_of(system, z), {16, 16, 16});
    for (const JoinRange& j : system.joins)
        list.join_parts(j.zone, j.points, j.donor, j.donor_points, j.transform, j.turn);
    graph::Graph graph("grid");
    graph.add<graph::Zones>(std::move(list));
}

/// A folder of its own, removed at the end.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "strata-flow-grid-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    [[nodiscard]] std::filesystem::path file(const std::string& name, const std::string& bytes) const {
        std::ofstream(path / name, std::ios::binary) << bytes;
        return path / name;
    }
};

/// Bytes as Fortran writes them.
struct Binary {
    std::string bytes;
    bool swap = false;
    int marker = 4;  // bytes of a record's length
    template <class T>
    Binary& put(T value) {
        char raw[sizeof(T)];
        std::memcpy(raw, &value, sizeof(T));
        if (swap) std::reverse(raw, raw + sizeof(T));
        bytes.append(raw, sizeof(T));
        return *this;
    }
    Binary& record(const Binary& content) {
        const auto length = [&] {
            const auto size = static_cast<std::int64_t>(content.bytes.size());
            marker == 8 ? put(size) : put(static_cast<std::int32_t>(size));
        };
        length();
        bytes += content.bytes;
        length();
        return *this;
    }
};

struct Refused {
    std::string message, given, text;
};
template <class Call>
[[nodiscard]] Refused refused_by(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return {error.message(), error.given(), error.text()};
    }
    return {"nothing was refused", "", ""};
}

}  // namespace strata::flow::tests
