// A solver as a class that can be declared into any graph: alone, or beside others in a company
// (company.hpp).
//
//   class Heat : public Module {
//     public:
//       About about() const override { return {"heat", "Heat in a plate."}; }
//       void keys(CaseSchema& keys) override {
//           keys.key("diffusivity", &diffusivity_, {...});
//       }
//       void prepare(const CaseSchema& keys) override {}  // what follows from the keys, or refuses
//       void labels(const ModuleGraph& part) override {
//           T_ = part->field<double>("temperature", ...);
//       }
//       Solver declare(const ModuleGraph& part) override {
//           ...  // tasks
//           part.stage("conducted");
//           return {.time = clock_.time, .end = end_, .series = {total_}};
//       }
//   };
//
//   int main(int argc, char** argv) { return graph::drive<Heat>(argc, argv); }
#pragma once

#include <concepts>
#include <functional>
#include <string>

#include "core/run/driver/driver.hpp"
#include "core/run/module/module_clock.hpp"

namespace strata::graph {

class Company;
class Module;

/// The graph as a module sees it: what it declares has the module's name in company, and its own names alone.
class ModuleGraph {
  public:
    /// Of a module alone.
    ModuleGraph(Graph& graph) : graph_(&graph), clock_(graph) {}  // NOLINT(google-explicit-constructor)
    ModuleGraph(Graph& graph, ModuleClock clock, std::string name, Company& company)
        : graph_(&graph), clock_(std::move(clock)), name_(std::move(name)), company_(&company) {}

    [[nodiscard]] Graph& operator*() const { return *graph_; }
    [[nodiscard]] Graph* operator->() const { return graph_; }
    [[nodiscard]] const ModuleClock& clock() const { return clock_; }

    /// A place between two tasks of this module, in program order, where tasks of others may stand: those
    /// that at_stage() has asked for are declared here.
    void stage(const std::string& name) const;
    /// In labels(): calls `declare` where the module of this name comes to this stage. Its tasks have the
    /// asking module's name and are in the step of the other one, also where that takes several in a common
    /// step. An Error comes at the end where there is no such module or stage.
    void at_stage(const std::string& module, const std::string& stage, std::function<void()> declare) const;
    /// The module of this name, whose labels are there. Throws Error where there is none of this type before
    /// the asking one.
    template <std::derived_from<Module> M>
    [[nodiscard]] M& other(const std::string& name) const {
        if (auto* found = dynamic_cast<M*>(find(name))) return *found;
        refuse_other(name);
    }

  private:
    [[nodiscard]] Module* find(const std::string& name) const;
    [[noreturn]] void refuse_other(const std::string& name) const;

    Graph* graph_;
    ModuleClock clock_;
    std::string name_;
    Company* company_ = nullptr;
};

class Module {
  public:
    struct About {
        std::string solver, summary;  // as of CaseSchema
    };
    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    [[nodiscard]] virtual About about() const = 0;
    /// Declares the keys of its case. In company they are under its name: [metal.time] cfl.
    virtual void keys(CaseSchema& keys) = 0;
    /// Once, after a case was read: what follows from the keys. They do not change afterwards. Throws Error
    /// with a key's place.
    virtual void prepare(const CaseSchema& keys) = 0;
    /// Declares the families and labels that other modules may use. In company: before any task is declared.
    virtual void labels(const ModuleGraph& /*part*/) {}
    /// Declares the tasks, and says what the driver does with the run. It may be called for several graphs,
    /// one after the other, each time after labels().
    [[nodiscard]] virtual Solver declare(const ModuleGraph& part) = 0;
};

/// The program of a module alone: main's result.
int drive(Module& module, int argc, char** argv, const Build& build = {});

template <std::derived_from<Module> M>
int drive(int argc, char** argv, const Build& build = {}) {
    M module;
    return drive(module, argc, argv, build);
}

}  // namespace strata::graph
