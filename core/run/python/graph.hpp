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

/// A number that may be changed while the run goes on.
struct PyParameter {
    const double* at;
};

/// Labels and grids are known to Python by their numbers.
class PyGraph {
  public:
    explicit PyGraph(const std::string& name) : own_(std::make_unique<Graph>(name)), graph_(own_.get()) {}
    /// Of a graph that the driver has, until leave().
    explicit PyGraph(Graph& graph) : graph_(&graph) {}
    void leave() { graph_ = nullptr; }

    /// Throws Error where the driver's graph is gone.
    [[nodiscard]] Graph& get() const;
    [[nodiscard]] const Grid& grid_at(int family) const;

    int grid(const std::string& name, Int3 cells, Int3 patch, std::array<bool, 3> periodic,
             std::array<double, 3> spacing);
    int field(const std::string& name, int family, const std::string& on, int history, Int3 border,
              const std::string& unit, const std::string& about);
    int list(const std::string& name, int family, std::int64_t entries, const std::string& unit,
             const std::string& about);
    int scalar(const std::string& name, const std::string& reduce, double first, int history,
               const std::string& unit, const std::string& about);

    PyParameter parameter(const std::string& name, double value, const std::string& unit,
                          const std::string& about, double least, double most);

    /// (access, label, version, back, ghosts), in the order in which the kernel asks for them.
    using PyUse = std::tuple<std::string, int, int, int, Int3>;
    /// `flops`, `bytes`: for each cell.
    void task(bool start, const std::string& name, int family, const std::vector<PyUse>& uses, double flops,
              double bytes, nb::callable kernel);

    /// Who keeps the values alive that kernels see; null: nobody needs to.
    nb::handle owner;

  private:
    std::unique_ptr<Graph> own_;
    Graph* graph_;
};

}  // namespace strata::graph::python
