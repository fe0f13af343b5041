# The manifests of Strata's own solvers, solvers/NAME/solver.toml. solvers/README.md has their keys; those that are read here stand
# on one line each.

file(GLOB manifests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/solvers/*/solver.toml")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manifests})
set(STRATA_SHIPPED_SOLVERS "")
foreach(manifest IN LISTS manifests)
    get_filename_component(folder "${manifest}" DIRECTORY)
    get_filename_component(name "${folder}" NAME)
    list(APPEND STRATA_SHIPPED_SOLVERS ${name})
endforeach()

# strata_manifest(NAME KEY RESULT): what the manifest of a solver says, a text or a list of texts; empty where it has no such key.
function(strata_manifest name key result)
    file(STRINGS "${PROJECT_SOURCE_DIR}/solvers/${name}/solver.toml" line REGEX "^${key} = ")
    string(REGEX REPLACE "^${key} = |#.*$" "" line "${line}")
    string(REGEX MATCHALL "\"[^\"]+\"" values "${line}")
    list(TRANSFORM values REPLACE "\"" "")
    set(${result} "${values}" PARENT_SCOPE)
endfunction()
