#include "core/run/profile/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

fs::path part_path(const fs::path& folder, int process) {
    return folder / fmt::format(".trace-{:04}.part", process);
}

std::string json_string(std::string_view text) {
    std::ostringstream out;
    Json(out).array().value(text).end();
    const std::string list = out.str();  // ["..."] and a line end
    return list.substr(1, list.size() - 3);
}

/// Microseconds with three decimals: all digits of the nanoseconds. A double would round them after days of
/// uptime.
void append_time(fmt::memory_buffer& to, const char* key, std::int64_t ns) {
    const char* sign = ns < 0 ? "-" : "";
    const std::int64_t size = ns < 0 ? -ns : ns;
    fmt::format_to(std::back_inserter(to), R"(,"{}":{}{}.{:03})", key, sign, size / 1000, size % 1000);
}

void append_names(fmt::memory_buffer& to, const ProcessRecords& records) {
    const auto out = std::back_inserter(to);
    const int pid = records.process;
    const std::string name = records.host.empty() ? fmt::format("process {}", pid)
                                                  : fmt::format("process {} on {}", pid, records.host);
    fmt::format_to(out,
                   R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}},)"
                   "\n",
                   pid, json_string(name));
    fmt::format_to(
        out, R"({{"ph":"M","name":"process_sort_index","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
        pid);
    for (int thread = 0; thread < records.threads; ++thread)
        fmt::format_to(out,
                       ",\n"
                       R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"thread {}"}}}})",
                       pid, thread, thread);
}

[[noreturn]] void fail(const fs::path& file) {
    throw system_error("the timeline could not be written", errno).at(file.string());
}

}  // namespace

void write_trace_part(const fs::path& folder, const ProcessRecords& records, std::int64_t origin_ns) {
    const fs::path path = part_path(folder, records.process);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file) fail(path);
    std::vector<std::string> names;
    for (const std::string& name : records.names) names.push_back(json_string(name));
    const std::int64_t shift = records.clock_offset_ns - origin_ns;

    fmt::memory_buffer text;
    const auto flush = [&](std::size_t limit) {
        if (text.size() < limit) return;
        file.write(text.data(), static_cast<std::streamsize>(text.size()));
        text.clear();
    };
    append_names(text, records);
    for (const TimedOp& record : records.records) {
        const auto out = std::back_inserter(text);
        fmt::format_to(out,
                       ",\n"
                       R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{})",
                       names.at(record.name), name_of(record.kind), records.process, record.thread);
        append_time(text, "ts", record.begin_ns + shift);
        append_time(text, "dur", record.end_ns - record.begin_ns);
        if (record.patch >= 0) fmt::format_to(out, R"(,"args":{{"patch":{}}})", record.patch);
        text.push_back('}');
        flush(1 << 20);
    }
    for (const CounterTrack& track : records.counters) {
        const std::string name = json_string(track.name);
        const std::string unit = json_string(track.unit.empty() ? "value" : track.unit);
        for (const auto& [ns, value] : track.samples) {
            const auto out = std::back_inserter(text);
            fmt::format_to(out,
                           ",\n"
                           R"({{"ph":"C","name":{},"pid":{},"tid":0)",
                           name, records.process);
            append_time(text, "ts", ns + shift);
            fmt::format_to(out, R"(,"args":{{{}:{}}}}})", unit, value);
            flush(1 << 20);
        }
    }
    flush(0);
    file.close();
    if (!file) fail(path);
}

void join_trace_parts(const fs::path& folder, int processes) {
    const fs::path path = folder / "trace.json", partial = folder / ".trace.json.partial";
    {
        std::ofstream file(partial, std::ios::binary | std::ios::trunc);
        file << R"({"displayTimeUnit":"ns","otherData":{"format":"strata.trace/1"},"traceEvents":[)";
        for (int process = 0; process < processes; ++process) {
            std::ifstream part(part_path(folder, process), std::ios::binary);
            if (!part)
                throw Error("a part of the timeline is missing", kFailure)
                    .at(part_path(folder, process).string());
            file << (process == 0 ? "\n" : ",\n") << part.rdbuf();
        }
        file << "\n]}\n";
        file.close();
        if (!file) fail(partial);
    }
    fs::rename(partial, path);
    for (int process = 0; process < processes; ++process) fs::remove(part_path(folder, process));
}

void write_trace(const fs::path& folder, std::span<const ProcessRecords> processes) {
    std::int64_t origin =
        processes.empty() ? 0 : processes.front().begin_ns + processes.front().clock_offset_ns;
    for (const ProcessRecords& records : processes)
        origin = std::min(origin, records.begin_ns + records.clock_offset_ns);
    int process = 0;
    for (ProcessRecords records : processes) {
        records.process = process++;
        write_trace_part(folder, records, origin);
    }
    join_trace_parts(folder, process);
}

}  // namespace strata::graph
