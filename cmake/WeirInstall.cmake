# `cmake --install`: libweir-region and libweir-dsm with their headers, a CMake package (find_package(Weir), targets Weir::region and Weir::dsm) and a pkg-config file of each.
# Component dsm needs component region.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH WEIR_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(weir_install library export)
  install(TARGETS weir_${library} EXPORT ${export}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${library}
    PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir COMPONENT ${library})
  set_target_properties(weir_${library} PROPERTIES EXPORT_NAME ${library})
  install(EXPORT ${export} NAMESPACE Weir:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir COMPONENT ${library})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/weir-${library}.pc.in ${PROJECT_BINARY_DIR}/weir-${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weir-${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${library})
endfunction()

if(WEIR_REGION)
  weir_install(region WeirTargets)
endif()
if(WEIR_DSM)
  weir_install(dsm WeirDsmTargets)
  # Each finds what it needs beside itself: libweir-dsm libweir-region, and the modules for MPIs.
  set_target_properties(weir_dsm PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(FILES ${WEIR_DSM_MODULES} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dsm)
  install(TARGETS weir-dsm-predict RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dsm)
endif()

file(WRITE ${PROJECT_BINARY_DIR}/WeirConfig.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/WeirTargets.cmake\")\ninclude(\"\${CMAKE_CURRENT_LIST_DIR}/WeirDsmTargets.cmake\" OPTIONAL)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/WeirConfig.cmake ${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir COMPONENT region)
