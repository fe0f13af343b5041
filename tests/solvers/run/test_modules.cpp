// Modules in a company: names, keys, steps, and what is refused.
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/run/module/company.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

/// u on a grid; each step adds dt to it.
class Counter : public Module {
  public:
    explicit Counter(double stable = 0.25, double exact = 0) : stable_(stable), exact_(exact) {}
    About about() const override { return {"counter", "Adds up time."}; }
    void keys(CaseSchema& keys) override {
        keys.common_key("time.end", &end_, {.unit = "s", .required = true});
        keys.key("grid.cells", &cells_, {.least = 1});
        keys.tables("part", [this](CaseSchema& of, const std::string& name) {
            of.key("part." + name + ".size", &size_, {});
        });
    }
    void prepare(const CaseSchema& keys) override {
        ++prepared;
        if (cells_ == 13) keys.refuse("grid.cells", "13 is no number of cells", "others");
    }
    void labels(const ModuleGraph& part) override {
        const int n = static_cast<int>(cells_);
        grid = &part->grid("grid", {.cells = {{0, 0, 0}, {n, 1, 1}}, .patch_cells = {2, 1, 1}});
        u = part->field<double>("u", *grid, On::cells, {.history = 1});
    }
    Solver declare(const ModuleGraph& part) override {
        part->in_program_order();
        part->start().fill("first", u, [](const Real3&) { return 0.0; });
        clock = part.clock().labels();
        if (exact_ > 0) {
            part.clock().exact(exact_);
        } else {
            part.clock().advance(part.clock().task(), clock, end_,
                                 [&](Task&) { return [this](Here&) { return stable_; }; });
        }
        Task task = part->step().task("add", *grid);
        task.run(
            [dt = task.need(clock.dt), before = task.need(u.previous()), now = task.make(u)](Here& here) {
                for_each(here.cells(),
                         [&](int i, int j, int k) { here[now](i, j, k) = here[before](i, j, k) + here[dt]; });
            });
        part.stage("added");
        return {.time = clock.time, .end = end_};
    }

    const Grid* grid = nullptr;
    Field<double> u;
    Clock clock;
    int prepared = 0;

  private:
    std::int64_t cells_ = 4, size_ = 1;
    double end_ = 1, stable_, exact_;
};

/// Doubles u of "second" where that has come to a stage.
class Doubles : public Module {
  public:
    explicit Doubles(std::string of = "second", std::string stage = "added")
        : of_(std::move(of)), stage_(std::move(stage)) {}
    About about() const override { return {"doubles", ""}; }
    void keys(CaseSchema&) override {}
    void prepare(const CaseSchema&) override {}
    void labels(const ModuleGraph& part) override {
        auto& other = part.other<Counter>("second");
        part.at_stage(of_, stage_, [&other, part] {
            Task task = part->step().task("double", *other.grid);
            task.run([u = task.modify(other.u)](Here& here) {
                for_each(here.cells(), [&](int i, int j, int k) { here[u](i, j, k) *= 2; });
            });
        });
    }
    Solver declare(const ModuleGraph&) override { return {}; }

  private:
    std::string of_, stage_;
};

struct Declared {
    Company company{"test", "Modules."};
    CaseSchema keys{"test", "Modules."};
    Graph graph{"test"};

    void read(const std::string& text) {
        company.keys(keys);
        keys.read_text("solver = \"test\"\n" + text, "case.toml");
        company.prepare(keys);
    }
    /// Runs to the end; steps of the company.
    std::int64_t run(const std::string& text) {
        read(text);
        const Solver solver = company.declare(graph, keys);
        simulation.emplace(graph, Members::alone(), SimulationOptions{.threads = 1});
        simulation->start();
        simulation->stop_when<double>(solver.time, [&](double now) { return now >= solver.end; });
        simulation->advance(1000);
        CHECK(simulation->value(solver.time) == solver.end);
        return simulation->step();
    }
    /// A field's first cell.
    [[nodiscard]] double value(Field<double> field) const {
        double value = -1;
        for (const Kept& kept : kept_versions(simulation->plan()))
            if (kept.label == field.id() && kept.back == 0)
                std::memcpy(&value, simulation->values(kept, 0).data(), sizeof value);
        return value;
    }
    std::optional<Simulation> simulation;
};

std::string message_of(const auto& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.text();
    }
    return "";
}

}  // namespace

TEST_CASE("names of a module begin with its own, and grids of one shape are one") {
    Declared d;
    auto first = std::make_unique<Counter>(), second = std::make_unique<Counter>();
    Counter &a = *first, &b = *second;
    d.company.add("z", std::move(first)).add("second", std::move(second)).add<Doubles>("a");
    d.read("[time]\nend = 1.0\n");
    CHECK(a.prepared == 1);
    (void)d.company.declare(d.graph, d.keys);
    CHECK(a.grid == b.grid);
    CHECK(a.grid->name() == "z.grid");
    CHECK(d.graph.labels()[a.u.id()].name == "z.u");
    CHECK(d.graph.labels()[b.u.id()].name == "second.u");
    // In the order of the modules, whatever their names.
    std::vector<std::string> tasks;
    for (const TaskInfo& task : d.graph.tasks()) tasks.push_back(task.name);
    CHECK(tasks == std::vector<std::string>{"advance clock", "z.first", "z.add", "second.first", "second.add",
                                            "a.double"});
}

TEST_CASE("a grid of another shape is a module's own") {
    Declared d;
    auto first = std::make_unique<Counter>(), second = std::make_unique<Counter>();
    Counter &a = *first, &b = *second;
    d.company.add("first", std::move(first)).add("second", std::move(second));
    d.read("[time]\nend = 1.0\n[second.grid]\ncells = 6\n");
    (void)d.company.declare(d.graph, d.keys);
    CHECK(b.grid->name() == "second.grid");
    CHECK(a.grid != b.grid);
}

TEST_CASE("the common step is the shortest, and a task of another module stands at a stage") {
    Declared d;
    auto first = std::make_unique<Counter>(0.5), second = std::make_unique<Counter>(0.25);
    Counter &a = *first, &b = *second;
    d.company.add("first", std::move(first)).add("second", std::move(second)).add<Doubles>("doubles");
    CHECK(d.run("[time]\nend = 1.0\n") == 4);
    CHECK(d.value(a.u) == 1.0);
    CHECK(d.value(b.u) == 0.25 * (2 + 4 + 8 + 16));  // u -> 2 (u + 1/4)
}

TEST_CASE("a module takes steps of its own in a common one, and others' tasks with it") {
    Declared d;
    auto first = std::make_unique<Counter>(0.5), second = std::make_unique<Counter>(0.25);
    Counter &a = *first, &b = *second;
    d.company.add("first", std::move(first)).add("second", std::move(second)).add<Doubles>("doubles");
    CHECK(d.run("[time]\nend = 1.0\n[second]\nsubsteps = 2\n") == 2);
    CHECK(d.value(a.u) == 1.0);
    CHECK(d.value(b.u) == 0.25 * (2 + 4 + 8 + 16));
    CHECK(d.simulation->value(b.clock.time) == 1.0);
}

TEST_CASE("substeps bound the common step by the module's own") {
    Declared d;
    d.company.add<Counter>("first", 1.0).add<Counter>("second", 0.125);
    // At first nothing is known of it: one step of 1, in eight of its own; then of 2/8 each.
    CHECK(d.run("[time]\nend = 2.0\n[second]\nsubsteps = 2\n") == 1 + 4);
}

TEST_CASE("a module rests, and acts over the steps that it has missed") {
    Declared d;
    auto first = std::make_unique<Counter>(0.125), second = std::make_unique<Counter>(0.5);
    Counter &a = *first, &b = *second;
    d.company.add("first", std::move(first)).add("second", std::move(second)).add<Doubles>("doubles");
    CHECK(d.run("[time]\nend = 1.25\n[second]\nrest = 4\n") == 10);
    CHECK(d.value(a.u) == 1.25);
    // After steps 4, 8 and the last: 2 (2 (2 / 2 + 1 / 2) + 1 / 4).
    CHECK(d.value(b.u) == 2 * (2 * (1.0 + 0.5) + 0.25));
}

TEST_CASE("steps of one length are those of the company") {
    Declared d;
    d.company.add<Counter>("first", 0.5).add<Counter>("second", 0.25, 0.25);
    CHECK(d.run("[time]\nend = 1.0\n") == 4);
    Declared longer;
    longer.company.add<Counter>("first", 0.125).add<Counter>("second", 0.25, 0.25);
    CHECK(message_of([&] {
              longer.run("[time]\nend = 1.0\n");
          }).find("'first' can take steps of at most 0.125") != std::string::npos);
    Declared own;
    own.company.add<Counter>("first", 0.125, 0.25);
    CHECK(message_of([&] {
              own.run("[time]\nend = 1.0\n[first]\nsubsteps = 2\n");
          }).find("first.substeps = 2") != std::string::npos);
    Declared two;
    two.company.add<Counter>("first", 1, 0.25).add<Counter>("second", 1, 0.5);
    CHECK(message_of([&] { two.run("[time]\nend = 1.0\n"); }).find("'first': 0.25 and 'second': 0.5") !=
          std::string::npos);
}

TEST_CASE("keys of a module are under its name, those of all are not") {
    Declared d;
    d.company.add<Counter>("first").add<Counter>("second");
    d.read("[time]\nend = 2.0\n[first.grid]\ncells = 8\n[second.part.left]\nsize = 3\n");
    const std::string text = d.keys.decisive_text();
    CHECK(text.find("time.end = 2") != std::string::npos);
    CHECK(text.find("first.grid.cells = 8\n") != std::string::npos);
    CHECK(text.find("second.grid.cells = 4\n") != std::string::npos);
    CHECK(text.find("second.part.left.size = 3\n") != std::string::npos);
    CHECK(text.find("first.part") == std::string::npos);
    CHECK(d.keys.help().find("[second.grid]") != std::string::npos);

    Declared wrong;
    wrong.company.add<Counter>("first").add<Counter>("second");
    const std::string refused =
        message_of([&] { wrong.read("[time]\nend = 2.0\n[second.grid]\ncells = 13\n"); });
    CHECK(refused.find("case.toml:5") != std::string::npos);
    CHECK(refused.find("second.grid.cells") != std::string::npos);
    Declared unknown;
    unknown.company.add<Counter>("first");
    CHECK(message_of([&] {
              unknown.read("[time]\nend = 2.0\n[grid]\ncells = 4\n");
          }).find("first.grid.cells") != std::string::npos);
}

namespace {

/// Adds a number to a sum that the first of several has declared.
class Adds : public Module {
  public:
    Adds(double number, Field<double>& sum, const Grid*& grid) : number_(number), sum_(sum), grid_(grid) {}
    About about() const override { return {"adds", ""}; }
    void keys(CaseSchema&) override {}
    void prepare(const CaseSchema&) override {}
    void labels(const ModuleGraph& part) override {
        if (sum_.id()) return;
        grid_ = &part->grid("grid", {.cells = {{0, 0, 0}, {1, 1, 1}}, .patch_cells = {1, 1, 1}});
        sum_ = part->field<double>("sum", *grid_, On::cells, {.kept = true});
    }
    Solver declare(const ModuleGraph& part) override {
        Task task = part->step().task("add", *grid_);
        task.run([number = number_, sum = task.sum(sum_, ghosts(0))](Here& here) {
            here[sum](0, 0, 0) += number;
        });
        return {};
    }

  private:
    double number_;
    Field<double>& sum_;
    const Grid*& grid_;
};

}  // namespace

TEST_CASE("modules add to a sum in their order, whatever their names") {
    const std::vector<std::pair<std::string, double>> numbers{{"z", 1e16}, {"a", -1e16}, {"m", 1.0}};
    const auto added = [&](std::initializer_list<std::size_t> order) {
        Declared d;
        Field<double> sum;
        const Grid* grid = nullptr;
        d.company.add<Counter>("time-keeper");
        for (const std::size_t i : order) d.company.add<Adds>(numbers[i].first, numbers[i].second, sum, grid);
        d.run("[time]\nend = 1.0\n");
        return d.value(sum);
    };
    CHECK(added({0, 1, 2}) == 1.0);
    CHECK(added({1, 2, 0}) == 0.0);  // (-1e16 + 1) + 1e16, the order of names
}

TEST_CASE("what a company cannot be is refused") {
    Company company("test", "");
    company.add<Counter>("first");
    for (const std::string name : {"first", "time", "output", "run", "", "A", "a.b"})
        CHECK_THROWS_AS(company.add<Counter>(name), Error);

    Declared nowhere;
    nowhere.company.add<Counter>("first").add<Counter>("second").add<Doubles>("doubles", "second", "left");
    const std::string missed = message_of([&] { nowhere.run("[time]\nend = 1.0\n"); });
    CHECK(missed.find("'left' of 'second'") != std::string::npos);
    CHECK(missed.find("'added' of 'second'") != std::string::npos);
    Declared before;
    before.company.add<Doubles>("doubles").add<Counter>("second");
    CHECK(message_of([&] { before.run("[time]\nend = 1.0\n"); }).find("'doubles' asks for a module") !=
          std::string::npos);
    Declared without_clock;
    without_clock.company.add<Counter>("second").add<Doubles>("doubles");
    CHECK(message_of([&] {
              without_clock.run("[time]\nend = 1.0\n[doubles]\nrest = 2\n");
          }).find("'doubles' has no clock") != std::string::npos);
    Declared untimed;
    untimed.company.add<Counter>("second").add<Doubles>("doubles");
    CHECK(untimed.run("[time]\nend = 1.0\n") == 4);
}
