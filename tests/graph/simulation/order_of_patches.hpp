// The order of a task's patches in a program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/execute/program.hpp"

namespace strata::graph::testing {

/// [thread] -> the patches of a task, as its list has them.
inline std::vector<std::vector<int>> patches_of(const Program& program, const std::string& task) {
    std::vector<std::vector<int>> all;
    const auto visit = [&](const Block& block, const auto& again) -> void {
        all.resize(std::max(all.size(), block.order.size()));
        for (std::size_t thread = 0; thread < block.order.size(); ++thread)
            for (const std::uint32_t op : block.order[thread])
                if (program.names[program.ops[op].name] == task) all[thread].push_back(program.ops[op].patch);
        for (const auto& inside : block.inside) again(*inside, again);
    };
    visit(program.step, visit);
    return all;
}

}  // namespace strata::graph::testing
