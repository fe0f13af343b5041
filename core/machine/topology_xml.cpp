#include "core/machine/topology_xml.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"
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
            .allowed("a file in a folder that may be written, or - for standard output");
    };
    if (file == "-") {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw refuse(errno);
        return;
    }
    const std::string unfinished = file + "." + std::to_string(getpid()) + ".tmp";
    errno = 0;
    const int made = open_new_file(unfinished);
    if (made < 0) throw refuse(errno);
    close(made);
    std::ofstream out(unfinished, std::ios::binary);
    out << text;
    out.close();
    if (!out || std::rename(unfinished.c_str(), file.c_str()) != 0) {
        const int error = errno;
        (void)std::remove(unfinished.c_str());
        throw refuse(error);
    }
}

}  // namespace strata::machine
