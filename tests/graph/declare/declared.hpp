// Graphs whose tasks do nothing: for tests of what declarations mean.
#pragma once

#include <initializer_list>
#include <string>

#include "core/base/error.hpp"
#include "core/graph/declare/graph.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "tests/catch.hpp"

namespace strata::graph::testing {

/// The text of the error that a call ends with.
template <class Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const strata::Error& error) {
        return error.text();
    }
    return "nothing";
}

struct Declared {
    Graph graph{"solver"};
    Grid& grid;

    explicit Declared(const GridShape& shape) : grid(graph.grid("grid", shape)) {}
    Task task(Scope& scope, const std::string& name) {
        Task t = scope.task(name, grid);
        t.run([](Here&) {});
        return t;
    }
    Task start(const std::string& name) { return task(graph.start(), name); }
    Task step(const std::string& name) { return task(graph.step(), name); }
    Field<double> field(const std::string& name, int history = 0) {
        return graph.field<double>(name, grid, On::cells, {.history = history});
    }
    /// What resolving says against it, in one text.
    std::string refused() const {
        return error_of([&] { (void)resolve(graph); });
    }
};

/// On four patches of two cells in a row.
struct FourPatches : Declared {
    FourPatches() : Declared({.cells = {{0, 0, 0}, {8, 1, 1}}, .patch_cells = {2, 1, 1}}) {}
};

/// Whether a message has all these parts.
inline bool says(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        if (text.find(part) == std::string::npos) {
            UNSCOPED_INFO("not in it: " << part << "\n" << text);
            return false;
        }
    return true;
}

}  // namespace strata::graph::testing
