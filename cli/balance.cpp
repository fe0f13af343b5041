// strata balance: which process gets which zones, and how many threads.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/python.hpp"
#include "core/balance/plan.hpp"
#include "core/balance/zones.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/options.hpp"

namespace strata::cli {
namespace {

using balance::Plan;
using balance::Zones;

constexpr long kMostCpus = 1'000'000;
constexpr int kShown = 12;  // processes in the table, from the longest on

Options declare() {
    Options options(
        "strata balance",
        "Shares zones out to processes and threads to match, and predicts how well that can work.");
    options
        .positional("ZONES.csv", "name and points, cost or i,j,k; optionally x,y,z or x0,y0,z0,x1,y1,z1",
                    false)
        .option("--generate", "SET", "", "instead: origin2000, overflow-d, ins3d or ZONES:POINTS:LEAST:MOST")
        .option("--seed", "N", "1", "of --generate")
        .option("--exchanges", "FILE", "",
                "a,b,bytes: which zones exchange data (default: boxes that overlap)")
        .option("--cpus", "N", "", "CPUs in all")
        .option("--processes", "N", "", "processes (default: searched for)")
        .option("--max-threads", "N", "", "of one process (default: as many as the curve knows)")
        .option("--curve", "ideal|ins3d|FILE", "ideal",
                "speed-up by threads; FILE has the columns threads,seconds")
        .option("--method", fmt::format("{}", fmt::join(balance::method_names(), "|")), "packing",
                "how zones are shared out")
        .flag("--json", "the plan as JSON (schema strata.balance/1)")
        .option("--svg", "FILE", "", "draw time and threads of each process into FILE")
        .example("strata balance zones.csv --cpus 64", "as many processes as suits, perfect threads")
        .example("strata balance --generate origin2000 --cpus 512 --processes 69",
                 "the case of the Origin2000")
        .example("strata balance zones.csv --cpus 64 --curve threads.csv",
                 "with a thread curve that you measured")
        .example("strata balance zones.csv --cpus 64 --method connected",
                 "neighbours on one process where it fits");
    return options;
}

balance::ThreadCurve curve_of(const std::string& text) {
    if (text == "ideal") return balance::ThreadCurve::ideal();
    if (text == "ins3d") return balance::ThreadCurve::ins3d();
    return balance::ThreadCurve::read(text);
}

Zones zones_of(const Parsed& given) {
    const bool generated = given.has("--generate");
    if (generated == !given.positionals().empty())
        throw Error("zones come from a table or are generated")
            .given(generated ? "both" : "neither")
            .allowed("ZONES.csv or --generate SET");
    Zones zones = generated
                      ? balance::generate(balance::find_set(given.text("--generate")),
                                          static_cast<std::uint64_t>(given.integer("--seed", 0, 1L << 62)))
                      : balance::read_zones(given.positionals().front());
    if (given.has("--exchanges")) balance::read_exchanged(given.text("--exchanges"), zones);
    return zones;
}

void write_json(std::ostream& out, const Zones& zones, const balance::Request& request, const Plan& plan) {
    Json j(out);
    j.object().member("schema", "strata.balance/1").member("source", zones.source);
    j.member("generated", zones.generated).member("patches", zones.names.size());
    j.member("total", std::accumulate(zones.problem.costs.begin(), zones.problem.costs.end(), 0.0));
    j.member("method", balance::method_name(request.method)).member("curve", request.curve.name());
    j.member("cpus", plan.cpus).member("cpus_used", plan.cpus_used).member("processes", plan.processes());
    j.member("longest", plan.longest).member("bound", plan.bound).member("efficiency", plan.efficiency);
    j.member("efficiency_ideal", plan.efficiency_ideal).member("balance", plan.balance);
    j.member("bytes_between", plan.bytes_between);
    j.key("limit");
    if (plan.limit.patch < 0) {
        j.null();
    } else {
        j.object().member("patch", zones.names[static_cast<size_t>(plan.limit.patch)]);
        j.member("threads", plan.limit.threads).member("time", plan.limit.time);
        j.member("without", plan.limit.without).member("largest", plan.limit.largest);
        j.member("too_large", plan.limit.too_large).member("cpus_enough", plan.limit.cpus_enough).end();
    }
    j.key("zones").array();
    for (size_t i = 0; i < zones.names.size(); ++i) {
        j.object().member("name", zones.names[i]).member("cost", zones.problem.costs[i]);
        if (!zones.problem.centres.empty())
            j.members("centre",
                      std::vector<double>(zones.problem.centres[i].begin(), zones.problem.centres[i].end()));
        j.end();
    }
    j.end();
    j.key("exchanged").array();
    for (const balance::Exchanged& pair : zones.problem.exchanged)
        j.object().member("a", pair.a).member("b", pair.b).member("bytes", pair.bytes).end();
    j.end();
    std::vector<std::vector<std::string>> has(plan.threads.size());
    for (size_t i = 0; i < zones.names.size(); ++i)
        has[static_cast<size_t>(plan.owners[i])].push_back(zones.names[i]);
    j.key("plan").array();
    for (size_t p = 0; p < has.size(); ++p) {
        j.object()
            .member("threads", plan.threads[p])
            .member("load", plan.loads[p])
            .member("time", plan.times[p]);
        j.members("patches", has[p]).end();
    }
    j.end().end();
}

std::string table(const Zones& zones, const balance::Request& request, const Plan& plan) {
    const double total = std::accumulate(zones.problem.costs.begin(), zones.problem.costs.end(), 0.0);
    std::string text =
        fmt::format("{} zones with a cost of {:.6g} in all ({})\n", zones.names.size(), total, zones.source);
    text +=
        fmt::format("{} processes on {} of {} CPUs, found by {}, threads taken as {}\n\n", plan.processes(),
                    plan.cpus_used, plan.cpus, balance::method_name(request.method), request.curve.name());
    std::vector<size_t> order(plan.times.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return plan.times[a] > plan.times[b]; });
    std::vector<int> count(plan.times.size(), 0);
    for (const int owner : plan.owners) ++count[static_cast<size_t>(owner)];
    text += "  process  zones  threads        load        time\n";
    for (size_t i = 0; i < std::min<size_t>(order.size(), kShown); ++i) {
        const size_t p = order[i];
        text += fmt::format("  {:>7}  {:>5}  {:>7}  {:>10.6g}  {:>10.6g}\n", p, count[p], plan.threads[p],
                            plan.loads[p], plan.times[p]);
    }
    if (order.size() > kShown)
        text +=
            fmt::format("  and {} more, down to {:.6g}\n", order.size() - kShown, plan.times[order.back()]);
    text += fmt::format("\n  longest time            {:.6g} (no plan is below {:.6g})\n", plan.longest,
                        plan.bound);
    text +=
        fmt::format("  efficiency              {:.2f} %, cost of all zones over {} CPUs x the longest time\n",
                    100 * plan.efficiency, plan.cpus);
    if (!request.curve.is_ideal())
        text +=
            fmt::format("  with ideal threads      {:.2f} %, the same plan\n", 100 * plan.efficiency_ideal);
    text += fmt::format("  load balance            {:.2f} %, mean time of a CPU over the longest time\n",
                        100 * plan.balance);
    if (!zones.problem.exchanged.empty())
        text += fmt::format("  between processes       {:.4g} bytes a step\n", plan.bytes_between);
    if (plan.limit.patch >= 0) {
        const balance::Limit& limit = plan.limit;
        text += fmt::format(
            "\nOne zone limits it: {} takes {:.6g} alone on {} threads, {:.2f} times what all would take "
            "were zones "
            "divisible.\n{} of {} zones are above {:.6g}, the largest that would not limit. {} CPUs give the "
            "same time.\n",
            zones.names[static_cast<size_t>(limit.patch)], limit.time, limit.threads,
            limit.time / limit.without, limit.too_large, zones.names.size(), limit.largest,
            limit.cpus_enough);
    }
    return text;
}

/// Leaves the document in memory that only this process and its successor see: nothing to remove afterwards.
std::string in_memory(const std::string& document) {
    const int fd = memfd_create("strata-balance", 0);
    if (fd < 0) throw system_error("no memory for the plan", errno);
    for (size_t done = 0; done < document.size();) {
        const ssize_t wrote = write(fd, document.data() + done, document.size() - done);
        if (wrote < 0) throw system_error("no memory for the plan", errno);
        done += static_cast<size_t>(wrote);
    }
    return fmt::format("/proc/self/fd/{}", fd);
}

}  // namespace

int balance_command(int argc, char** argv) {
    const Parsed given = declare().parse(argc, argv);
    if (given.help()) return kSuccess;
    if (!given.has("--cpus")) throw Error("a plan needs a number of CPUs").allowed("--cpus N");
    balance::Request request;
    request.cpus = static_cast<int>(given.integer("--cpus", 1, kMostCpus));
    if (given.has("--processes"))
        request.processes = static_cast<int>(given.integer("--processes", 1, kMostCpus));
    if (given.has("--max-threads"))
        request.max_threads = static_cast<int>(given.integer("--max-threads", 1, kMostCpus));
    request.method = balance::parse_method(given.text("--method"));
    request.curve = curve_of(given.text("--curve"));
    const Zones zones = zones_of(given);
    const bool grouped =
        request.method == balance::Method::connected || request.method == balance::Method::bytes;
    if (grouped && zones.problem.exchanged.empty())
        throw Error("packing with connectivity needs to know who exchanges data")
            .given(zones.source)
            .allowed("boxes that overlap (x0,y0,z0,x1,y1,z1), or --exchanges FILE");
    const Plan plan = balance::make_plan(zones.problem, request);
    if (given.has("--json")) {
        write_json(std::cout, zones, request, plan);
    } else {
        std::fputs(table(zones, request, plan).c_str(), stdout);
    }
    if (!given.has("--svg")) return kSuccess;
    std::ostringstream document;
    write_json(document, zones, request, plan);
    flush_output();
    run_python({"draw", "--balance", in_memory(document.str()), "--svg", given.text("--svg")});
}

}  // namespace strata::cli
