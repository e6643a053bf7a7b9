# find_eigen() finds Eigen 3.4 or later, as Eigen3::Eigen. find_package() is not asked for a version:
# Eigen 5 calls itself incompatible with requests for Eigen 3.
macro(find_eigen)
  find_package(Eigen3 REQUIRED NO_MODULE)
  if(Eigen3_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "rota needs Eigen 3.4 or later, and not ${Eigen3_VERSION} in ${Eigen3_DIR}")
  endif()
endmacro()
