// Declarations that the parts of the module share.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/declare/box.hpp"

namespace strata::graph::python {

namespace nb = nanobind;

/// The value of a word in a list. Throws Error with the allowed words.
template <class E, std::size_t N>
E named(const char* what, const std::string& name, const std::array<std::pair<const char*, E>, N>& all) {
    std::vector<std::string> words;
    for (const auto& [word, value] : all) {
        if (name == word) return value;
        words.emplace_back(word);
    }
    throw Error(fmt::format("there is no such {}", what))
        .given(name)
        .allowed(fmt::format("{}", fmt::join(words, ", ")));
}

/// (x, y, z) of the lower corner, then of the upper one.
[[nodiscard]] inline std::array<int, 6> numbers(const Box& box) {
    return {box.lo[0], box.lo[1], box.lo[2], box.hi[0], box.hi[1], box.hi[2]};
}

/// Converts an exception of Python to an Error: a StrataError with its parts, any other with its type and
/// traceback.
[[nodiscard]] Error error_of(const nb::python_error& raised);

/// (message, at, given, allowed, remedy, exit code): python/strata/graph makes a StrataError from it.
[[nodiscard]] nb::tuple parts_of(const Error& error);

void bind_kernels(nb::module_& module);
void bind_graphs(nb::module_& module);
void bind_simulations(nb::module_& module);
void bind_programs(nb::module_& module);

}  // namespace strata::graph::python
