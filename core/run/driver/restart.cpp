#include "core/run/driver/restart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/steps.hpp"

namespace strata::graph {

StateName state_name(const CaseSchema& schema) {
    StateName name{schema.solver(), schema.hash()};
    name.keys = schema.values_for_restart();
    return name;
}

void expect_case(const CaseSchema& schema, const CheckpointReader& checkpoint) {
    const CheckpointHead& head = checkpoint.head();
    if (head.case_name != schema.solver())
        throw Error("the checkpoint is of another solver")
            .at(checkpoint.path().string())
            .given(head.case_name)
            .allowed(fmt::format("{}, as {} says", schema.solver(), schema.file()))
            .remedy("--restart FOLDER with the folder of a run of this case");
    if (!head.keys.empty()) schema.expect_restart(head.keys, checkpoint.path().string());
}

std::string nothing_left(const CaseSchema& schema, const Solver& solver, const CheckpointReader& checkpoint,
                         std::optional<std::int64_t> steps, const std::optional<std::filesystem::path>& out) {
    const CheckpointHead& head = checkpoint.head();
    const std::string from = fmt::format("nothing left to do: {} is ", checkpoint.path().string());
    const bool in_time = solver.time.id() && reached(head.time, solver.end);
    if (!in_time && !(head.ended && schema.same_end(head.keys))) {
        if (!steps || head.step < *steps) return "";
        return from +
               fmt::format("the state after step {}, and --steps {} asks for no more\n", head.step, *steps);
    }
    std::error_code none;
    const std::filesystem::path result = out.value_or(checkpoint.path().parent_path()) / "result.json";
    return from + fmt::format(
                      "the end of the case (step {}, t = {:.6g} {}){}; a restart goes on where {} says a "
                      "later end\n",
                      head.step, head.time, solver.time_unit,
                      std::filesystem::exists(result, none) ? ", with its result in " + result.string() : "",
                      fmt::join(schema.end_keys(), " or "));
}

}  // namespace strata::graph
