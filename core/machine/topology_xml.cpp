#include "core/machine/topology_xml.hpp"

#include <cerrno>
#include <cstdio>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/machine/hwloc_load.hpp"

namespace strata::machine {

std::string topology_xml(const std::string& source) {
    const HwlocTopology topology = load_topology(source, true);
    char* text = nullptr;
    int length = 0;
    if (hwloc_topology_export_xmlbuffer(topology.get(), &text, &length, 0) != 0)
        throw system_error("hwloc cannot write this topology as XML", errno).given(source);
    // The length counts the terminating zero.
    std::string xml(text, static_cast<size_t>(length > 0 ? length - 1 : 0));
    hwloc_free_xmlbuffer(topology.get(), text);
    return xml;
}

void write_text(const std::string& text, const std::string& file) {
    const auto refuse = [&](int error) {
        return system_error("the file cannot be written", error, kBadInput)
            .at(file)
            .allowed("a file in a folder that may be written, or - for standard output")
            .remedy("check the path and its permissions");
    };
    if (file == "-") {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw refuse(errno);
        return;
    }
    if (const int error = write_named(file, text); error != 0) throw refuse(error);
}

}  // namespace strata::machine
