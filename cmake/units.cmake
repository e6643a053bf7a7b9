# Compiles the sources of a folder as units. A unit includes several sources, so headers that they
# share are read once. A full build then takes less than half the time.
#
# CMake's own UNITY_BUILD names sources by absolute paths, so a compiler cache does not find a unit
# again in another checkout. Here a unit names its sources relative to the project's root.
set(ROTA_UNIT_FILES 1 CACHE STRING
  "How many sources of a folder are compiled as one unit, at most; 1: each alone")

# compile_as_units(<target>) replaces the target's sources by units. A source stays alone if it has
# its own options, its own definitions or the property SKIP_UNITY_BUILD_INCLUSION. The target's
# property ROTA_SOURCES keeps the list of all sources.
function(compile_as_units target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  set_target_properties(${target} PROPERTIES ROTA_SOURCES "${sources}")
  if(ROTA_UNIT_FILES LESS_EQUAL 1)
    return()
  endif()
  set(alone)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
    set(own)
    foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(value ${source} TARGET_DIRECTORY ${target} ${property})
      if(value)
        list(APPEND own ${property})
      endif()
    endforeach()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE from_root)
    cmake_path(GET from_root PARENT_PATH folder)
    if(own OR NOT folder)
      list(APPEND alone ${source})
    else()
      list(APPEND folders ${folder})
      list(APPEND sources_of_${folder} ${from_root})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(units)
  foreach(folder IN LISTS folders)
    list(LENGTH sources_of_${folder} count)
    math(EXPR unit_count "(${count} + ${ROTA_UNIT_FILES} - 1) / ${ROTA_UNIT_FILES}")
    foreach(unit RANGE 1 ${unit_count})
      # The numbers of sources in two units differ by one at most.
      math(EXPR begin "${count} * (${unit} - 1) / ${unit_count}")
      math(EXPR length "${count} * ${unit} / ${unit_count} - ${begin}")
      list(SUBLIST sources_of_${folder} ${begin} ${length} included)
      list(TRANSFORM included REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN included "" content)
      set(path ${CMAKE_CURRENT_BINARY_DIR}/units/${target}/${folder}_${unit}.cpp)
      file(CONFIGURE OUTPUT ${path} CONTENT "${content}" @ONLY)
      list(APPEND units ${path})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${alone};${units}")
  set_source_files_properties(${units} TARGET_DIRECTORY ${target} PROPERTIES
    INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
endfunction()

# compile_for_size(<target> <folder>...) lets a release be small, not quick, in these folders. Call
# it after compile_as_units().
function(compile_for_size target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    set(path ${source})
    cmake_path(ABSOLUTE_PATH path NORMALIZE)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REGEX REPLACE "^.*/units/${target}/(.*)_[0-9]+\\.cpp$" "\\1/unit" path ${path})
    cmake_path(GET path PARENT_PATH folder)
    if(folder IN_LIST ARGN)
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target}
        APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
    endif()
  endforeach()
endfunction()
