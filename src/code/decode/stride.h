// The length of one x86-64 instruction, and what a sweep must know of it, for the instructions of
// which code mostly consists. shape.h knows those for which read_stride() gives up.
//
// read_shape() costs 20 ns an instruction, and the questions that a sweep then asks as much again;
// most of that is branches that no processor predicts. Here one lookup by the opcode says all that
// holds for most opcodes. An instruction that would need a question of its own is left to
// read_shape(). How many are left affects only speed. What read_stride() returns must agree with
// read_shape(); stride_test.cc checks that over every system library and over random bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

struct Stride {
  enum What : uint8_t {
    kNothing = 0,
    kShortBranch = 1,  // a direct branch whose displacement is the last byte,
    kNearBranch = 2,   // or the last four
    kAddress = 4,      // lea relative to rip: the displacement is the last four bytes
    kEnds = 8,         // never goes on to the next instruction
  };
  uint8_t length = 0;
  uint8_t what = kNothing;
};

// read_stride() reads at most so many bytes.
inline constexpr size_t kStrideReads = 16;

namespace stride_tables {

// What an opcode is, one letter each:
//   -  left to read_shape()    .  no operand bytes        p  prefix or escape: looked at by itself
//   m  ModRM                   b  imm8                    M  ModRM, imm8
//   z  imm32 (66: imm16)       Z  ModRM, immz             q  immz, with REX.W imm64
//   N  M, with reg 0 only      Y  Z, with reg 0 only      T  M, or m where reg > 1
//   U  Z, or m where reg > 1   a  lea                     F  group FF
//   s  jcc rel8                S  jmp rel8
//   n  call or jcc rel32       E  jmp rel32               r  ret
inline constexpr char kOneByteMap[257] =
    "mmmmbz--mmmmbz-pmmmmbz--mmmmbz--"   // 00-1f
    "mmmmbz--mmmmbz--mmmmbz--mmmmbz--"   // 20-3f
    "pppppppppppppppp................"   // 40-5f
    "--pmp-p-zZbM----ssssssssssssssss"   // 60-7f
    "MZ-Mmm--mmmm-a--..........------"   // 80-9f
    "----....bz......bbbbbbbbqqqqqqqq"   // a0-bf
    "MM-rppNY-.------mmmm------------"   // c0-df
    "--------nE-S------pp--TU-------F";  // e0-ff

inline constexpr char k0FMap[257] =
    "----------------mmmmmmmm-------m"   // 00-1f
    "--------mmmmmmmm----------------"   // 20-3f
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"   // 40-5f
    "mmmmmmmmmmmmmmmmMMMMmmm-----mmmm"   // 60-7f
    "nnnnnnnnnnnnnnnnmmmmmmmmmmmmmmmm"   // 80-9f
    "---mMm-----mMm-mmm-m--mm--Mmmmmm"   // a0-bf
    "mmM-MMM-........mmmmmmmmmmmmmmmm"   // c0-df
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm-";  // e0-ff

enum Attribute : uint16_t {
  kImmediate = 0x0007,  // bytes of immediate or displacement
  kWide = 0x0008,       // as many as the operand size says
  kModrm = 0x0010,
  kKnown = 0x0020,
  kAsks = 0x0040,  // the letter has a question of its own, in kQuestion
  kQuestion = 0x0700,
  kOnlyFirst = 0x0000,
  kFirstTwo = 0x0100,
  kLea = 0x0200,
  kGroupFF = 0x0300,
  kQuad = 0x0400,
  kWhat = 0xf000,  // Stride::What
};
inline constexpr unsigned kWhatShift = 12;

constexpr uint16_t attributes_of(char letter) {
  constexpr unsigned kShort = Stride::kShortBranch << kWhatShift,
                     kNear = Stride::kNearBranch << kWhatShift;
  constexpr unsigned kEnds = Stride::kEnds << kWhatShift;
  switch (letter) {
    case '.': return kKnown;
    case 'b': return kKnown | 1;
    case 'z': return kKnown | kWide;
    case 'q': return kKnown | kWide | kAsks | kQuad;
    case 'm': return kKnown | kModrm;
    case 'M': return kKnown | kModrm | 1;
    case 'Z': return kKnown | kModrm | kWide;
    case 'N': return kKnown | kModrm | 1 | kAsks | kOnlyFirst;
    case 'Y': return kKnown | kModrm | kWide | kAsks | kOnlyFirst;
    case 'T': return kKnown | kModrm | 1 | kAsks | kFirstTwo;
    case 'U': return kKnown | kModrm | kWide | kAsks | kFirstTwo;
    case 'a': return kKnown | kModrm | kAsks | kLea;
    case 'F': return kKnown | kModrm | kAsks | kGroupFF;
    case 's': return kKnown | 1 | kShort;
    case 'S': return static_cast<uint16_t>(kKnown | 1 | kShort | kEnds);
    case 'n': return kKnown | 4 | kNear;
    case 'E': return static_cast<uint16_t>(kKnown | 4 | kNear | kEnds);
    case 'r': return static_cast<uint16_t>(kKnown | kEnds);
    default: return 0;
  }
}

struct Tables {
  uint16_t one_byte[256] = {};
  uint16_t two_byte[256] = {};
  uint16_t vector[256] = {};  // the same map as two_byte, VEX or EVEX encoded
  uint8_t modrm[256] =
      {};  // bytes of ModRM, SIB and displacement, but the displacement that the SIB asks for
  constexpr Tables() {
    for (unsigned i = 0; i < 256; i++) {
      one_byte[i] = attributes_of(kOneByteMap[i]);
      two_byte[i] = attributes_of(k0FMap[i]);
      bool immediate = (i >= 0x70 && i <= 0x73) || i == 0xc2 || (i >= 0xc4 && i <= 0xc6);
      vector[i] = i == 0x77 ? 0 : attributes_of(immediate ? 'M' : 'm');
      unsigned mod = i >> 6, rm = i & 7;
      bool far = mod == 2 || (mod == 0 && rm == 5);
      modrm[i] = static_cast<uint8_t>(1 + (mod != 3 && rm == 4) + (mod == 1) + (far ? 4 : 0));
    }
  }
};
inline constexpr Tables kTables;

}  // namespace stride_tables

// Returns true if read_shape() reads the same length, `what` is all that flow_of() and a lea tell,
// and the instruction is neither a site (src/code/find/sweep.h) nor endbr64 and takes no operand at
// an absolute address. Returns false for any of those, and for rare instructions. REQUIRES:
// kStrideReads bytes can be read.
[[nodiscard, gnu::always_inline]] inline bool read_stride(const uint8_t* code, Stride& stride) {
  using namespace stride_tables;
  const uint8_t* at = code;
  unsigned byte = *at, full = 4, rex = 0;
  if (byte == 0x66) {
    full = 2;
    byte = *++at;
    if (byte == 0x2e) byte = *++at;
  } else if (byte == 0xf2 || byte == 0xf3 || byte == 0x64) {
    byte = *++at;
  }
  if ((byte & 0xf0) == 0x40) {
    rex = byte;
    byte = *++at;
    if (rex & 8) full = 4;
  }
  unsigned attributes;
  if (byte == 0x0f) {
    byte = *++at;
    if ((byte & 0xfd) == 0x38) {
      attributes = kKnown | kModrm | (byte == 0x3a ? 1 : 0);
      at++;
    } else {
      attributes = kTables.two_byte[byte];
    }
  } else if ((byte == 0xc5 || byte == 0xc4 || byte == 0x62) && at == code) {
    unsigned map = byte == 0xc5 ? 1 : at[1] & (byte == 0xc4 ? 0x1f : 0x07);
    if (map == 0 || map > 3) return false;
    at += byte == 0xc5 ? 2 : byte == 0xc4 ? 3 : 4;
    attributes = map == 1 ? kTables.vector[*at] : kKnown | kModrm | (map == 3 ? 1 : 0);
  } else {
    attributes = kTables.one_byte[byte];
  }
  if (!(attributes & kKnown)) return false;
  at++;
  unsigned immediate = attributes & kWide ? full : attributes & kImmediate;
  unsigned what = attributes >> kWhatShift;
  if (attributes & kModrm) {
    unsigned modrm = *at, reg = modrm >> 3 & 7;
    unsigned size = kTables.modrm[modrm];
    if ((modrm & 0xc7) == 4 && (at[1] & 7) == 5) {
      if (at[1] >> 6 == 3) return false;  // table(,%reg,8)
      size += 4;
    }
    at += size;
    if (attributes & kAsks) {
      switch (attributes & kQuestion) {
        case kOnlyFirst:
          if (reg != 0) return false;
          break;
        case kFirstTwo:
          if (reg > 1) immediate = 0;
          break;
        case kLea:
          if (modrm >= 0xc0) return false;
          if ((modrm & 0xc7) == 5) what = Stride::kAddress;
          break;
        default:
          if (reg == 7) return false;
          if (reg == 4 || reg == 5) what = Stride::kEnds;
      }
    }
  } else if (attributes & kAsks && rex & 8) {
    immediate = 8;
  }
  stride.length = static_cast<uint8_t>(static_cast<unsigned>(at - code) + immediate);
  stride.what = static_cast<uint8_t>(what);
  return true;
}

}  // namespace weir
