#include "core/run/output/fields_maker.hpp"

#include <algorithm>
#include <utility>

#include "core/run/output/field_names.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

/// In the machine's byte order, since values are written without HDF5; the file tells readers the order.
hid_t in_file(Element element) {
    switch (element) {
        case Element::f64:
            return H5T_NATIVE_DOUBLE;
        case Element::f32:
            return H5T_NATIVE_FLOAT;
        case Element::i64:
            return H5T_NATIVE_INT64;
        case Element::i32:
            return H5T_NATIVE_INT32;
        case Element::u8:
            return H5T_NATIVE_UINT8;
        case Element::bytes:
            break;
    }
    throw Error("a label of bytes has no form in a field file");
}

hid_t made_group(hid_t in, const std::string& name, bool ordered, const fs::path& path) {
    const Hdf5Handle how(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, name.c_str(), path);
    if (ordered && (H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
                    H5Pset_obj_track_times(how, 0) < 0))
        fail_field_file(name.c_str(), path);
    return H5Gcreate2(in, name.c_str(), H5P_DEFAULT, how, H5P_DEFAULT);
}

}  // namespace

FieldMaker::FieldMaker(const fs::path& path, const std::string& type, double time, bool ordered)
    : path_(path),
      file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, memory_.access()), H5Fclose,
            "HDF5 cannot lay it out", path),
      root_(made_group(file_, "VTKHDF", ordered, path), H5Gclose, "VTKHDF", path) {
    integers("Version", {2, 0});
    text(root_, "Type", type);
    group("FieldData");
    array("FieldData/TimeValue", {"TimeValue", Element::f64, 1, "", On::cells}, {1});
    const Hdf5Handle made(H5Dopen2(root_, "FieldData/TimeValue", H5P_DEFAULT), H5Dclose, "TimeValue", path_);
    if (H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &time) < 0)
        fail_field_file("TimeValue", path_);
}

void FieldMaker::group(const std::string& name, bool ordered) {
    const Hdf5Handle made(made_group(root_, name, ordered, path_), H5Gclose, name.c_str(), path_);
}

void FieldMaker::block(const std::string& name, const std::string& type) {
    group(name);
    const Hdf5Handle made(H5Gopen2(root_, name.c_str(), H5P_DEFAULT), H5Gclose, name.c_str(), path_);
    integers("Version", {2, 8}, name);
    text(made, "Type", type);
}

void FieldMaker::link(const std::string& name, const std::string& block) {
    if (H5Lcreate_soft(("/VTKHDF/" + block).c_str(), root_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0)
        fail_field_file(name.c_str(), path_);
}

void FieldMaker::doubles(const char* name, const std::vector<double>& values) {
    attribute(root_, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
}

void FieldMaker::integers(const char* name, const std::vector<std::int64_t>& values, const std::string& of) {
    const std::string group = of.empty() ? "." : of;
    const Hdf5Handle in(H5Gopen2(root_, group.c_str(), H5P_DEFAULT), H5Gclose, name, path_);
    attribute(in, name, H5T_STD_I64LE, H5T_NATIVE_INT64, {values.size()}, values.data());
}

void FieldMaker::array(const std::string& where, const FieldArray& array, std::vector<hsize_t> extent) {
    if (array.components > 1) extent.push_back(static_cast<hsize_t>(array.components));
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                           H5Sclose, where.c_str(), path_);
    // The array's place in the file is fixed now, but nothing is written: the place stays a hole. No time
    // stamp is stored, so the same values give the same file.
    const Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where.c_str(), path_);
    if (H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY) < 0 ||
        H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER) < 0 || H5Pset_obj_track_times(layout, 0) < 0)
        fail_field_file(where.c_str(), path_);
    const Hdf5Handle made(
        H5Dcreate2(root_, where.c_str(), in_file(array.element), space, H5P_DEFAULT, layout, H5P_DEFAULT),
        H5Dclose, where.c_str(), path_);
    if (!array.unit.empty()) text(made, "Unit", array.unit);
}

void FieldMaker::number(const std::string& where, std::int64_t value) {
    array(where, {where, Element::i64, 1, "", On::cells}, {1});
    const Hdf5Handle made(H5Dopen2(root_, where.c_str(), H5P_DEFAULT), H5Dclose, where.c_str(), path_);
    if (H5Dwrite(made, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0)
        fail_field_file(where.c_str(), path_);
}

void FieldMaker::finish() {
    root_.close();
    if (!file_.close()) fail_field_file("HDF5 cannot lay it out", path_);
    memory_.write_to(partial_field_file(path_), path_);
}

void FieldMaker::attribute(hid_t of, const char* name, hid_t stored, hid_t given,
                           const std::vector<hsize_t>& extent, const void* values) {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                           H5Sclose, name, path_);
    const Hdf5Handle attribute(H5Acreate2(of, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name,
                               path_);
    if (H5Awrite(attribute, given, values) < 0) fail_field_file(name, path_);
}

/// Fixed length, ASCII, as VTK's reader expects.
void FieldMaker::text(hid_t of, const char* name, const std::string& value) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name, path_);
    if (H5Tset_size(type, std::max<std::size_t>(1, value.size())) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
        fail_field_file(name, path_);
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, name, path_);
    const Hdf5Handle attribute(H5Acreate2(of, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name,
                               path_);
    if (H5Awrite(attribute, type, value.c_str()) < 0) fail_field_file(name, path_);
}

void check_names(const std::vector<FieldArray>& arrays) {
    for (const FieldArray& array : arrays)
        if (array.name.empty() || array.name.find_first_of("/.") != std::string::npos)
            throw Error("an array of a field file cannot have this name")
                .given(array.name)
                .allowed("no '/' or '.'");
}

}  // namespace strata::graph
