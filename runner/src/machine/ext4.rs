//! Features of an ext2/3/4 file system, read from its superblock (layout: kernel documentation,
//! `filesystems/ext4/super.rst`). Those that come and go while it is mounted are left out.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

type Names = &'static [(u32, &'static str)];

const COMPAT: Names = &[
    (0x1, "dir_prealloc"),
    (0x4, "has_journal"),
    (0x8, "ext_attr"),
    (0x10, "resize_inode"),
    (0x20, "dir_index"),
    (0x200, "sparse_super2"),
    (0x400, "fast_commit"),
    (0x800, "stable_inodes"),
    (0x1000, "orphan_file"),
];
const INCOMPAT: Names = &[
    (0x2, "filetype"),
    (0x8, "journal_dev"),
    (0x10, "meta_bg"),
    (0x40, "extent"),
    (0x80, "64bit"),
    (0x100, "mmp"),
    (0x200, "flex_bg"),
    (0x400, "ea_inode"),
    (0x1000, "dirdata"),
    (0x2000, "metadata_csum_seed"),
    (0x4000, "large_dir"),
    (0x8000, "inline_data"),
    (0x1_0000, "encrypt"),
    (0x2_0000, "casefold"),
];
const RO_COMPAT: Names = &[
    (0x1, "sparse_super"),
    (0x2, "large_file"),
    (0x8, "huge_file"),
    (0x10, "uninit_bg"),
    (0x20, "dir_nlink"),
    (0x40, "extra_isize"),
    (0x100, "quota"),
    (0x200, "bigalloc"),
    (0x400, "metadata_csum"),
    (0x2000, "project"),
    (0x8000, "verity"),
];

/// Feature names and block size of the file system on `device`; none where it is not readable
/// (only root may) or not of this family.
pub(crate) fn features(device: &Path) -> Option<String> {
    let mut block = [0u8; 1024];
    File::open(device).ok()?.read_exact_at(&mut block, 1024).ok()?;
    parse(&block)
}

fn parse(block: &[u8; 1024]) -> Option<String> {
    let word = |at: usize| {
        let bytes: [u8; 4] = block[at..at + 4].try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    if block[0x38..0x3a] != [0x53, 0xef] {
        return None;
    }
    let sets = [(word(0x5c)?, COMPAT), (word(0x60)?, INCOMPAT), (word(0x64)?, RO_COMPAT)];
    let named = |(bits, names): &(u32, Names)| {
        let bits = *bits;
        names.iter().filter(move |(bit, _)| bits & bit != 0).map(|(_, name)| *name)
    };
    let mut words: Vec<String> = sets.iter().flat_map(named).map(str::to_owned).collect();
    let block_size = 1024u64.checked_shl(word(0x18)?).filter(|n| *n <= 65_536)?;
    words.push(format!("block_size={block_size}"));
    Some(words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_named_and_passing_states_left_out() {
        let mut block = [0u8; 1024];
        block[0x38..0x3a].copy_from_slice(&[0x53, 0xef]);
        block[0x18] = 2;
        block[0x5c..0x60].copy_from_slice(&0x1004u32.to_le_bytes());
        // needs_recovery is 0x4, orphan_present 0x10000.
        block[0x60..0x64].copy_from_slice(&0x2c6u32.to_le_bytes());
        block[0x64..0x68].copy_from_slice(&0x1_0403u32.to_le_bytes());
        let expected = "has_journal,orphan_file,filetype,extent,64bit,flex_bg,\
                        sparse_super,large_file,metadata_csum,block_size=4096";
        assert_eq!(parse(&block).as_deref(), Some(expected));
    }

    #[test]
    fn another_file_system_has_no_ext4_features() {
        assert_eq!(parse(&[0; 1024]), None);
    }
}
