// The topology as hwloc's own XML, version 2, which lstopo and every other program with hwloc reads.
#pragma once

#include <string>

namespace strata::machine {

/// The topology of "system" (with its devices), of an XML file or of "synthetic:DESCRIPTION" as an XML
/// document. Throws Error where the source cannot be read.
[[nodiscard]] std::string topology_xml(const std::string& source);

/// Writes text to a file, whole or not at all, or to standard output for "-". Throws Error.
void write_text(const std::string& text, const std::string& file);

}  // namespace strata::machine
