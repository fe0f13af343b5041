// Several solvers in one graph, with one clock: fire beside metal, fluid beside structure.
//
//   int main(int argc, char** argv) {
//       Company company("fire-metal", "A plate over a fire.");
//       company.add<Gas>("gas").add<Metal>("metal").add<Exchange>("exchange");
//       return company.drive(argc, argv);
//   }
//
// The case has each module's keys under its name, and `end` of the time once:
//
//   solver = "fire-metal"
//   [time]
//   end = 1.0
//   [gas.grid]
//   cells = [64, 64, 64]
//   [metal]
//   substeps = 20      # of its own in a common step
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/run/module/module.hpp"

namespace strata::graph {

class Company {
  public:
    /// As of CaseSchema.
    Company(std::string solver, std::string summary) : about_{std::move(solver), std::move(summary)} {}

    /// Adds a module under a name. Families, labels, then tasks are declared in the order of the modules, and
    /// contributions to sums are added in it, whatever the names. Throws Error where the name cannot be one
    /// of a section, or is taken.
    template <std::derived_from<Module> M, class... Arguments>
    Company& add(std::string name, Arguments&&... arguments) {
        return add(std::move(name), std::make_unique<M>(std::forward<Arguments>(arguments)...));
    }
    Company& add(std::string name, std::unique_ptr<Module> module);

    /// The keys of all modules; NAME.substeps and NAME.rest of each.
    void keys(CaseSchema& keys);
    void prepare(const CaseSchema& keys);
    /// One solver of all: series, fields and files of each, and all criteria of verification. Throws Error
    /// where modules measure time in other units, or one ends at no time that is known before.
    [[nodiscard]] Solver declare(Graph& graph, const CaseSchema& keys);
    /// The program: main's result.
    int drive(int argc, char** argv, const Build& build = {});

  private:
    friend class ModuleGraph;
    struct Member {
        std::string name;
        std::unique_ptr<Module> module;
        OwnSteps steps;
    };
    struct Asked {
        std::string by, module, stage;
        std::function<void()> declare;
        bool met = false;
    };
    /// Of one declaration.
    struct Part {
        ScopeId step;
        Scalar<double> left;
    };
    [[nodiscard]] Part part_of(Graph& graph, const Member& member, const CommonClock& clock) const;
    void stage(Graph& graph, const std::string& module, const std::string& stage);
    void expect_met() const;

    Module::About about_;
    std::vector<Member> members_;
    std::size_t named_ = 0;  // members whose labels are there
    std::deque<Asked> asked_;
    std::vector<std::pair<std::string, std::string>> stages_;  // module and stage
};

}  // namespace strata::graph
