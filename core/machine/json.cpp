// The document strata.machine/1, key by key as docs/formats.md describes it.
#include "core/base/json.hpp"

#include "core/base/cpulist.hpp"
#include "core/machine/machine.hpp"

namespace strata::machine {
namespace {

/// "name":[{...},...], one call of `write` for the members of each item.
template <class T, class F>
void list(Json& json, const char* name, const std::vector<T>& items, F&& write) {
    json.key(name).array();
    for (const T& item : items) {
        json.object();
        write(item);
        json.end();
    }
    json.end();
}

void topology(Json& json, const Machine& machine) {
    list(json, "packages", machine.packages, [&](const Package& package) {
        json.member("index", package.index).member("os_index", package.os_index);
        json.member("pus", print_cpulist(package.pus));
    });
    list(json, "domains", machine.domains, [&](const Domain& domain) {
        json.member("index", domain.index).member("pus", print_cpulist(domain.pus));
        json.members("cores", domain.cores).members("memories", domain.memories);
    });
    list(json, "memories", machine.memories, [&](const Memory& memory) {
        json.member("index", memory.index).member("os_index", memory.os_index).member("kind", memory.kind);
        json.member("total_bytes", memory.total_bytes).member("free_bytes", memory.free_bytes);
        json.member("page_cache_bytes", memory.page_cache_bytes).member("domain", memory.domain);
        json.member("nearest_domain", memory.nearest_domain);
        list(json, "huge_pages", memory.huge_pages, [&](const HugePagePool& pool) {
            json.member("size_bytes", pool.size_bytes).member("total", pool.total).member("free", pool.free);
        });
    });
    json.key("distances");
    if (machine.distances) {
        json.object().members("memories", machine.distances->memories).key("matrix").array();
        for (const auto& row : machine.distances->matrix) json.values(row);
        json.end().member("source", machine.distances->source).end();
    } else {
        json.null();
    }
    list(json, "caches", machine.caches, [&](const Cache& cache) {
        json.member("level", cache.level).member("type", cache.type).member("size_bytes", cache.size_bytes);
        json.member("line_bytes", cache.line_bytes).members("cores", cache.cores);
    });
    list(json, "cores", machine.cores, [&](const Core& core) {
        json.member("index", core.index).member("os_index", core.os_index).member("package", core.package);
        json.member("domain", core.domain).member("kind", core.kind).members("pus", core.pus);
        json.member("base_mhz", core.base_mhz)
            .member("max_mhz", core.max_mhz)
            .member("governor", core.governor);
    });
    list(json, "core_kinds", machine.core_kinds, [&](const CoreKind& kind) {
        json.member("index", kind.index).member("efficiency", kind.efficiency).members("cores", kind.cores);
        json.key("info").object();
        for (const auto& [name, value] : kind.info) json.member(name, value);
        json.end();
    });
    list(json, "devices", machine.devices, [&](const Device& device) {
        json.member("type", device.type).member("name", device.name).member("info", device.info);
        json.member("domain", device.domain);
    });
}

void permissions(Json& json, const Machine& machine) {
    const Allowed& allowed = machine.allowed;
    json.key("allowed").object();
    json.member("pus", print_cpulist(allowed.pus)).member("memories", print_cpulist(allowed.memories));
    json.member("cpus_effective", allowed.cpus_effective);
    const Cgroup& cgroup = allowed.cgroup;
    json.key("cgroup").object().member("version", cgroup.version).member("path", cgroup.path);
    json.member("cpuset", cgroup.cpuset).member("mems", cgroup.mems);
    json.member("memory_limit_bytes", cgroup.memory_limit_bytes).member("cpu_quota", cgroup.cpu_quota);
    json.end().end();

    json.key("huge_pages").object().member("transparent", machine.huge_pages.transparent);
    json.member("shmem", machine.huge_pages.shmem);
    json.member("default_size_bytes", machine.huge_pages.default_size_bytes).end();

    const Counters& counters = machine.counters;
    json.key("counters").object().member("paranoid", counters.paranoid).member("software", counters.software);
    json.member("hardware", counters.hardware)
        .members("events", counters.events)
        .member("why", counters.why)
        .end();

    const PagePlacement& placement = machine.placement;
    json.key("placement")
        .object()
        .member("mbind", placement.mbind)
        .member("move_pages", placement.move_pages);
    json.member("word", placement.word()).member("why", placement.why).end();

    const Privileges& rights = machine.privileges;
    json.key("privileges").object().member("cgroup_cpu_writable", rights.cgroup_cpu_writable);
    json.member("cgroup_cpuset_writable", rights.cgroup_cpuset_writable)
        .member("autogroup", rights.autogroup);
    json.member("autogroup_nice", rights.autogroup_nice).end();
    json.key("scheduler").object().member("autogroup", rights.autogroup).end();
}

}  // namespace

void machine_json(std::ostream& out, const Machine& machine) {
    Json json(out);
    json.object().member("schema", "strata.machine/1").member("source", machine.source);
    json.member("hostname", machine.hostname).member("kernel", machine.kernel).member("os", machine.os);
    json.member("arch", machine.arch).member("cpu_model", machine.cpu_model);
    json.member("virtualisation", machine.virtualisation).member("container", machine.container);
    topology(json, machine);
    permissions(json, machine);
    json.member("turbo", machine.turbo).member("numa_balancing", machine.numa_balancing);
    json.end();
}

}  // namespace strata::machine
