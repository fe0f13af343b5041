#include "core/run/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "core/base/json.hpp"

namespace strata::graph {

namespace {

double seconds(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

std::string duration(double s) {
    if (s >= 100) return fmt::format("{:.0f} s", s);
    if (s >= 1) return fmt::format("{:.2f} s", s);
    if (s >= 1e-3) return fmt::format("{:.2f} ms", s * 1e3);
    if (s >= 1e-6) return fmt::format("{:.2f} us", s * 1e6);
    return fmt::format("{:.0f} ns", s * 1e9);
}

std::string rate(double amount, double s) {
    return amount > 0 && s > 0 ? fmt::format("{:.2f}", amount / s * 1e-9) : "";
}

std::string percent(std::optional<double> share) { return share ? fmt::format("{:.1f}", 100 * *share) : ""; }

void add_count(Profile::Row& row, const std::string& counter, double value) {
    for (auto& [name, sum] : row.counters) {
        if (name != counter) continue;
        sum += value;
        return;
    }
    row.counters.emplace_back(counter, value);
}

}  // namespace

const char* name_of(OpKind kind) {
    switch (kind) {
        case OpKind::task:
            return "task";
        case OpKind::copy:
            return "copy";
        case OpKind::combine:
            return "combine";
        case OpKind::reduce:
            return "reduce";
        case OpKind::send:
            return "send";
        case OpKind::receive:
            return "receive";
        case OpKind::relocate:
            return "relocate";
    }
    return "";
}

Profile::Row& Profile::row(OpKind kind, const std::string& name) {
    for (Row& row : rows_)
        if (row.kind == kind && row.name == name) return row;
    rows_.emplace_back();
    rows_.back().name = name;
    rows_.back().kind = kind;
    return rows_.back();
}

void Profile::add(const ProcessRecords& records, const std::function<Work(const TimedOp&)>& work) {
    // Sums by the name's number, which is fast for many records; two kinds may share a name.
    std::map<std::pair<OpKind, std::uint32_t>, Row> sums;
    for (const TimedOp& record : records.records) {
        Row& sum = sums[{record.kind, record.name}];
        const std::int64_t ns = record.end_ns - record.begin_ns;
        sum.shortest_ns = sum.calls == 0 ? ns : std::min(sum.shortest_ns, ns);
        sum.longest_ns = std::max(sum.longest_ns, ns);
        sum.ns += ns;
        ++sum.calls;
        if (!work) continue;
        const Work done = work(record);
        sum.flops += done.flops;
        sum.bytes += done.bytes;
    }
    Profile one;
    for (auto& [key, sum] : sums) {
        sum.kind = key.first;
        sum.name = records.names.at(key.second);
        one.rows_.push_back(std::move(sum));
    }
    one.processes_ = 1;
    one.threads_ = records.threads;
    one.longest_ns_ = records.end_ns - records.begin_ns;
    one.thread_ns_ = one.longest_ns_ * records.threads;
    merge(one);
}

void Profile::merge(const Profile& other) {
    for (const Row& from : other.rows_) {
        Row& to = row(from.kind, from.name);
        if (from.calls > 0) {
            to.shortest_ns = to.calls == 0 ? from.shortest_ns : std::min(to.shortest_ns, from.shortest_ns);
            to.longest_ns = std::max(to.longest_ns, from.longest_ns);
        }
        to.calls += from.calls;
        to.ns += from.ns;
        to.flops += from.flops;
        to.bytes += from.bytes;
        for (const auto& [counter, value] : from.counters) add_count(to, counter, value);
        to.counted_calls += from.counted_calls;
        to.counted_values += from.counted_values;
    }
    thread_ns_ += other.thread_ns_;
    longest_ns_ = std::max(longest_ns_, other.longest_ns_);
    processes_ += other.processes_;
    threads_ += other.threads_;
    if (mode_.empty()) mode_ = other.mode_;
}

void Profile::count(const std::string& task, const std::string& counter, double value) {
    add_count(row(OpKind::task, task), counter, value);
}

void Profile::count(const Counts& counts) {
    for (const Counts::Row& from : counts.rows) {
        Row& to = row(from.kind, from.name);
        to.counted_calls += from.calls;
        to.counted_values += from.values;
        for (std::size_t e = 0; e < counts.events.size(); ++e)
            add_count(to, counts.events[e], from.events[e]);
    }
    for (std::size_t e = 0; e < counts.events.size(); ++e)
        runtime_counters_.emplace_back(counts.events[e], counts.runtime[e]);
    if (mode_.empty()) mode_ = counts.mode;
    counted_from_ = counts.from;
}

std::vector<Profile::Row> Profile::rows() const {
    std::vector<Row> sorted = rows_;
    std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) {
        const bool runs_a = a.kind != OpKind::task, runs_b = b.kind != OpKind::task;
        if (runs_a != runs_b) return runs_b;
        return a.ns != b.ns ? a.ns > b.ns : a.name < b.name;
    });
    return sorted;
}

double Profile::task_seconds() const {
    std::int64_t ns = 0;
    for (const Row& row : rows_)
        if (row.kind == OpKind::task) ns += row.ns;
    return seconds(ns);
}

double Profile::runtime_share() const { return thread_ns_ > 0 ? 1 - task_seconds() / thread_seconds() : 0; }

std::optional<double> Profile::roofline_share(const Row& row) const {
    const double s = seconds(row.ns);
    if (!roof_ || s <= 0 || (row.flops <= 0 && row.bytes <= 0)) return std::nullopt;
    // The rate divided by min(peak, flops / bytes x bandwidth); also valid for bytes without flops.
    return std::max(1e-9 * row.flops / roof_->gflops_of_thread(), 1e-9 * row.bytes / roof_->gbs_of_thread()) /
           s;
}

std::string Profile::table() const {
    const std::vector<Row> sorted = rows();
    std::size_t width = 24;
    for (const Row& row : sorted) width = std::max(width, row.name.size() + 12);
    const double all = thread_seconds();
    bool declared = false;
    const auto line = [&](const std::string& name, const std::string& calls, double s,
                          const std::string& per_call, const std::string& bytes, const std::string& flops,
                          const std::string& roof) {
        const double share = all > 0 ? 100 * s / all : 0;
        std::string text = fmt::format("{:<{}} {:>10} {:>10} {:>7.2f} {:>10} {:>8} {:>8} {:>7}", name, width,
                                       calls, duration(s), share, per_call, bytes, flops, roof);
        while (text.back() == ' ') text.pop_back();
        return text + "\n";
    };
    std::string text =
        fmt::format("{:<{}} {:>10} {:>10} {:>7} {:>10} {:>8} {:>8}{}\n", "task", width, "calls", "time",
                    "share %", "per call", "GB/s", "Gflop/s", roof_ ? "  roof %" : "");
    double known = 0;
    for (const Row& row : sorted) {
        const double s = seconds(row.ns);
        known += s;
        const std::string name =
            row.kind == OpKind::task ? row.name : fmt::format("({}) {}", name_of(row.kind), row.name);
        text += line(name, fmt::format("{}", row.calls), s,
                     row.calls > 0 ? duration(s / static_cast<double>(row.calls)) : "", rate(row.bytes, s),
                     rate(row.flops, s), percent(roofline_share(row)));
        declared = declared || row.flops > 0 || row.bytes > 0;
    }
    text += line("(waiting, scheduling)", "", std::max(0.0, all - known), "", "", "", "");
    text += fmt::format("threads' time {} ({} processes, {} threads, {}); runtime share {:.2f} %\n",
                        duration(all), processes_, threads_, duration(seconds(longest_ns_)),
                        100 * runtime_share());
    text += "GB/s and Gflop/s: of what the tasks declare, a thread";
    text += mode_.empty() ? "\n" : fmt::format("; counters: {}\n", mode_);
    if (roof_)
        text +=
            fmt::format("roof %: of min({:.1f} Gflop/s, flop/byte x {:.1f} GB/s), ",
                        roof_->gflops_of_thread(), roof_->gbs_of_thread()) +
            fmt::format("one thread's part of peak and triad of {} ({})\n", roof_->threads, roof_->source);
    else if (declared)
        text += "no share of the roofline: peak and bandwidth of this machine are not known in " +
                results_folder().string() + "; strata characterize --quick measures them\n";
    return text;
}

void Profile::write_json(std::ostream& out) const {
    Json j(out);
    j.object().member("format", "strata.profile/1");
    j.member("processes", processes_).member("threads", threads_);
    j.member("wall_seconds", seconds(longest_ns_)).member("thread_seconds", thread_seconds());
    j.member("task_seconds", task_seconds()).member("runtime_share", runtime_share());
    j.key("phases_seconds").object();
    for (const auto& [name, s] : phases_) j.member(name, s);
    j.end().key("counters");
    mode_.empty() ? j.null() : j.value(mode_);
    j.member("counters_from", counted_from_).key("runtime_counters").object();
    for (const auto& [counter, value] : runtime_counters_) j.member(counter, value);
    j.end().key("roofline");
    if (roof_) {
        j.object().member("threads", roof_->threads).member("peak_gflop_per_second", roof_->gflops);
        j.member("triad_gb_per_second", roof_->gbs).member("source", roof_->source).end();
    } else {
        j.null();
    }
    j.key("rows").array();
    for (const Row& row : rows()) {
        j.object().member("name", row.name).member("kind", name_of(row.kind)).member("calls", row.calls);
        j.member("seconds", seconds(row.ns)).member("shortest_seconds", seconds(row.shortest_ns));
        j.member("longest_seconds", seconds(row.longest_ns));
        j.member("declared_flops", row.flops).member("declared_bytes", row.bytes);
        const double s = seconds(row.ns);
        j.member("gflop_per_second", s > 0 ? 1e-9 * row.flops / s : 0);
        j.member("gb_per_second", s > 0 ? 1e-9 * row.bytes / s : 0);
        j.member("roofline_share", roofline_share(row));
        j.key("counters").object();
        for (const auto& [counter, value] : row.counters) j.member(counter, value);
        j.end().member("counted_calls", row.counted_calls).member("counted_values", row.counted_values).end();
    }
    j.end().end();
}

}  // namespace strata::graph
