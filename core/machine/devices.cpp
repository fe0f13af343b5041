#include "core/machine/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <tuple>

#include "core/base/text.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

struct Vendor {
    unsigned id;
    const char* name;
};
constexpr std::array kVendors = {
    Vendor{0x10de, "NVIDIA"},   Vendor{0x1002, "AMD"}, Vendor{0x8086, "Intel"},  Vendor{0x15b3, "NVIDIA"},
    Vendor{0x14e4, "Broadcom"}, Vendor{0x17db, "HPE"}, Vendor{0x1d0f, "Amazon"}, Vendor{0x1414, "Microsoft"}};
/// Show a console and compute nothing: the management controllers of servers (ASPEED, Matrox) and the screens
/// of virtual machines (Bochs, QXL, Cirrus, VMware, virtio).
constexpr std::array kScreens = {0x1a03U, 0x102bU, 0x1234U, 0x1b36U, 0x1013U, 0x15adU, 0x1af4U};

std::optional<std::string> resolved(const std::string& path) {
    std::array<char, PATH_MAX> real{};
    if (realpath(path.c_str(), real.data()) == nullptr) return std::nullopt;
    return std::string(real.data());
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// A folder's names with eth2 before eth10.
std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names = list_folder(folder);
    const auto order = [](const std::string& name) {
        return std::tuple(name.substr(0, name.find_first_of("0123456789")), name.size(), name);
    };
    std::sort(names.begin(), names.end(), [&](auto& a, auto& b) { return order(a) < order(b); });
    return names;
}

unsigned hexadecimal(const std::string& path) {
    const std::string text = read_file(path).value_or("");
    std::string_view digits = text;
    return take(digits, "0x") ? take_number<unsigned>(digits, {.base = 16}).value_or(0) : 0;
}

/// The memory domain that a device hangs from. Network cards and disks of guests sit some folders below the
/// PCI device that knows it.
std::optional<int> domain_of(const Machine& machine, std::string folder) {
    if (machine.domains.size() == 1) return 0;
    while (folder.find("/devices/") != std::string::npos) {
        if (const auto node = read_number(folder + "/numa_node"); node && *node >= 0) {
            for (const Memory& memory : machine.memories)
                if (memory.os_index == *node) return memory.domain.value_or(memory.nearest_domain);
        }
        folder.resize(folder.rfind('/'));
    }
    return std::nullopt;
}

std::string driver_of(const std::string& device) {
    const auto driver = resolved(device + "/driver");
    return driver ? last_part(*driver) : "";
}

std::string joined(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts)
        if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
    return text;
}

/// "NVIDIA H200" where the driver says so, else the maker and the PCI numbers that `lspci -d` takes.
std::string gpu_model(const std::string& device, const std::string& root) {
    const std::string bus = last_part(device);
    std::string said = read_file(root + "/proc/driver/nvidia/gpus/" + bus + "/information").value_or("");
    if (const size_t at = said.find("Model:"); at != std::string::npos) {
        const size_t first = said.find_first_not_of(" \t", at + 6);
        return said.substr(first, said.find('\n', first) - first);
    }
    if (const auto name = read_file(device + "/product_name"); name && !name->empty()) return *name;
    const unsigned vendor = hexadecimal(device + "/vendor");
    const auto known =
        std::find_if(kVendors.begin(), kVendors.end(), [&](const Vendor& v) { return v.id == vendor; });
    return fmt::format("{}[{:04x}:{:04x}]", known == kVendors.end() ? "" : fmt::format("{} ", known->name),
                       vendor, hexadecimal(device + "/device"));
}

void gpus(std::vector<Device>& found, const Machine& machine, const std::string& root) {
    constexpr unsigned display = 0x03, accelerator = 0x12;  // PCI Code and ID Assignment, base classes
    const std::string bus = root + "/sys/bus/pci/devices/";
    for (const std::string& address : list_folder(bus)) {
        const unsigned base_class = hexadecimal(bus + address + "/class") >> 16;
        if (base_class != display && base_class != accelerator) continue;
        const unsigned vendor = hexadecimal(bus + address + "/vendor");
        if (std::find(kScreens.begin(), kScreens.end(), vendor) != kScreens.end()) continue;
        const std::string device = resolved(bus + address).value_or(bus + address);
        std::string name = address;
        for (const std::string& entry : list_folder(device + "/drm"))
            if (entry.rfind("card", 0) == 0) name = entry;
        const std::string driver = driver_of(device);
        found.push_back({"gpu", name,
                         joined({gpu_model(device, root), driver.empty() ? "no driver" : "driver " + driver}),
                         domain_of(machine, device)});
    }
}

void network_cards(std::vector<Device>& found, const Machine& machine, const std::string& root) {
    const std::string cards = root + "/sys/class/net/";
    for (const std::string& name : names_in(cards)) {
        const auto device = resolved(cards + name + "/device");
        if (!device) continue;  // loopback, bridges and the like are no hardware
        const auto speed = read_number(cards + name + "/speed");  // Mbit/s; unreadable while the link is down
        found.push_back({"network", name,
                         joined({speed && *speed > 0 ? fmt::format("{:g} Gbit/s", *speed / 1000.0) : "",
                                 driver_of(*device)}),
                         domain_of(machine, *device)});
    }
    const std::string fabrics = root + "/sys/class/infiniband/";
    for (const std::string& name : names_in(fabrics)) {
        const std::string device = resolved(fabrics + name + "/device").value_or(fabrics + name);
        const std::string port = fabrics + name + "/ports/1/";
        found.push_back({"network", name,
                         joined({read_file(port + "link_layer").value_or(""),
                                 read_file(port + "rate").value_or(""), driver_of(device)}),
                         domain_of(machine, device)});
    }
}

void disks(std::vector<Device>& found, const Machine& machine, const std::string& root) {
    const std::string blocks = root + "/sys/block/";
    for (const std::string& name : names_in(blocks)) {
        const auto device = resolved(blocks + name + "/device");
        if (!device) continue;  // loop devices, memory disks, mapped volumes
        std::string model = read_file(blocks + name + "/device/model").value_or("");
        model.erase(model.find_last_not_of(' ') + 1);
        found.push_back({"storage", name, model, domain_of(machine, *device)});
    }
}

}  // namespace

std::vector<Device> read_devices(const Machine& machine, const std::string& root) {
    std::vector<Device> found;
    gpus(found, machine, root);
    network_cards(found, machine, root);
    disks(found, machine, root);
    return found;
}

}  // namespace strata::machine
