// Problem: an exception of C++ leaves one node's part of the program, and the others wait for that
// node at a barrier. What is said is that the nodes wait at different places, and the exception's
// text is lost: a destructor that runs while an exception is on its way cannot ask for it.
//
// Mechanism: functions of libstdc++'s names stand before libstdc++'s and keep what is thrown, as
// text, for the thread that throws. A program that has its own copy of libstdc++
// (-static-libstdc++) is not seen; then the text is missing, and the rest is said.
//
// Invariant: the text is of the exception that is on its way. One that is thrown and caught by a
// destructor meanwhile does not change it. (not checkable: libstdc++ does not say which it is)
#include <cxxabi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exception>
#include <typeinfo>

#include "dsm/base/failure.h"
#include "dsm/base/next.h"
#include "weir/dsm.h"

namespace weir::dsm {
namespace {

struct Text {
  char bytes[256];
};
thread_local Text g_thrown;

void describe(const std::type_info* type, void* object, Text& text) {
  int status = 1;
  char* name = type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
  const char* shown = name ? name : type ? type->name() : "an exception";
  // An object's place as its base's: what a handler of that base would get.
  void* base = object;
  if (type && object && typeid(std::exception).__do_catch(type, &base, 1)) {
    snprintf(text.bytes, sizeof text.bytes, "%s (%s)", static_cast<std::exception*>(base)->what(),
             shown);
  } else {
    snprintf(text.bytes, sizeof text.bytes, "%s", shown);
  }
  free(name);
}

// What is handled at this place, or on its way.
Text describe_now() {
  Text text = g_thrown;
  if (const std::exception_ptr handled = std::current_exception()) {
    void* object;
    memcpy(&object, &handled, sizeof object);  // an exception_ptr is that
    describe(handled.__cxa_exception_type(), object, text);
  }
  if (!text.bytes[0]) describe(nullptr, nullptr, text);
  return text;
}

std::terminate_handler g_before = nullptr;

void on_terminate() {
  if (std::current_exception()) {
    const Text text = describe_now();
    fail("an exception that nobody catches: %s", text.bytes);
  }
  if (g_before) g_before();
  abort();
}

}  // namespace

void watch_exceptions() {
  const std::terminate_handler before = std::set_terminate(on_terminate);
  if (before != on_terminate) g_before = before;
}

void forget_exceptions() {
  if (std::get_terminate() == on_terminate) std::set_terminate(g_before);
}

}  // namespace weir::dsm

using namespace weir::dsm;

// Named by their symbols: compilers have declarations of these of their own.
#define WEIR_STANDS_BEFORE(symbol) __asm__(symbol) __attribute__((visibility("default")))

extern "C" {

using Destroy = void(void*);
[[noreturn]] void weir_dsm_throw(void* object, std::type_info* type, Destroy* destroy)
    WEIR_STANDS_BEFORE("__cxa_throw");
[[noreturn]] void weir_dsm_rethrow() WEIR_STANDS_BEFORE("__cxa_rethrow");
// std::rethrow_exception. Its argument goes by its address, as each class with a destructor.
[[noreturn]] void weir_dsm_rethrow_exception(std::exception_ptr* pointer)
    WEIR_STANDS_BEFORE("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE");

void weir_dsm_throw(void* object, std::type_info* type, Destroy* destroy) {
  if (std::uncaught_exceptions() == 0) describe(type, object, g_thrown);
  next<void(void*, std::type_info*, Destroy*)>("__cxa_throw")(object, type, destroy);
  abort();  // it does not return
}

void weir_dsm_rethrow() {
  if (std::uncaught_exceptions() == 0) g_thrown = describe_now();
  next<void()>("__cxa_rethrow")();
  abort();
}

void weir_dsm_rethrow_exception(std::exception_ptr* pointer) {
  if (*pointer && std::uncaught_exceptions() == 0) {
    void* object;
    memcpy(&object, pointer, sizeof object);
    describe(pointer->__cxa_exception_type(), object, g_thrown);
  }
  next<void(std::exception_ptr*)>("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE")(
      pointer);
  abort();
}

void weir_dsm_abort_by_exception(const char* where) {
  const bool is_on_its_way = std::uncaught_exceptions() > 0 && g_thrown.bytes[0];
  const Text text = is_on_its_way ? g_thrown : describe_now();
  fail("an exception %s: %s", where, text.bytes);
}

}  // extern "C"
