#include "core/launch/record.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <ctime>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/named_file.hpp"

namespace strata::launch {
namespace {

void write_cpu(Json& j, const Record& r) {
    j.key("cpu").object();
    j.member("own_s", r.cpu.own_s)
        .member("others_s", r.cpu.others_s)
        .member("others_share", r.cpu.others_share);
    j.member("steal_s", r.cpu.steal_s).member("steal_share", r.cpu.steal_share).member("irq_s", r.cpu.irq_s);
    j.member("supervisor_s", r.cpu.supervisor_s).member("method", r.cpu.method);
    j.end();
}

void write_system(Json& j, const Record& r) {
    j.key("switches").object();
    j.member("voluntary", r.voluntary_switches).member("involuntary", r.involuntary_switches).end();
    j.member("migrations", r.migrations);
    j.key("page_faults").object().member("minor", r.minor_faults).member("major", r.major_faults).end();
    j.member("max_rss_bytes", r.max_rss_bytes);
    j.key("pressure");
    if (r.cpu_pressure_us || r.memory_pressure_us || r.io_pressure_us) {
        j.object().member("cpu_some_us", r.cpu_pressure_us).member("memory_some_us", r.memory_pressure_us);
        j.member("io_some_us", r.io_pressure_us).end();
    } else {
        j.null();
    }
    j.key("clock").object().member("before_ghz", r.clock_before_ghz).member("after_ghz", r.clock_after_ghz);
    j.member("method", "dependent-add loop").end();
    j.key("load").array().value(r.load[0]).value(r.load[1]).value(r.load[2]).end();
}

void write_nodes(Json& j, const std::vector<NodeReading>& nodes) {
    j.key("nodes").array();
    for (const NodeReading& node : nodes) {
        j.object().member("node", node.node).member("processes", node.processes);
        write_threads(j, node.threads);
        j.member("threads_agree", node.threads_agree).member("pages", node.pages);
        j.member("agrees", node.agrees).member("disagreement", node.disagreement).end();
    }
    j.end();
}

void write_readback(Json& j, const Record& r) {
    write_threads(j, r.threads);
    write_nodes(j, r.nodes);
    j.member("readings", r.readings).member("computing_at_once", r.computing_at_once);
    j.key("pages").object().member("method", r.pages.method).member("processes", r.pages.processes);
    j.key("by_memory").object();
    for (const auto& [memory, bytes] : r.pages.by_memory) j.member(std::to_string(memory), bytes);
    j.end().member("anon_huge_bytes", r.pages.anon_huge).member("why", r.pages.why);
    j.member("agrees", r.pages.agrees).member("verdict", r.pages.verdict);
    j.member("disagreement", r.pages.disagreement).end();
    j.key("promised").array();
    for (size_t rank = 0; rank < r.placement.threads.size(); ++rank) {
        j.object().member("rank", rank).key("threads").array();
        for (const auto& pus : r.placement.threads[rank]) j.value(print_cpulist(pus));
        j.end().member("memory", to_text(r.placement.memory_of(static_cast<int>(rank)))).end();
    }
    j.end();
    j.member("threads_agree", r.threads_agree);
    j.member("agrees", r.agrees).member("disagreement", r.disagreement);
    j.members("libraries", std::vector<std::string>(r.libraries.begin(), r.libraries.end()));
}

std::string document(const Record& r) {
    std::ostringstream out;
    Json j(out);
    j.object().member("schema", "strata.record/1").members("command", r.command);
    j.member("layout", to_text(r.placement.layout)).member("stride", r.placement.layout.stride);
    j.member("bind", bind_text(r.placement.layout)).member("started", r.started).member("wall_s", r.wall_s);
    j.member("exit_code", r.exit_code).member("signal", r.signal).member("timed_out", r.timed_out);
    j.key("share").object().member("method", r.share.method).member("value", r.share.value);
    j.member("why", r.share.why).end();
    write_cpu(j, r);
    write_system(j, r);
    write_readback(j, r);
    j.members("limits", r.limits).member("exceeded", r.exceeded);
    j.members("left_over", r.left_over);
    j.end();
    return out.str();
}

}  // namespace

void write_threads(Json& j, const std::vector<ThreadReading>& threads) {
    j.key("threads").array();
    for (const ThreadReading& t : threads) {
        j.object().member("pid", t.pid).member("tid", t.tid).member("rank", t.rank).member("name", t.name);
        j.member("allowed", print_cpulist(t.allowed))
            .member("last_cpu", t.last_cpu)
            .member("cpu_s", t.cpu_s)
            .end();
    }
    j.end();
}

std::string utc_now() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return fmt::format("{}.{:03}Z", text, now.tv_nsec / 1000000);
}

void write_record(const Record& record, const std::string& path) {
    const int why = write_named(path, document(record));
    if (why == 0) return;
    throw system_error("the record cannot be written", why)
        .given(fmt::format("--record {}", path))
        .allowed("a file in a folder that exists, may be written and has room")
        .remedy(why == ENOSPC ? "free some space, or name a file on another file system"
                              : "check the folder and its permissions");
}

}  // namespace strata::launch
