#include "core/run/driver/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "core/base/counted.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/named_file.hpp"
#include "core/base/units.hpp"
#include "core/run/profile/phases.hpp"
#include "core/run/profile/record.hpp"

namespace strata::graph {

namespace {

void write_counts(Json& json, const Counts& counts) {
    const auto events = [&](const std::vector<double>& values) {
        json.object();
        for (std::size_t e = 0; e < counts.events.size(); ++e) json.member(counts.events[e], values[e]);
        json.end();
    };
    json.key("counters").object().member("mode", counts.mode).member("from", counts.from);
    json.key("rows").array();
    for (const Counts::Row& row : counts.sorted()) {
        json.object().member("name", row.name).member("kind", name_of(row.kind)).member("calls", row.calls);
        json.member("values", row.values).key("events");
        events(row.events);
        json.end();
    }
    json.end().key("runtime");
    events(counts.runtime);
    json.end();
}

void write_memory(Json& json, const std::vector<RunBytes>& memory) {
    json.key("memory_bytes").array();
    for (const RunBytes& of : memory) {
        json.object().member("values", of.values).member("copies", of.copies).key("runtime");
        of.runtime ? json.value(*of.runtime) : json.null();
        json.end();
    }
    json.end();
}

void write_balance(Json& json, const BalanceRecord& balance) {
    json.key("balance").object().member("looks", balance.looks).member("looks_s", balance.looks_s);
    json.key("moves").array();
    for (const PatchMove& move : balance.moves)
        json.object()
            .member("step", move.step)
            .member("patches", move.patches)
            .member("balance_before", move.balance_before)
            .member("balance_after", move.balance_after)
            .member("seconds", move.seconds)
            .end();
    json.end().end();
}

/// Empty where costs were not looked at.
std::string text_of(const BalanceRecord& balance) {
    if (balance.looks == 0) return "";
    std::string text = fmt::format("balance: costs of patches looked at {} time{} in {}", balance.looks,
                                   balance.looks == 1 ? "" : "s", print_duration(balance.looks_s));
    if (balance.moves.empty())
        return text + (balance.room ? ", no patch moved\n"
                                    : ", no patch moved: there is too little memory for that\n");
    double seconds = 0;
    std::int64_t patches = 0;
    for (const PatchMove& move : balance.moves) seconds += move.seconds, patches += move.patches;
    const std::size_t moves = balance.moves.size();
    return text + fmt::format(", {} patch{} moved at {} step{} in {}\n", patches, patches == 1 ? "" : "es",
                              moves, moves == 1 ? "" : "s", print_duration(seconds));
}

std::string megabytes(double bytes) { return fmt::format("{:.3g} MB", bytes / 1e6); }

/// The largest of all processes.
std::string text_of(const std::vector<RunBytes>& memory) {
    if (memory.empty()) return "";
    double values = 0, copies = 0, runtime = 0;
    for (const RunBytes& of : memory) {
        values = std::max(values, static_cast<double>(of.values));
        copies = std::max(copies, static_cast<double>(of.copies));
        runtime = std::max(runtime, static_cast<double>(of.runtime.value_or(0)));
    }
    std::string text =
        fmt::format("memory of {} at most: {} of values, {} of copies around them",
                    memory.size() == 1 ? "the process" : "a process", megabytes(values), megabytes(copies));
    if (memory[0].runtime)
        text += fmt::format(", {} of Strata's runtime ({:.2g} % of all)", megabytes(runtime),
                            100 * runtime / std::max(1.0, values + copies + runtime));
    return text + '\n';
}

void write_json(std::ostream& out, const RunResult& r) {
    Json json(out);
    json.object().member("schema", "strata.result/1").member("benchmark", r.solver);
    json.key("parameters").object().member("case", r.case_file);
    for (const auto& [key, value] : r.settings) json.member(key, value);
    json.end();
    json.member("processes", r.processes).member("threads", r.threads).member("steps_s", r.steps_s);
    double all = 0;
    for (const auto& [name, seconds] : r.phases) all += seconds;
    json.member("wall_s", all).key("phases_s").object();
    for (const auto& [name, seconds] : r.phases) json.member(name, seconds);
    json.end();
    json.member("steps", r.steps).member("time", r.time).member("time_unit", r.time_unit);
    const bool passed = r.verification.passed();
    json.member("verified", passed && !r.unasked.empty() ? std::nullopt : std::optional<bool>(passed));
    const auto members = [&json](const Verification& check) -> Json& {
        return json.object()
            .member("what", check.what)
            .member("value", check.value)
            .member("limit", check.limit)
            .member("source", check.source);
    };
    json.key("verification");
    members(r.verification);
    if (!r.unasked.empty()) json.member("unasked", r.unasked);
    json.end();
    json.key("criteria").array();
    for (const Verification& check : r.criteria) members(check).member("passed", check.passed()).end();
    json.end();
    json.key("figures").array();
    if (r.verification.passed())
        for (const Figure& figure : r.figures)
            json.object()
                .member("name", figure.name)
                .member("value", figure.value)
                .member("unit", figure.unit)
                .member("better", figure.higher_is_better ? "higher" : "lower")
                .end();
    json.end().key("curves").array().end().key("matrices").array().end();
    json.members("notes", r.notes);
    write_memory(json, r.memory);
    write_balance(json, r.balance);
    if (!r.counts.mode.empty()) write_counts(json, r.counts);
    json.key("provenance").object().member("compiler", r.compiler).member("flags", r.flags);
    json.member("case_hash", r.case_hash).end();
    json.end();
}

std::string verdict(const RunResult& r) {
    if (!r.verification.passed()) return "NOT VERIFIED";
    return r.unasked.empty() ? "verified" : "nothing verified, since " + r.unasked;
}

}  // namespace

void hold_to_numbers(RunResult& r, const std::vector<Figure>& figures, const std::string& odd) {
    std::string what = odd;
    for (const Figure& figure : figures)
        if (what.empty() && !std::isfinite(figure.value))
            what =
                fmt::format("the figure '{}' is no number ({})", figure.name, without_nan_sign(figure.value));
    if (what.empty()) return;
    r.verification = {what, NAN, 0, "what is computed consists of numbers"};
    r.criteria.push_back(r.verification);
    r.not_compared.clear(), r.unasked.clear();
}

std::string result_text(const RunResult& r) {
    std::string text = fmt::format("{}: {} x {}, {} to t = {:.6g} {}, which took {:.3g} s\n", r.solver,
                                   counted(r.processes, "process", "processes"), counted(r.threads, "thread"),
                                   counted(r.steps, "step"), r.time, r.time_unit, r.steps_s);
    const Verification& check = r.verification;
    if (check.passed())
        for (const Figure& figure : r.figures)
            text += fmt::format("  {:<34} {:>12.5g}{}\n", figure.name, figure.value,
                                figure.unit == "1" ? "" : " " + figure.unit);
    for (const std::string& note : r.notes) text += "  note: " + note + '\n';
    text += text_of(r.balance) + text_of(r.memory);
    for (const Verification& each : r.criteria.size() > 1 ? r.criteria : std::vector<Verification>())
        text += fmt::format("  {}: {:.3g}, allowed up to {:.3g} ({}){}\n", each.what,
                            without_nan_sign(each.value), each.limit, each.source,
                            each.passed() ? "" : ": beyond");
    const std::string in_all = r.phases.empty() ? "" : text_of(r.phases);
    // The last line is the reason of a failure, or, after a success, the time.
    const bool failed = r.not_compared.empty() && !check.passed();
    if (failed) text += in_all;
    if (!r.not_compared.empty())
        text += "  not verified: " + r.not_compared + "; no figures\n";
    else if (!std::isfinite(check.value))
        // Where a figure or a value of the series is none, that says which.
        text +=
            fmt::format("  NOT VERIFIED: {}{} ({}); no figures\n", check.what,
                        check.what.find("no number") == std::string::npos ? ": no number" : "", check.source);
    else
        text += fmt::format("  {}: {}: {:.3g}{} {:.3g} ({}){}\n", verdict(r), check.what, check.value,
                            check.passed() ? " <=" : ", allowed up to", check.limit, check.source,
                            check.passed() ? "" : "; no figures");
    return failed ? text : text + in_all;
}

namespace {

std::string document(const RunResult& result) {
    std::ostringstream out;
    write_json(out, result);
    return out.str();
}

void expect_written(int error, const std::filesystem::path& file) {
    if (error != 0) throw system_error("the result cannot be written", error).at(file.string());
}

}  // namespace

void write_result(const std::filesystem::path& folder, const RunResult& result) {
    const std::filesystem::path file = folder / "result.json";
    expect_written(write_atomically(file.string(), document(result)), file);
}

void write_result_to(const std::filesystem::path& file, const RunResult& result) {
    expect_written(write_named(file.string(), document(result)), file);
}

}  // namespace strata::graph
