// A graph that is declared from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph::python {

namespace nb = nanobind;

/// A parameter: it may be changed during the run.
struct PyParameter {
    const double* at;
};

/// A graph for Python. Labels and grids are passed as their numbers.
class PyGraph {
  public:
    explicit PyGraph(const std::string& name) : own_(std::make_unique<Graph>(name)), graph_(own_.get()) {}
    /// For a graph of the driver's, until leave().
    explicit PyGraph(Graph& graph) : graph_(&graph) {}
    void leave() { graph_ = nullptr; }

    /// Throws Error where the driver's graph is gone.
    [[nodiscard]] Graph& get() const;
    [[nodiscard]] const Grid& grid_at(int family) const;

    int grid(const std::string& name, Int3 cells, Int3 patch, std::array<bool, 3> periodic,
             std::array<double, 3> spacing);
    int field(const std::string& name, int family, const std::string& on, int history, Int3 border, bool kept,
              const std::string& unit, const std::string& about);
    /// `entries`: of all patches, or of each. `type`: NumPy's name.
    int list(const std::string& name, int family, const std::vector<std::int64_t>& entries,
             const std::string& type, bool kept, const std::string& unit, const std::string& about);
    int scalar(const std::string& name, const std::string& reduce, double first, int history,
               const std::string& unit, const std::string& about);

    PyParameter parameter(const std::string& name, double value, const std::string& unit,
                          const std::string& about, double least, double most);

    /// From here on a label alone is its newest version (Graph::in_program_order).
    void in_program_order();

    /// (access, label, version, back, ghosts, towards, corners). `version`: kNewest for a label alone;
    /// `label`: negative for a quantity that the case does not have.
    using PyUse = std::tuple<std::string, int, int, int, Int3, Int3, bool>;
    static constexpr int kNewest = -2;  // -1 is the last one
    /// `family`: -1 for a task that runs once. `flops`, `bytes`: for each cell. Returns the numbers by which
    /// the kernel asks for each use, -1 of what the case does not have.
    std::vector<int> task(bool start, const std::string& name, int family, const std::vector<PyUse>& uses,
                          double flops, double bytes, nb::callable kernel);

    /// The object that keeps the values of kernels alive; null: none is needed.
    nb::handle owner;

  private:
    /// The version that a use of a task names.
    [[nodiscard]] int version_of(const Task& task, const std::vector<PyUse>& uses, const PyUse& use) const;

    std::unique_ptr<Graph> own_;
    Graph* graph_;
    bool ordered_ = false;
};

}  // namespace strata::graph::python
