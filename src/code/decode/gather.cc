#include "code/decode/gather.h"

#include <Zydis/Decoder.h>
#include <Zydis/Register.h>

#include "code/decode/registers.h"

namespace weir {

bool decode_gather(const void* code, size_t available, Gather& gather) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, available, &instruction, operands)))
    return false;
  for (unsigned i = 0; i < instruction.operand_count; i++) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_VSIB)
      continue;
    gather = Gather{};
    if (ZydisRegisterGetClass(operand.mem.base) == ZYDIS_REGCLASS_GPR64) {
      gather.base = static_cast<uint8_t>(ZydisRegisterGetId(operand.mem.base));
    }
    gather.vector = static_cast<uint8_t>(ZydisRegisterGetId(operand.mem.index));
    gather.scale = operand.mem.scale;
    gather.displacement = operand.mem.disp.value;
    gather.element_size = static_cast<uint8_t>(operand.element_size / 8);
    gather.written = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    switch (instruction.mnemonic) {
      case ZYDIS_MNEMONIC_VGATHERDPD:
      case ZYDIS_MNEMONIC_VGATHERDPS:
      case ZYDIS_MNEMONIC_VPGATHERDD:
      case ZYDIS_MNEMONIC_VPGATHERDQ:
      case ZYDIS_MNEMONIC_VSCATTERDPD:
      case ZYDIS_MNEMONIC_VSCATTERDPS:
      case ZYDIS_MNEMONIC_VPSCATTERDD:
      case ZYDIS_MNEMONIC_VPSCATTERDQ: gather.index_size = 4; break;
      default: gather.index_size = 8;
    }
    unsigned bytes = 16;
    if (ZydisRegisterGetClass(operand.mem.index) == ZYDIS_REGCLASS_YMM) bytes = 32;
    if (ZydisRegisterGetClass(operand.mem.index) == ZYDIS_REGCLASS_ZMM) bytes = 64;
    gather.lanes = static_cast<uint8_t>(bytes / gather.index_size);
    return true;
  }
  return false;
}

}  // namespace weir
