// Offsets for the assembly. frame_offsets.cc asserts that Frame and Task have them.
#pragma once
#define FRAME_R15 0
#define FRAME_R14 8
#define FRAME_R13 16
#define FRAME_R12 24
#define FRAME_R11 32
#define FRAME_R10 40
#define FRAME_R9 48
#define FRAME_R8 56
#define FRAME_RDI 64
#define FRAME_RSI 72
#define FRAME_RBP 80
#define FRAME_RBX 88
#define FRAME_RDX 96
#define FRAME_RCX 104
#define FRAME_RAX 112
#define FRAME_RFLAGS 120
#define FRAME_RSP 128
#define FRAME_RIP 136
#define FRAME_SHOWN 144
#define FRAME_SITE 152
#define TASK_SCRATCH_RSP 0x10
#define TASK_STACK_TOP 0x18
#define TASK_FRAME 0x20
#define TASK_JUMP 0x28
#define TASK_IN_RUNTIME 0x30
#define TASK_REPLAYS 0x3c
#define TASK_PENDING 0x40
#define TASK_INBOX 0x44
#define TASK_FAST_LOCK_SECTION 0x48
#define TASK_RESUME 0x50
#define TASK_DELIVERED 0x58
#define TASK_RAISING 0x60
#define SIGRETURN_COPY 32768  // bytes: a frame of the kernel's, with the state of the processor
#define SITE_RESUMED -6       // trap::kResumed
#define SITE_NOTIFIED -7      // kNotified
