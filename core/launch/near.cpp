#include "core/launch/near.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

std::vector<const machine::Device*> devices_named(const machine::Machine& machine, const std::string& near) {
    const size_t colon = near.find(':');
    const std::string word = near.substr(0, colon);
    const std::string name = colon == std::string::npos ? "" : near.substr(colon + 1);
    const std::string type = word == "nic" ? "network" : word;
    if (word != "gpu" && word != "nic")
        throw Error("unknown kind of device")
            .given(fmt::format("--near {}", near))
            .allowed("gpu, nic, gpu:NAME, nic:NAME")
            .remedy("strata machine lists the devices");
    std::vector<const machine::Device*> found;
    std::vector<std::string> names;
    for (const machine::Device& device : machine.devices) {
        if (device.type != type) continue;
        names.push_back(device.name);
        if (name.empty() || device.name == name) found.push_back(&device);
    }
    if (found.empty())
        throw Error("there is no such device")
            .given(fmt::format("--near {}", near))
            .allowed(names.empty() ? fmt::format("this machine has no {}", word)
                                   : fmt::format("{}", fmt::join(names, ", ")))
            .remedy("strata machine lists the devices; leave out --near");
    return found;
}

int domain_of_pu(const machine::Machine& machine, int pu) {
    for (const machine::Core& core : machine.cores)
        if (std::find(core.pus.begin(), core.pus.end(), pu) != core.pus.end()) return core.domain;
    return 0;
}

}  // namespace

double distance(const machine::Machine& machine, int from_domain, int to_domain) {
    constexpr double kSame = 10, kOther = 20;  // as of ACPI's SLIT without a table
    if (machine.distances) {
        const auto& d = *machine.distances;
        const auto row_of = [&](int domain) -> size_t {
            for (const int memory : machine.domains[static_cast<size_t>(domain)].memories)
                for (size_t i = 0; i < d.memories.size(); ++i)
                    if (d.memories[i] == memory) return i;
            return d.memories.size();
        };
        const size_t from = row_of(from_domain), to = row_of(to_domain);
        if (from < d.matrix.size() && to < d.matrix.size()) return d.matrix[from][to];
    }
    return from_domain == to_domain ? kSame : kOther;
}

std::vector<Slot> nearest_first(const machine::Machine& machine, const Wish& wish,
                                const std::vector<Slot>& slots, std::vector<std::string>& why) {
    const auto devices = devices_named(machine, wish.near);
    std::vector<int> domains;
    for (const Slot& slot : slots) domains.push_back(domain_of_pu(machine, slot.pu));
    std::vector<bool> used(slots.size(), false);
    std::vector<Slot> ordered;
    const auto& layout = wish.layout;
    const size_t each = static_cast<size_t>(layout.threads) * static_cast<size_t>(layout.stride);
    for (int p = 0; p < layout.processes; ++p) {
        const machine::Device& device = *devices[static_cast<size_t>(p) % devices.size()];
        if (!device.domain)
            throw Error("the place of this device is not known")
                .given(fmt::format("--near {}: {}", wish.near, device.name))
                .allowed("a device whose nearest domain the firmware states")
                .remedy("leave out --near, or choose the cores with --bind LIST");
        std::vector<size_t> order;
        for (size_t i = 0; i < slots.size(); ++i)
            if (!used[i]) order.push_back(i);
        std::vector<double> away;  // of each domain
        for (const machine::Domain& domain : machine.domains)
            away.push_back(distance(machine, *device.domain, domain.index));
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return away[static_cast<size_t>(domains[a])] < away[static_cast<size_t>(domains[b])];
        });
        for (size_t i = 0; i < std::min(each, order.size()); ++i) {
            used[order[i]] = true;
            ordered.push_back(slots[order[i]]);
        }
        if (static_cast<size_t>(p) < devices.size())
            why.push_back(
                fmt::format("near: {} {} is in domain {}; {} takes the cores nearest to it", device.type,
                            device.name, *device.domain,
                            devices.size() == 1 ? std::string("the layout") : fmt::format("process {}", p)));
    }
    for (size_t i = 0; i < slots.size(); ++i)
        if (!used[i]) ordered.push_back(slots[i]);
    return ordered;
}

}  // namespace strata::launch
