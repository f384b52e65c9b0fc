# `cmake --install`: libweir-region with its headers, a CMake package (find_package(Weir), target Weir::region) and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS weir_region EXPORT WeirTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT region
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir COMPONENT region)
set_target_properties(weir_region PROPERTIES EXPORT_NAME region)
install(EXPORT WeirTargets NAMESPACE Weir:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir COMPONENT region)
file(WRITE ${PROJECT_BINARY_DIR}/WeirConfig.cmake "include(\"\${CMAKE_CURRENT_LIST_DIR}/WeirTargets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/WeirConfig.cmake ${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir COMPONENT region)
file(RELATIVE_PATH WEIR_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/weir-region.pc.in ${PROJECT_BINARY_DIR}/weir-region.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weir-region.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT region)
