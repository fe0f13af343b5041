// Field files in a build without HDF5: all functions but can_write_fields() throw.
#include "core/base/error.hpp"
#include "core/run/output/fields.hpp"

namespace strata::graph {

namespace {

[[noreturn]] void refuse() {
    throw Error("this build cannot write field files: it was made without HDF5", kFailure)
        .remedy("Debian, Ubuntu: sudo apt-get install libhdf5-dev, then strata setup");
}

}  // namespace

struct FieldFile::Open {};

bool can_write_fields() { return false; }
void FieldFile::create_grid(const std::filesystem::path&, const GridShape&, const std::vector<FieldArray>&,
                            double) {
    refuse();
}
void FieldFile::create_particles(const std::filesystem::path&, std::int64_t, const std::vector<FieldArray>&,
                                 double) {
    refuse();
}
void FieldFile::create_blocks(const std::filesystem::path&, const std::vector<FileBlock>&, double) {
    refuse();
}
void FieldFile::create_cells(const std::filesystem::path&, const FieldCounts&, const std::vector<FieldArray>&,
                             double) {
    refuse();
}
void FieldFile::create_poly_data(const std::filesystem::path&, const std::string&, const FieldCounts&,
                                 const std::vector<FieldArray>&, double) {
    refuse();
}
void FieldFile::create_table(const std::filesystem::path&, std::int64_t, const std::vector<FieldArray>&,
                             double) {
    refuse();
}
void FieldFile::frame(const std::string&, const Box&, int) { refuse(); }
void FieldFile::write_multiples(const std::string&, std::int64_t, std::int64_t) { refuse(); }
FieldFile::FieldFile(const std::filesystem::path&) { refuse(); }
FieldFile::~FieldFile() = default;
void FieldFile::write(const std::string&, std::span<const Part>) { refuse(); }
void FieldFile::write(const std::string&, std::int64_t, std::int64_t, const void*, std::ptrdiff_t) {
    refuse();
}
void FieldFile::close() { refuse(); }
std::string fields_difference(const std::filesystem::path&, const std::filesystem::path&) { refuse(); }

}  // namespace strata::graph
