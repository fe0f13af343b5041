// A small graph for tests: requests to patches that are not known beforehand, in rounds, and a gather whose
// table is in pieces and changes in each step.
#pragma once

#include <cstdint>

#include "core/graph/declare/local_gather.hpp"
#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// Patches of `grid` ask patches of `there` for values, three in a round at most, until all have their
/// answers: patch and cell follow from the step. Then values are gathered along a list that the answers
/// made, and along one that some patches have from the start on and that a part of the step sets anew in
/// every third step. In a part of the step of two rounds a label of three components comes along both. All
/// are compared with what they must be.
struct Asks {
    struct Question {
        std::int32_t cell, number;
    };
    struct Answer {
        double value;
        std::int64_t asked_by, number;
    };
    static constexpr int kMost = 3;

    Graph graph{"asks"};
    Grid &grid, &there;
    Field<double> u, w, three;
    Scalar<double> third;
    List<std::int32_t> open, found;
    Scalar<double> left;
    Requests<Question, Answer> search;
    LocalGather gather, fixed;

    explicit Asks(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          there(graph.grid("there", {.cells = {{0, 0, 0}, {10, 6, 1}}, .patch_cells = {3, 2, 1}})),
          u(graph.field<double>("u", there, On::cells, {.kept = true})),
          w(graph.field<double>("w", grid, On::cells, {.kept = true})),
          three(graph.field<double>("three", there, On::cells, {.components = 3})),
          third(graph.scalar<double>("third")),
          open(graph.list<std::int32_t>("open", grid, [](int) { return 1; })),
          found(graph.list<std::int32_t>("found", grid, [](int) { return 2 * kLargest; })),
          left(graph.scalar<double>("left", Reduce::sum)),
          search(graph, "search", grid, there, kMost),
          gather(graph, "gather", there, grid, kLargest),
          fixed(graph, "fixed", there, grid, 2) {
        start();
        Task begin = graph.step().task("begin", grid);
        begin.run([none = begin.make(open), list = begin.make(found)](Here& here) { here[none][0] = 0; });
        ask();
        gathers();
        gathers_of_three();
    }

    static constexpr int kLargest = 12;
    /// Patch p wants so many values in a step, and the patch and the cell of each.
    static int wanted(int p, std::int64_t step) { return static_cast<int>((p * 7 + step * 5) % 11); }
    [[nodiscard]] int patch_of(int p, int i, std::int64_t step) const {
        return static_cast<int>((p * 13 + (i / 2) * 5 + step) % there.patches());
    }
    [[nodiscard]] std::int32_t cell_of(int p, int i, std::int64_t step) const {
        const auto cells = there.box(patch_of(p, i, step)).volume();
        return static_cast<std::int32_t>((p + 3 * i + step) % cells);
    }
    static double value(int patch, std::int32_t cell, std::int64_t step) {
        return patch * 1000.0 + cell + 1.0 / static_cast<double>(step + 3);
    }

    void start() {
        Task first = graph.start().task("zero", grid);
        first.run([to = first.make(w)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[to](i, j, k) = 0; });
        });
        Task set = graph.start().task("set at the start", grid);
        set.on([](int patch) { return patch % 3 > 0; });
        set.run([this, list = fixed.set(set)](Here& here) {
            for (int i = 0; i < 2; ++i)
                here[list].add(patch_of(here.patch, 2 * i, 0), cell_of(here.patch, 2 * i, 0));
        });
        Task every = graph.step().once("every third");
        every.run([to = every.make(third)](Here& here) { here[to] = here.step % 3 == 0; });
        Scope& some = graph.step().when<double>("third", third.at(0), [](double yes) { return yes > 0; });
        Task anew = some.task("set anew", grid);
        anew.run([this, list = fixed.set(anew)](Here& here) {
            for (int i = 0; i < 2; ++i)
                here[list].add(patch_of(here.patch, 2 * i, here.step), cell_of(here.patch, 2 * i, here.step));
        });
        Task change = graph.step().task("change", there);
        change.run([now = change.make(u)](Here& here) {
            std::int32_t at = 0;
            for_each(here.cells(),
                     [&](int i, int j, int k) { here[now](i, j, k) = value(here.patch, at++, here.step); });
        });
    }

    void ask() {
        Scope& rounds = graph.step().repeat<double>(
            "rounds", left.at(0), [](double count) { return count == 0; }, 10);
        Task task = rounds.task("ask", grid);
        task.run([this, asked = search.ask(task), done = task.need(open),
                  more = task.contribute(left)](Here& here) {
            for (int i = here[done][0]; i < wanted(here.patch, here.step); ++i)
                here[asked].add(patch_of(here.patch, i, here.step), {cell_of(here.patch, i, here.step), i});
            here[more] = here[asked].left();
        });
        Task reply = rounds.task("answer", there);
        reply.run([got = search.answer(reply), from = reply.need(u)](Here& here) {
            int before = -1, number = -1;
            for (const auto& request : here[got]) {
                const auto [cell, i] = request.question();
                if (request.from < before || (request.from == before && i <= number))
                    here.fail("requests are not in order");
                before = request.from, number = i;
                const Box box = here.cells();
                const int row = cell / box.extent(0);
                request.answer() = {
                    here[from](box.lo[0] + cell % box.extent(0), box.lo[1] + row % box.extent(1), box.lo[2]),
                    request.from, i};
            }
        });
        Task take = rounds.task("take", grid);
        take.run([this, answers = search.answers(take), done = take.modify(open),
                  list = take.modify(found)](Here& here) {
            for (const Answer& each : here[answers]) {
                const int i = here[done][0]++, p = here.patch;
                const int patch = patch_of(p, i, here.step);
                const std::int32_t cell = cell_of(p, i, here.step);
                if (each.asked_by != p || each.number != i || each.value != value(patch, cell, here.step))
                    here.fail("an answer is not that to its question");
                here[list][2 * i] = patch, here[list][2 * i + 1] = cell;
            }
        });
    }

    /// The step in which a patch's list of `fixed` was set last; 0: at the start, -1: never.
    static std::int64_t set_in(int patch, std::int64_t step) {
        if (step >= 3) return step / 3 * 3;
        return patch % 3 > 0 ? 0 : -1;
    }
    void gathers_of_three() {
        Scope& twice = graph.step().subcycle("twice", 2);
        Task make = twice.task("three", there);
        make.run([to = make.make(three)](Here& here) {
            std::int32_t at = 0;
            for_each(here.cells(), [&](int i, int j, int k) {
                for (int c = 0; c < 3; ++c)
                    here[to](i, j, k, c) =
                        value(here.patch, at, here.step) + 1e5 * double(here.round) + 1e6 * c;
                ++at;
            });
        });
        const auto along = gather.gather(twice, three), rest = fixed.gather(twice, three);
        Task look = twice.task("look at three", grid);
        look.run([this, got = along.need(look), rested = rest.need(look)](Here& here) {
            const auto check = [&](const auto& all, std::size_t i, int at, std::int64_t set) {
                for (int c = 0; c < 3; ++c)
                    if (all(i, c) !=
                        value(patch_of(here.patch, at, set), cell_of(here.patch, at, set), here.step) +
                            1e5 * double(here.round) + 1e6 * c)
                        here.fail("a component is wrong");
            };
            const int count = wanted(here.patch, here.step);
            if (static_cast<int>(here[got].size()) != count) here.fail("values of three are missing");
            for (int i = 0; i < count; ++i)
                check(here[got], static_cast<std::size_t>(count - 1 - i), i, here.step);
            // What another part of the step changes enters as it was before.
            const std::int64_t set = set_in(here.patch, here.step - 1);
            if (here[rested].size() != (set < 0 ? 0 : 2)) here.fail("another list, of three");
            for (std::size_t i = 0; i < here[rested].size(); ++i)
                check(here[rested], i, 2 * static_cast<int>(i), set);
        });
    }

    void gathers() {
        Task set = graph.step().task("set", grid);
        set.run([list = gather.set(set), done = set.need(open.last()),
                 from = set.need(found.last())](Here& here) {
            if (here[done][0] != wanted(here.patch, here.step)) here.fail("not all were answered");
            for (int i = here[done][0] - 1; i >= 0; --i)
                here[list].add(here[from][2 * i], here[from][2 * i + 1]);
        });
        const auto values = gather.gather(graph.step(), u);
        const auto always = fixed.gather(graph.step(), u);
        Task look = graph.step().task("look", grid);
        look.run([this, got = always.need(look)](Here& here) {
            const auto all = here[got];
            const std::int64_t set = set_in(here.patch, here.step);
            if (all.size() != (set < 0 ? 0 : 2)) here.fail("another list than that which was set last");
            for (std::size_t i = 0; i < all.size(); ++i) {
                const int at = 2 * static_cast<int>(i);
                if (all[i] != value(patch_of(here.patch, at, set), cell_of(here.patch, at, set), here.step))
                    here.fail("a value along a list that rests is wrong");
            }
        });
        Task task = graph.step().task("use", grid);
        task.run([this, got = values.need(task), to = task.modify(w)](Here& here) {
            const auto all = here[got];
            const int count = wanted(here.patch, here.step);
            if (static_cast<int>(all.size()) != count) here.fail("values are missing");
            for (int i = 0; i < count; ++i) {
                const double from = all[static_cast<std::size_t>(count - 1 - i)];
                if (from !=
                    value(patch_of(here.patch, i, here.step), cell_of(here.patch, i, here.step), here.step))
                    here.fail("a gathered value is wrong");
                here[to](here.cells().lo[0], here.cells().lo[1], here.cells().lo[2]) += from / (i + 1);
            }
        });
    }
};

}  // namespace strata::graph::testing
