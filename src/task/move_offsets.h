// Offsets in MovedState for the assembly; task/in_place_process.cc asserts them.
#pragma once
#define MOVED_RSP 0
#define MOVED_COMPONENTS 8
#define MOVED_VECTORS 64
