// together fluids.toml, together flows.toml: two fluids, or two flows, in one graph, each under a name of its
// own. Nothing couples them.
#include <filesystem>

#include "core/run/module/company.hpp"
#include "solvers/flow/module.hpp"
#include "solvers/md/module.hpp"

using namespace strata;

int main(int argc, char** argv) {
    graph::Company company("together", "Two of a kind in one graph.");
    if (argc > 1 && std::filesystem::path(argv[1]).stem() == "flows")
        company.add<flow::FlowModule>("left").add<flow::FlowModule>("right");
    else
        company.add<md::Md>("left").add<md::Md>("right");
    return company.drive(argc, argv);
}
