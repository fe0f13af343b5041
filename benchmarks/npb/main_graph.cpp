// strata-npb-graph: benchmarks of the suite that are written as task graphs, over the members of a team.
#include <array>

#include "benchmarks/npb/common/team_group.hpp"
#include "benchmarks/npb/lu/tasks.hpp"

namespace {

class GraphGroup : public strata::npb::TeamGroup {
  public:
    using TeamGroup::TeamGroup;
    [[nodiscard]] const char* model() const override { return "graph"; }
};

}  // namespace

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        GraphGroup group(team);
        static const std::array list = {strata::npb::lu::benchmark_by_tasks};
        return strata::npb::run_suite(argc, argv, group, list);
    });
}
