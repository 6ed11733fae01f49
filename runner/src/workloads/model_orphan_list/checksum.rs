//! crc32c of the superblock as ext4 takes it: over its first 1020 bytes, seed ~0, not inverted at
//! the end. The words are read as atomics: outside the lock others may be writing them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::harness::{Attempt, Fault};

/// 1024 bytes.
pub(super) type Block = [AtomicU64; 128];

/// How the checksum is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksum {
    Instruction,
    Table,
    None,
}

impl Checksum {
    /// By the value of the parameter `csum`.
    ///
    /// # Errors
    /// `hw` on a CPU without the instruction.
    pub fn named(name: &str) -> Attempt<Checksum> {
        match name {
            "table" => Ok(Checksum::Table),
            "none" => Ok(Checksum::None),
            _ if has_instruction() => Ok(Checksum::Instruction),
            _ => Err(Fault::wrong("csum", "this CPU has no crc32c instruction: use csum=table")),
        }
    }

    /// Checksum of the first 1020 bytes; none where none is wanted.
    #[inline]
    pub fn of(self, block: &Block) -> Option<u32> {
        match self {
            // SAFETY: this value exists only where the CPU has the instruction.
            Checksum::Instruction => Some(unsafe { by_instruction(block) }),
            Checksum::Table => Some(by_table(block)),
            Checksum::None => None,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_instruction() -> bool {
    std::arch::is_x86_feature_detected!("sse4.2")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn by_instruction(block: &Block) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u32, _mm_crc32_u64};
    let (last, words) = block.split_last().expect("the block has 128 words");
    let crc = words
        .iter()
        .fold(!0u32, |crc, word| _mm_crc32_u64(u64::from(crc), word.load(Relaxed)) as u32);
    _mm_crc32_u32(crc, last.load(Relaxed) as u32)
}

#[cfg(target_arch = "aarch64")]
fn has_instruction() -> bool {
    std::arch::is_aarch64_feature_detected!("crc")
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "crc")]
fn by_instruction(block: &Block) -> u32 {
    use std::arch::aarch64::{__crc32cd, __crc32cw};
    let (last, words) = block.split_last().expect("the block has 128 words");
    let crc = words.iter().fold(!0u32, |crc, word| __crc32cd(crc, word.load(Relaxed)));
    __crc32cw(crc, last.load(Relaxed) as u32)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_instruction() -> bool {
    false
}

/// # Safety
/// Sound on any CPU; unsafe as its siblings that need an instruction are.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn by_instruction(block: &Block) -> u32 {
    by_table(block)
}

/// Remainders of all bytes by the Castagnoli polynomial, reflected.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 * (crc & 1));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn step(crc: u32, byte: u8) -> u32 {
    TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8)
}

fn by_table(block: &Block) -> u32 {
    let (last, words) = block.split_last().expect("the block has 128 words");
    let whole = words
        .iter()
        .fold(!0u32, |crc, word| word.load(Relaxed).to_le_bytes().into_iter().fold(crc, step));
    (last.load(Relaxed) as u32).to_le_bytes().into_iter().fold(whole, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_gives_the_published_check_value() {
        // RFC 3720, appendix B.4, and the customary check of "123456789".
        let crc = |bytes: &[u8]| !bytes.iter().copied().fold(!0, step);
        assert_eq!(crc(b"123456789"), 0xE306_9283);
        assert_eq!(crc(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc(&[0xff; 32]), 0x62A8_AB43);
    }

    #[test]
    fn table_and_instruction_agree_and_leave_the_last_four_bytes_out() {
        let block: Block =
            std::array::from_fn(|i| AtomicU64::new((i as u64).wrapping_mul(0x0123_4567_89AB_CDEF)));
        let before = Checksum::Table.of(&block);
        if let Ok(instruction) = Checksum::named("hw") {
            assert_eq!(instruction.of(&block), before);
        }
        block[127].fetch_xor(0xFFFF_FFFF << 32, Relaxed);
        assert_eq!(Checksum::Table.of(&block), before);
        block[127].fetch_xor(1, Relaxed);
        assert_ne!(Checksum::Table.of(&block), before);
        assert_eq!(Checksum::None.of(&block), None);
    }
}
