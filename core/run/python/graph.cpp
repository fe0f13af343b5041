#include "core/run/python/graph.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "core/graph/resolve/describe.hpp"
#include "core/run/python/bind.hpp"
#include "core/run/python/kernel.hpp"

namespace strata::graph::python {

namespace {

constexpr std::array<std::pair<const char*, On>, 5> kOn{{{"cells", On::cells},
                                                         {"nodes", On::nodes},
                                                         {"faces_x", On::faces_x},
                                                         {"faces_y", On::faces_y},
                                                         {"faces_z", On::faces_z}}};
constexpr std::array<std::pair<const char*, Element>, 4> kType{
    {{"float64", Element::f64}, {"int64", Element::i64}, {"int32", Element::i32}, {"uint8", Element::u8}}};
constexpr std::array<std::pair<const char*, Reduce>, 4> kReduce{
    {{"none", Reduce::none}, {"min", Reduce::min}, {"max", Reduce::max}, {"sum", Reduce::sum}}};
constexpr std::array<std::pair<const char*, Access>, 4> kAccess{{{"need", Access::need},
                                                                 {"make", Access::make},
                                                                 {"modify", Access::modify},
                                                                 {"contribute", Access::contribute}}};

}  // namespace

Graph& PyGraph::get() const {
    if (graph_ == nullptr) throw Error("the run that this graph belonged to is over");
    return *graph_;
}

const Grid& PyGraph::grid_at(int family) const {
    return static_cast<const Grid&>(*get().families().at(static_cast<std::size_t>(family)));
}

int PyGraph::grid(const std::string& name, Int3 cells, Int3 patch, std::array<bool, 3> periodic,
                  std::array<double, 3> spacing) {
    get().grid(name,
               {.cells = {{0, 0, 0}, cells}, .patch_cells = patch, .periodic = periodic, .spacing = spacing});
    return static_cast<int>(get().families().size()) - 1;
}

int PyGraph::field(const std::string& name, int family, const std::string& on, int history, Int3 border,
                   bool kept, const std::string& unit, const std::string& about) {
    return get()
        .field<double>(name, grid_at(family), named("place for a field", on, kOn),
                       {.history = history, .border = border, .unit = unit, .about = about, .kept = kept})
        .id()
        .number();
}

int PyGraph::list(const std::string& name, int family, const std::vector<std::int64_t>& entries,
                  const std::string& type, bool kept, const std::string& unit, const std::string& about) {
    const Grid& grid = grid_at(family);
    const auto patches = static_cast<std::size_t>(grid.patches());
    if (entries.size() != 1 && entries.size() != patches)
        throw Error("a list has a number of entries for all patches, or one for each")
            .at(name)
            .given(std::to_string(entries.size()))
            .allowed(fmt::format("1 or {}", patches));
    for (const std::int64_t each : entries)
        if (each < (entries.size() == 1 ? 1 : 0))
            throw Error("a list needs entries").at(name).given(std::to_string(each)).allowed("1 or more");
    const auto number = [entries](int patch) {
        return entries.size() == 1 ? entries[0] : entries[static_cast<std::size_t>(patch)];
    };
    const LabelOptions options{.unit = unit, .about = about, .kept = kept};
    switch (named("type of numbers", type, kType)) {
        case Element::i64:
            return get().list<std::int64_t>(name, grid, number, options).id().number();
        case Element::i32:
            return get().list<std::int32_t>(name, grid, number, options).id().number();
        case Element::u8:
            return get().list<std::uint8_t>(name, grid, number, options).id().number();
        default:
            return get().list<double>(name, grid, number, options).id().number();
    }
}

int PyGraph::scalar(const std::string& name, const std::string& reduce, double first, int history,
                    const std::string& unit, const std::string& about) {
    return get()
        .scalar<double>(name, named("reduction", reduce, kReduce), first,
                        {.history = history, .unit = unit, .about = about})
        .id()
        .number();
}

PyParameter PyGraph::parameter(const std::string& name, double value, const std::string& unit,
                               const std::string& about, double least, double most) {
    return {get().parameter(
        {.name = name, .unit = unit, .about = about, .value = value, .least = least, .most = most})};
}

void PyGraph::in_program_order() {
    get().in_program_order();
    ordered_ = true;
}

int PyGraph::version_of(const Task& task, const std::vector<PyUse>& uses, const PyUse& use) const {
    const auto& [access, label, version, back, ghosts, towards, corners] = use;
    if (version != kNewest) return version;
    if (access != "need" && access != "modify") return 0;
    const int newest = task.newest(Field<double>(LabelId(label))).version;
    // What a task needs upwind it makes itself: in place the version after the newest one.
    const bool in_place = std::any_of(uses.begin(), uses.end(), [label = label](const PyUse& other) {
        return std::get<0>(other) == "modify" && std::get<1>(other) == label;
    });
    return ordered_ && access == "need" && towards != Int3{} && in_place ? newest + 1 : newest;
}

std::vector<int> PyGraph::task(bool start, const std::string& name, int family,
                               const std::vector<PyUse>& uses, double flops, double bytes,
                               nb::callable kernel) {
    Scope& scope = start ? get().start() : get().step();
    Task task = family < 0 ? scope.once(name) : scope.task(name, grid_at(family));
    std::vector<int> numbers;
    for (const PyUse& use : uses) {
        const auto& [access, label, version, back, ghosts, towards, corners] = use;
        const Access how = named("access", access, kAccess);
        const TypedVersion<double, Kind::field> of{{LabelId(label), version_of(task, uses, use), back}};
        const int layers = std::max({ghosts[0], ghosts[1], ghosts[2]});
        const bool sided = towards != Int3{};
        if (how == Access::modify && layers > 0 && !sided && !corners)
            throw Error("a task modifies a field with all ghosts around, or in the order of a sweep")
                .given("ghosts without corners")
                .allowed("corners=True, or upwind(...)");
        if (how != Access::modify || layers == 0)
            numbers.push_back(task.use({how,
                                        of,
                                        nullptr,
                                        ghosts,
                                        {},
                                        false,
                                        towards,
                                        sided && corners,
                                        how == Access::need && layers > 0 && !sided && !corners}));
        else if (sided)
            numbers.push_back(task.modify(of, Upwind{towards, layers, corners}).index);
        else
            numbers.push_back(task.modify(of, graph::ghosts(ghosts)).index);
    }
    task.work(flops, bytes).run(body_of(std::move(kernel), [this] {
        return owner ? nb::borrow(owner) : nb::none();
    }));
    return numbers;
}

void bind_graphs(nb::module_& module) {
    nb::class_<PyParameter>(module, "Parameter").def_prop_ro("value", [](const PyParameter& p) {
        return *p.at;
    });
    nb::class_<PyGraph>(module, "Graph")
        .def(nb::init<const std::string&>())
        .def("grid", &PyGraph::grid)
        .def("field", &PyGraph::field)
        .def("list", &PyGraph::list)
        .def("scalar", &PyGraph::scalar)
        .def("parameter", &PyGraph::parameter, nb::keep_alive<0, 1>())
        .def("in_program_order", &PyGraph::in_program_order)
        .def("task", &PyGraph::task)
        .def("patches", [](const PyGraph& g, int family) { return g.grid_at(family).patches(); })
        .def("box",
             [](const PyGraph& g, int family, int patch) {
                 const Grid& grid = g.grid_at(family);
                 if (patch < 0 || patch >= grid.patches())
                     throw Error("a grid has no such patch")
                         .given(std::to_string(patch))
                         .allowed(fmt::format("0 to {}", grid.patches() - 1));
                 return numbers(grid.box(patch));
             })
        .def("describe", [](const PyGraph& g) { return describe(g.get(), resolve(g.get())); });
}

}  // namespace strata::graph::python
